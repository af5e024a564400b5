import type { ThresholdCurve } from '../../../metrics/threshold-curve';
import { cheapestThreshold, type FourCosts } from '../../../metrics/thresholds';
import type { Label } from '../../../table';
import { isObject } from '../../../util/json';
import { ServiceError } from '../../../wire/service-error';
import { comparableLabel } from '../../evaluation/labels';
import type { AnswerCosts, ErrorCosts, FittedModel } from '../../types';

/** Of a wrong answer that has no cost of its own. */
const WRONG = 1;
const ERRORS: ReadonlySet<string> = new Set(['missed', 'false_alarm'] satisfies (keyof ErrorCosts)[]);

/**
 * Costs as a dialog or a message gives them: of a miss and of a false alarm, or by the true label and the answer.
 *
 * @param classes of the target, where they are known
 * @throws ServiceError `validation.failed`; `config.invalid` for a target that is not of two classes, or has not these
 */
export function readCosts(given: unknown, classes: readonly Label[] | undefined): AnswerCosts | ErrorCosts {
  if (isObject(given) && isErrorCosts(given)) {
    if (classes !== undefined) {
      assertTwo(classes);
    }
    return given;
  }
  const isCosts =
    isObject(given) &&
    Object.keys(given).length > 0 &&
    Object.values(given).every(
      (costs) => isObject(costs) && Object.values(costs).every((cost) => Number.isFinite(cost)),
    );
  if (!isCosts) {
    throw new ServiceError(
      'validation.failed',
      'Costs are two numbers from 0 on, such as {"missed": 20, "false_alarm": 1}, or numbers by the true label and the answer, such as {"yes": {"no": 5}, "no": {"yes": 1}}.',
    );
  }
  const costs = given as AnswerCosts;
  if (classes !== undefined) {
    assertClasses(costs, classes);
  }
  return costs;
}

function isErrorCosts(given: object): given is ErrorCosts {
  const all: [string, unknown][] = Object.entries(given);
  return (
    all.length > 0 &&
    all.every(([name, cost]) => ERRORS.has(name) && Number.isFinite(cost) && Number(cost) >= 0)
  );
}

function assertTwo(classes: readonly Label[]): void {
  if (classes.length !== 2) {
    throw new ServiceError(
      'config.invalid',
      `Costs are of two classes, and the target has ${classes.length}: leave them out.`,
    );
  }
}

function assertClasses(costs: AnswerCosts, classes: readonly Label[]): void {
  assertTwo(classes);
  const known = new Set(classes.map(comparableLabel));
  const unknown = Object.entries(costs)
    .flatMap(([label, answers]) => [label, ...Object.keys(answers)])
    .find((label) => !known.has(comparableLabel(label)));
  if (unknown !== undefined) {
    throw new ServiceError(
      'config.invalid',
      `Costs name the label "${unknown}", which the target does not have: its labels are ${classes.map((label) => `"${label}"`).join(' and ')}.`,
    );
  }
}

/**
 * A card with the costs that were asked for, and the threshold that is cheapest by them. They are no part of the model:
 * others need no other fit.
 *
 * @param curve undefined where nothing is known of the model's answers
 */
export function withCosts(
  fitted: FittedModel,
  costs: FittedModel['costs'],
  curve: ThresholdCurve | undefined,
): FittedModel {
  if (costs === undefined && fitted.costs === undefined) {
    return fitted;
  }
  const card: FittedModel = { ...fitted, costs, thresholds: fitted.thresholds && { ...fitted.thresholds } };
  delete card.thresholds?.costs;
  if (costs === undefined) {
    delete card.costs;
  } else if (curve !== undefined) {
    const { positive } = curve;
    const cheapest = cheapestThreshold(curve, fourCosts(costs, positive));
    card.thresholds = { label: positive, ...card.thresholds, costs: cheapest };
  }
  return card;
}

function fourCosts(costs: AnswerCosts | ErrorCosts, of: Label): FourCosts {
  if (isErrorCosts(costs)) {
    const { missed = WRONG, false_alarm: falseAlarm = WRONG } = costs;
    return { hit: 0, miss: missed, falseAlarm, pass: 0 };
  }
  const positive = comparableLabel(of);
  const isPositive = (label: string): boolean => comparableLabel(label) === positive;
  const named = Object.entries(costs).flatMap(([label, answers]) =>
    Object.entries(answers).map(([answer, cost]) => ({ label, answer, cost })),
  );
  const costOf = (isOf: boolean, answeredSo: boolean): number =>
    named.find(({ label, answer }) => isPositive(label) === isOf && isPositive(answer) === answeredSo)
      ?.cost ?? (isOf === answeredSo ? 0 : WRONG);
  return {
    hit: costOf(true, true),
    miss: costOf(true, false),
    falseAlarm: costOf(false, true),
    pass: costOf(false, false),
  };
}
