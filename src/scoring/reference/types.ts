import type { ModelCurves } from '../../metrics/curves';
import type { Column, Label } from '../../table';

/** A cell of a stored row: numbers, dates as `Usual` has them, whole numbers beyond 2^53 as text, null for missing. */
export type ReferenceCell = Label | null;

/**
 * What is kept of a model's train set beside its card: what "usual" means, rows to compare with, and how much its
 * columns change by themselves. It never travels in messages. Lists are empty where the train set was not read here.
 */
export interface Reference {
  /** The features, in the order of the card. */
  columns: Column[];
  /** [row][column]: at most 400 train rows, spread evenly over the train set, in its order. */
  rows: ReferenceCell[][];
  /** A column each. */
  usual: Usual[];
  /** A column each. */
  drift: DriftReference[];
  /** The target; left out where it was not read here, and of models that were fitted before it was kept. */
  target?: UsualTarget;
  /** What pictures of the model are drawn from. */
  curves?: ModelCurves;
  /** Losses of its rows by models that had not seen them, where the service tells and they follow each other in time or have keys. */
  losses?: ReferenceLosses;
  /** Which rows it was fitted on, where a later fit may have to prove itself on others. */
  seen?: SeenRows;
  /** The rows that there were when a challenger did not take over while some were unusual: see `notePutOff` of challenger. */
  putOff?: SeenRows;
  /** Until when it was fitted on the rows of each machine, where there are several; 5,000 at most, else left out. */
  until?: readonly KeyTime[];
}

/** See `HeldOutLosses` of src/metrics. */
export interface ReferenceLosses {
  step: number;
  /** Empty where the rows do not follow each other in time. */
  means: readonly number[];
  /** Of each machine, or other group, with 30 rows or more: 200 at most, those with most rows first. */
  keys?: readonly KeyLoss[];
}

/** The mean loss of one machine, and of how many rows. */
export interface KeyLoss {
  key: string;
  rows: number;
  loss: number;
}

/** The newest time of the rows of one machine, or of another group. */
export interface KeyTime {
  key: string;
  /** Milliseconds since 1970. */
  to: number;
}

/** The rows that a model was fitted on: enough to tell rows that it has not seen. */
export interface SeenRows {
  /** Rows of the train set. */
  rows: number;
  /** Digests of 48 bits in ascending order, big-endian, as base64: of all rows, or of a long train set the lowest. */
  digests: string;
}

/** What a target usually is: what one would predict without a model. */
export type UsualTarget = UsualNumbers | UsualClasses;

export interface UsualNumbers {
  kind: 'numbers';
  mean: number;
  /** Of LEVELS of src/metrics. */
  quantiles: number[];
}

export interface UsualClasses {
  kind: 'classes';
  labels: Label[];
  /** Rows of each. */
  counts: number[];
}

/** What a column usually holds. */
export type Usual = UsualNumber | UsualCategory;

/**
 * Of numbers and dates. Dates are milliseconds since 1970, of the local time of the column's zone where it has one.
 * The quantiles are of at most 10,000 rows spread over the train set, the rest of all of them.
 */
export interface UsualNumber {
  kind: 'number';
  q05: number;
  q10: number;
  median: number;
  q90: number;
  q95: number;
  min: number;
  max: number;
  /** Part of the rows without a value, 0 to 1. */
  missing: number;
}

/** Of text and truth values. */
export interface UsualCategory {
  kind: 'category';
  /** The most frequent first. */
  categories: Label[];
  /** These are all that there are: another one was never seen. */
  complete: boolean;
  missing: number;
}

/** The shares of a column's values in the train set, to tell whether rows that come are like it. See `driftBin`. */
export interface DriftReference {
  /** Numbers: where one bin ends and the next begins, ascending. */
  edges?: number[];
  /** Categories: a bin each; all others share one. */
  categories?: Label[];
  /** Part of the train rows in each bin; the last one is missing values. They sum to 1. */
  shares: number[];
  /**
   * The population stability index (see `src/metrics/stability.ts`) above which a window of DRIFT_WINDOW rows differs
   * much more from the train set than its own windows do. Left out where its rows do not follow each other in time, or are too few.
   */
  threshold?: number;
}
