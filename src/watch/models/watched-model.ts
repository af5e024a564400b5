import { answersFrom } from '../../metrics/thresholds';
import type { ModelCard, Reference } from '../../models/cards';
import { changeFrom, isThreshold } from '../../models/threshold';
import type { PromisedScores, WatchedColumn, WatchedModel } from '../types';
import { keyRatios } from './key-ratios';

const MOST_COLUMNS = 200;

/** What a watch needs to know about a model: from its card, and from the reference kept with it. */
export function watchedModel(card: ModelCard, reference?: Reference): WatchedModel {
  const { name, fitted_train_set_id: id, version, task, scores, threshold } = card;
  const model: WatchedModel = { name, id, task };
  if (version !== undefined) {
    model.version = version;
  }
  if (isThreshold(threshold)) {
    model.threshold = { label: threshold.label, at: threshold.at };
  }
  if (scores !== undefined) {
    model.promised = { ...promisedOf(scores), ...answeredAccuracy(model.threshold, reference) };
    if (scores.baseline_now !== undefined) {
      model.now = promisedOf(scores.baseline_now);
    }
  }
  const relativeTo = changeFrom(card);
  if (relativeTo !== undefined) {
    model.relativeTo = relativeTo;
  }
  const losses = reference?.losses;
  if (losses !== undefined && losses.means.length > 0) {
    model.losses = { step: losses.step, means: losses.means };
  }
  const keys = keyRatios(losses?.keys ?? []);
  if (keys.length > 0) {
    model.keys = keys;
  }
  const drift = reference === undefined ? [] : driftColumns(reference);
  if (drift.length > 0) {
    model.drift = drift;
  }
  return model;
}

/** With a threshold, the promised accuracy is the one at that threshold, where it is known. */
function answeredAccuracy(
  threshold: WatchedModel['threshold'],
  reference: Reference | undefined,
): { accuracy?: number | undefined } {
  if (threshold === undefined) {
    return {};
  }
  const { curves } = reference ?? {};
  const curve = curves?.kind === 'classes' ? curves.by_threshold : undefined;
  if (curve === undefined || String(curve.positive) !== String(threshold.label)) {
    return { accuracy: undefined };
  }
  const { hits, false_alarms: alarms } = answersFrom(curve, threshold.at);
  const { positives, negatives } = curve;
  return { accuracy: (hits + negatives - alarms) / (positives + negatives) };
}

/** How far a series row looks ahead: not a property of the machine. */
const STEP_COLUMN = 'ahead';

/** Dates are left out, since they only ever rise. */
function driftColumns({ columns, drift }: Reference): WatchedColumn[] {
  const watched = drift.flatMap((reference, at): WatchedColumn[] => {
    const { name, type } = columns[at]!;
    const { threshold } = reference;
    return threshold === undefined || type === 'date' || name === STEP_COLUMN
      ? []
      : [{ column: name, reference, threshold }];
  });
  return watched.slice(0, MOST_COLUMNS);
}

function promisedOf(scores: PromisedScores): PromisedScores {
  const { rows, mae, pinball, coverage_80: coverage, log_loss: logLoss, accuracy } = scores;
  return {
    rows,
    ...(mae !== undefined && { mae }),
    ...(pinball !== undefined && { pinball }),
    ...(coverage !== undefined && { coverage_80: coverage }),
    ...(logLoss !== undefined && { log_loss: logLoss }),
    ...(accuracy !== undefined && { accuracy }),
  };
}
