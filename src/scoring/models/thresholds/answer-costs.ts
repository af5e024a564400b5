import {
  type AnswerCosts,
  cheapestThreshold,
  comparableLabel,
  type ErrorCosts,
  fourCosts,
  isErrorCosts,
} from '../../../metrics/answer-costs';
import type { ThresholdCurve } from '../../../metrics/threshold-curve';
import type { Label } from '../../../table';
import { isObject } from '../../../util/json';
import { ServiceError } from '../../../wire/service-error';
import type { FittedModel } from '../../types';

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
