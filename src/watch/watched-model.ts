import { answersFrom } from '../metrics/thresholds';
import type { KeyLoss, ModelCard, Reference } from '../models/cards';
import { changeFrom, isThreshold } from '../models/threshold';
import { BoundedMap } from '../util/collections';
import { anyAmong, checkValue, type Form } from '../wire/given';
import { TASKS } from '../wire/vocabulary';
import type { KeyRatio, PromisedScores, WatchedColumn, WatchedModel } from './types';

/** Assumed autocorrelation time of losses: neighbouring rows are alike. */
const AUTOCORRELATION_TIME = 5;

/**
 * The losses of each key relative to the mean of all, shrunk by the share of their variance that chance explains (empirical
 * Bayes): where keys do not differ beyond chance, each ratio is 1.
 */
export function keyRatios(losses: readonly KeyLoss[]): KeyRatio[] {
  const rows = losses.reduce((sum, one) => sum + one.rows, 0);
  const mean = losses.reduce((sum, one) => sum + (one.loss * one.rows) / rows, 0);
  if (losses.length < 2 || !(mean > 0)) {
    return [];
  }
  const part = (of: (one: KeyLoss) => number): number =>
    losses.reduce((sum, one) => sum + (of(one) * one.rows) / rows, 0);
  const variance = part(({ loss }) => (loss / mean - 1) ** 2);
  const chance = part((one) => AUTOCORRELATION_TIME / one.rows);
  const own = Math.max(0, variance - chance);
  return losses.map(({ key, loss, rows: of }) => ({
    key,
    rows: of,
    ratio: 1 + ((loss / mean - 1) * own) / Math.max(Number.MIN_VALUE, own + AUTOCORRELATION_TIME / of),
  }));
}

const MOST_COLUMNS = 200;

const CARD: Form = {
  must: 'a model card, as train answers it',
  fits: (value) => {
    const { fitted_train_set_id: id, task } = Object(value) as Partial<ModelCard>;
    return typeof id === 'string' && anyAmong(TASKS).fits(task);
  },
};

/** What a watch needs to know about a model: from its card, and from the reference kept with it. */
export function watchedModel(card: ModelCard, reference?: Reference): WatchedModel {
  checkValue('watchedModel: card', card, CARD);
  const { name, fitted_train_set_id: id, version, task, scores, threshold } = card;
  const model: WatchedModel = { name, id, task };
  if (version !== undefined) {
    model.version = version;
  }
  if (isThreshold(threshold)) {
    model.threshold = { label: threshold.label, at: threshold.at };
  }
  if (scores !== undefined) {
    model.promised = { ...readPromised(scores), ...answeredAccuracy(model.threshold, reference) };
    if (scores.baseline_now !== undefined) {
      model.now = readPromised(scores.baseline_now);
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

function readPromised(scores: PromisedScores): PromisedScores {
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

const MOST_FORMER = 8;

export interface GenerationsState {
  model: WatchedModel;
  generation: number;
  former: [generation: number, model: WatchedModel][];
}

/** The successive models in charge: truths of an earlier one's predictions may still come. */
export class Generations {
  current: WatchedModel;
  /** How many models were in charge before the current one. */
  number: number;
  private readonly former = new BoundedMap<number, WatchedModel>(MOST_FORMER);

  constructor(model: WatchedModel, state?: Omit<GenerationsState, 'model'>) {
    this.current = model;
    this.number = state?.generation ?? 0;
    for (const [generation, former] of state?.former ?? []) {
      this.former.set(generation, former);
    }
  }

  /** Another model is in charge from now on. */
  next(model: WatchedModel): void {
    this.former.set(this.number, this.current);
    this.number++;
    this.current = model;
  }

  model(generation: number): WatchedModel | undefined {
    return generation === this.number ? this.current : this.former.get(generation);
  }

  /** The newest generation of a model id; undefined where it was not in charge recently. */
  of(id: string): number | undefined {
    if (id === this.current.id) {
      return this.number;
    }
    return Array.from(this.former).findLast(([, model]) => model.id === id)?.[0];
  }

  toJSON(): GenerationsState {
    return { model: this.current, generation: this.number, former: [...this.former] };
  }
}
