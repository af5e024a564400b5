import type { ModelCurves } from '../metrics/curves';
import type { HeldOutLosses } from '../metrics/held-out-losses';
import type { Scores } from '../metrics/scores';
import type { Thresholds } from '../metrics/thresholds';

/** A label of a classification target, as in JSON. */
export type Label = string | number | boolean;

/**
 * One feature of a table, with a value per row. NaN (numbers, dates) and -1 (text) are missing; ±Infinity are ordinary
 * values. Booleans are the numbers 0 and 1; dates are milliseconds since the epoch, from which the learner makes time
 * features. `text` covers categories and free text: the learner distinguishes them by their values.
 */
export type FeatureColumn =
  | { name: string; kind: 'number'; values: Float64Array }
  | { name: string; kind: 'date'; values: Float64Array }
  | { name: string; kind: 'text'; codes: Int32Array; dictionary: string[] };

/** The column to predict. `codes` index `classes`. No value may be missing. */
export type TargetColumn =
  | { task: 'classification'; classes: Label[]; codes: Int32Array }
  | { task: 'regression'; values: Float64Array };

/** A longer search for a better model, limited by work and by `timeoutSecs`. */
export interface ThinkingOptions {
  effort: 'medium' | 'high';
  /** Seconds. Default: limited by work only. */
  timeoutSecs?: number;
  /** `log_loss`, `accuracy`, `roc_auc`, `rmse`, `mae`, `r2`. Default: log_loss or rmse. */
  metric?: string;
}

/**
 * Options of a fit, named as in the model configuration object of the service's specification (2.6). Unknown and
 * inapplicable ones are accepted, and listed in `FitReport.options.ignored`.
 */
export interface TrainOptions {
  /** Members of the ensemble, 1 to 10, each with its own held-out part of the rows. */
  n_estimators?: number;
  /** Seed, an integer. Default 0. */
  random_state?: number;
  /** Columns (counted from 0) to treat as categorical, even if they hold numbers. */
  categorical_features_indices?: number[] | null;
  /** Divides the calibrated logits. Default 1, which changes nothing. */
  softmax_temperature?: number;
  /** Average the ensemble's scores before the softmax rather than its probabilities after it. */
  average_before_softmax?: boolean;
  /** Divide probabilities by the frequency of their class in the train set. */
  balance_probabilities?: boolean;
  /**
   * `SUBSAMPLE_SAMPLES`: rows (≥ 1) or fraction of the rows (< 1) that each estimator sees; or a list with such a
   * number or a list of row indices (from 0) for each estimator.
   * `BLOCKS`: hold out blocks of consecutive rows, at most this many, instead of rows at random: for rows in order of
   * time. `EMBARGO`: do not train on rows within this many rows of a held-out one.
   * `FOLDS`: `random`, if classes are to be held out at random whatever the order of rows says.
   * `GROUP`: a column (name or index from 0); rows with the same value are never on both sides of a fold.
   * `GROUP_AS_FEATURE` false: do not learn from that column; predictions do not need it either.
   * `RELATIVE_TO`: a column (name or index from 0) that the numeric target is the change from. If rows are in order of
   * time and changes clearly grow with that column, the difference of logarithms is learned.
   * `COSTS`: for two classes, the cost of each answer, `[actual][predicted]`. `THRESHOLD`: when to answer the rarer
   * class: from the probability that is best by `accuracy`, `f1` or `costs`, or from a number between 0 and 1.
   */
  inference_config?: Record<string, unknown> | null;
  thinking?: ThinkingOptions;
  /** Limit on work in histogram updates (rows × columns). The same limit gives the same bits. */
  workBudget?: number;
  /** Called with the fraction done, 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Polled between trees; true ends the fit with a LearnerError. */
  shouldStop?: () => boolean;
  [option: string]: unknown;
}

export interface TrainInput {
  features: FeatureColumn[];
  target: TargetColumn;
  options: TrainOptions;
}

/** `probas`: rows × classes; each row sums to 1. */
export interface ClassificationResult {
  task: 'classification';
  rows: number;
  classes: Label[];
  probas: Float64Array;
  /** Answer class `of` if its probability is at least `at`; if undefined, the most probable class. */
  threshold?: { of: number; at: number };
}

/** The predictive distribution of each row. Everything is computed on demand. */
export interface RegressionResult {
  task: 'regression';
  rows: number;
  mean(): Float64Array;
  median(): Float64Array;
  mode(): Float64Array;
  /** One array of `rows` values per level (0 < level < 1): `[level][row]`. They never cross. */
  quantiles(levels: number[]): Float64Array[];
  /** `borders`: B + 1 ascending values. `logits`: rows × B, the logarithms of the buckets' probabilities. */
  full(): { borders: Float64Array; logits: Float64Array };
}

export interface FeatureImportance {
  feature: string;
  /** Share of all split gain, 0 to 1; the shares of all features sum to 1. */
  gain: number;
  /** Increase of the loss when the feature is shuffled: log-loss, or squared error relative to the target's variance. */
  permutation: number;
}

export interface FitReport {
  task: 'classification' | 'regression';
  /** Without `repeated_rows`, which stand in the table more than once, more often than chance explains. */
  rows: number;
  repeated_rows?: number;
  features: number;
  estimators: number;
  trees: number;
  /** Scores on held-out rows, and those of the trivial baseline (class frequencies or the mean). */
  scores: Scores;
  baseline: Scores;
  /**
   * How rows were held out, and in how many parts: at random, in blocks of consecutive rows with an embargo around
   * them, or in whole groups. `groups` is set if rows have groups, whether or not they were held out whole.
   */
  folds: {
    by: 'random' | 'blocks' | 'groups';
    parts: number;
    blocks?: number;
    groups?: number;
    embargo?: number;
  };
  /**
   * Set if rows were not said to be in order of time, and are. Held out at random, errors of adjacent rows are
   * correlated, and the scores too optimistic for future rows. Held out in blocks: trees that learned the rows next to
   * those held out knew their classes far better.
   */
  neighbours_alike?: true;
  /**
   * Set if the target is a change that grows with its level: the column of the level. Errors in `scores` and `baseline`
   * are for the level of the newest rows: those of all rows times `factor`.
   */
  growth?: { column: string; factor: number };
  /** Predictions against the truth, on held-out rows. */
  curves: ModelCurves;
  /** For two classes. */
  thresholds?: Thresholds;
  /** Losses of the rows in `scores`, if they were held out in blocks or groups and errors do not grow with the level. */
  losses?: HeldOutLosses;
  /** Most important first, at most 200. */
  importance: FeatureImportance[];
  options: { used: Record<string, unknown>; ignored: string[] };
  /** `limited`: the budget changed the fit; `reasons` says how. */
  work: { units: number; budget: number; limited: boolean; reasons: string[] };
}

/** Bad input to `trainModel`, `predict` or `loadModel`. The message is written for the user. */
export class LearnerError extends Error {
  override readonly name = 'LearnerError';
  /** Of the closed table of error codes. */
  readonly code = 'validation.failed';
}
