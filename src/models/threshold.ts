import {
  type AnswerCosts,
  cheapestThreshold,
  comparableLabel,
  type ErrorCosts,
  fourCosts,
  isErrorCosts,
} from '../metrics/answer-costs';
import type { ThresholdCurve } from '../metrics/threshold-curve';
import type { Label } from '../table/cells/types';
import { isObject } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { FittedModel, ModelThreshold } from './cards';
import type { PredictRequest, ThresholdWish } from './types';

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
      `Costs are for two classes, and the target has ${classes.length}: leave them out.`,
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

/**
 * A card with what a user says a miss and a false alarm cost, or that nobody knows, and the threshold that it has then.
 *
 * @throws ServiceError `validation.failed` for a model that can have no costs
 */
export function withChosenCosts(
  card: FittedModel,
  costs: ErrorCosts | null,
  curve: ThresholdCurve | undefined,
): FittedModel {
  const given = costs === null ? undefined : readCosts(costs, card.classes);
  const own: FittedModel = {
    ...withCosts(card, given, given && soughtCurve(card, curve)),
    costs_chosen: true,
  };
  if (costs === null) {
    delete own.costs_chosen;
  }
  const { threshold } = card;
  return { ...own, threshold: threshold && keptThreshold(threshold, own) };
}

/** The class that is answered from a probability on, and the one that is answered below it. */
export interface AnswerRule {
  label: Label;
  at: number;
  /** Labels alone were asked for: the service is asked for probabilities all the same. */
  labelsOnly: boolean;
}

/**
 * The threshold of a card by a number, of the class that is looked for, or as the best for something.
 *
 * @throws ServiceError `validation.failed` for a model without two classes, a number that is no probability, or a best
 *   that nobody knows
 */
export function thresholdBy(card: FittedModel, wish: Exclude<ThresholdWish, null>): ModelThreshold {
  assertTwoClasses(card);
  if (typeof wish !== 'number') {
    const best = card.thresholds?.[wish];
    if (best === undefined) {
      throw refused(
        wish === 'costs'
          ? `What the wrong answers of the model "${card.name}" cost is not known: enter costs in the fit node or in the sidebar Models.`
          : `Which threshold is best for the model "${card.name}" is not known: hold back rows in the fit node.`,
      );
    }
    return { label: card.thresholds!.label, at: best.at, by: wish };
  }
  const label = soughtClass(card);
  if (label === undefined) {
    throw refused(
      `The classes of the model "${card.name}" are not known: fit it here to choose a threshold.`,
    );
  }
  if (!(wish >= 0 && wish <= 1)) {
    throw refused('A threshold is a probability, from 0 to 1.');
  }
  return { label, at: wish };
}

/** @throws ServiceError `validation.failed` for a model without two classes, or of whose answers nothing is known */
function soughtCurve(card: FittedModel, curve: ThresholdCurve | undefined): ThresholdCurve {
  assertTwoClasses(card);
  if (curve === undefined) {
    throw refused(
      `What a threshold finds with the model "${card.name}" is not known: hold back rows in the fit node.`,
    );
  }
  return curve;
}

/** The rarer class, where it is known, else the second. */
function soughtClass({ threshold, thresholds, classes }: FittedModel): Label | undefined {
  return thresholds?.label ?? threshold?.label ?? classes?.[1];
}

function assertTwoClasses({ name, task, classes }: FittedModel): void {
  if (task !== 'classification') {
    throw refused(`The model "${name}" predicts numbers: a threshold is for two classes.`);
  }
  if (classes !== undefined && classes.length !== 2) {
    throw refused(`The model "${name}" has ${classes.length} classes: a threshold is for two.`);
  }
}

/**
 * What becomes of a threshold with the next fit: one that was best for something becomes the new best, another stays.
 * Undefined where the next model does not have its class, or has not two.
 */
export function keptThreshold(threshold: ModelThreshold, next: FittedModel): ModelThreshold | undefined {
  const { label, at, by } = threshold;
  const { task, classes, thresholds } = next;
  const isLabel = (other: Label): boolean => comparableLabel(other) === comparableLabel(label);
  if (
    task !== 'classification' ||
    (classes !== undefined && !(classes.length === 2 && classes.some(isLabel)))
  ) {
    return undefined;
  }
  const best = by === undefined || !thresholds || !isLabel(thresholds.label) ? undefined : thresholds[by];
  return best === undefined ? { label, at } : { label, at: best.at, by };
}

/**
 * How a request is to be answered: by its own threshold, else that of the card. Undefined: by the more probable class.
 *
 * @throws ServiceError `validation.failed` for a threshold of the request that the model cannot have
 */
export function answerRule(
  card: FittedModel,
  request: PredictRequest,
  labelsOnly: boolean,
): AnswerRule | undefined {
  if (request.threshold !== undefined) {
    return { ...thresholdBy(card, request.threshold), labelsOnly };
  }
  const { threshold } = card;
  return card.task === 'classification' && isThreshold(threshold)
    ? { label: threshold.label, at: threshold.at, labelsOnly }
    : undefined;
}

/** A card may come from a file or a message. */
export function isThreshold(value: unknown): value is ModelThreshold {
  return (
    isObject(value) &&
    ['string', 'number', 'boolean'].includes(typeof value.label) &&
    typeof value.at === 'number' &&
    value.at >= 0 &&
    value.at <= 1
  );
}

function refused(message: string): ServiceError {
  return new ServiceError('validation.failed', message);
}

/** The column that a model's predictions are the change from. Of labels, `relative_to` only says what they are now. */
export function changeFrom({
  task,
  relative_to: column,
}: Pick<FittedModel, 'task' | 'relative_to'>): string | undefined {
  return task === 'regression' ? column : undefined;
}
