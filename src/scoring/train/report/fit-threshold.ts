import { type ModelCurves, thresholdCurveOf } from '../../../metrics/curves';
import { ServiceError, toServiceError } from '../../../wire/service-error';
import type { Context } from '../../context/context';
import { readCosts, withCosts } from '../../models/thresholds/answer-costs';
import { thresholdBy } from '../../models/thresholds/threshold';
import type { FittedModel, Hooks, Task, TrainRequest, UploadCard } from '../../types';

/** @throws ServiceError `config.invalid`, `validation.failed` for costs or a threshold that the target cannot have */
export function checkThresholdChoices(
  { costs, threshold }: Pick<TrainRequest, 'costs' | 'threshold'>,
  task: Task,
  classes: UploadCard['classes'],
): void {
  if (costs === undefined && threshold === undefined) {
    return;
  }
  if (task !== 'classification') {
    throw new ServiceError(
      'config.invalid',
      'Costs and a threshold are of two classes, and the target is a number: leave them out.',
    );
  }
  if (threshold !== undefined && classes !== undefined && classes.length !== 2) {
    throw new ServiceError(
      'config.invalid',
      `A threshold is of two classes, and the target has ${classes.length}: leave it out.`,
    );
  }
  if (costs !== undefined) {
    readCosts(costs, classes);
  }
}

/**
 * A fitted card with the costs that were given, else those that were chosen for the model in charge; the threshold that is
 * cheapest by them; and the one to answer by.
 */
export function withThresholds(
  { cards }: Context,
  fitted: FittedModel,
  { costs, threshold }: Pick<TrainRequest, 'costs' | 'threshold'>,
  curves: ModelCurves | undefined,
  { onWarning }: Hooks,
): FittedModel {
  const curve = thresholdCurveOf(curves);
  const before = cards.named(fitted.name)?.inCharge.card;
  const hasTwo = fitted.task === 'classification' && (fitted.classes?.length ?? 2) === 2;
  const isKept = costs === undefined && hasTwo && before?.costs_chosen === true;
  const card = { ...withCosts(fitted, isKept ? before.costs : costs, curve) };
  if (isKept) {
    card.costs_chosen = true;
  } else {
    delete card.costs_chosen;
  }
  if (threshold === undefined) {
    return card;
  }
  try {
    return { ...card, threshold: thresholdBy(card, threshold) };
  } catch (thrown) {
    onWarning?.(`The more probable class is answered: ${toServiceError(thrown).message}`);
    return card;
  }
}

/** Curves that say how many days their rows are of, where the whole table has a time. */
export function inDays(
  curves: ModelCurves,
  { days, rows }: { days: number | undefined; rows: number },
): ModelCurves {
  const curve = thresholdCurveOf(curves);
  return curve === undefined || days === undefined || !(days > 0) || rows === 0
    ? curves
    : ({ ...curves, by_threshold: { ...curve, days: (days * curves.rows) / rows } } as ModelCurves);
}
