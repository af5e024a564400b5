import type { ModelCurves } from '../metrics/curves';
import type { HeldOutLosses } from '../metrics/held-out-losses';
import type { Scores } from '../metrics/scores';
import type { Thresholds } from '../metrics/thresholds';

/** A label of a classification target, as in JSON. */
export type Label = string | number | boolean;

/**
 * One feature of a table, with a value per row. NaN (numbers, dates) and -1 (text) are missing; ±Infinity are ordinary
 * values. Booleans are the numbers 0 and 1; dates are milliseconds since the epoch, from which the learner makes time
 * features. `text` is for categories and free text alike: the learner tells them apart by their values.
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
 * Options of a fit, named as in the model configuration object of the service's specification (2.6). Unknown ones,
 * and those without meaning here, are accepted and listed in `FitReport.options.ignored`.
 */
export interface TrainOptions {
  /** Members of the ensemble, 1 to 10, each with its own held-out part of the rows. */
  n_estimators?: number;
  /** Seed, a whole number. Default 0. */
  random_state?: number;
  /** Columns (counted from 0) whose values are categories, numbers among them. */
  categorical_features_indices?: number[] | null;
  /** Divides the calibrated logits. Default 1, which changes nothing. */
  softmax_temperature?: number;
  /** Average the ensemble's scores before the softmax rather than its probabilities after it. */
  average_before_softmax?: boolean;
  /** Divide probabilities by the frequency of their class in the train set. */
  balance_probabilities?: boolean;
  /**
   * `SUBSAMPLE_SAMPLES`: rows (≥ 1) or fraction of the rows (< 1) that each estimator sees; or a list with such a
   * number or a list of row numbers (from 0) for each estimator.
   * `BLOCKS`: hold out blocks of consecutive rows, at most this many blocks, instead of rows at random: for rows that
   * follow each other in time. `EMBARGO`: leave out of training the rows within this many rows of a held-out one.
   * `GROUP`: a column (name or number from 0); rows with the same value are never on both sides of a fold.
   * `GROUP_AS_FEATURE` false: do not learn from that column; predictions do not need it then.
   * `RELATIVE_TO`: a column (name or number from 0) that the target, a number, is the change from. Where rows follow each
   * other in time and such changes clearly grow with that column, the difference of logarithms is learned.
   * `COSTS`: of two classes in their order, the cost of each answer, `[actual][predicted]`. `THRESHOLD`: answer the rarer
   * class from the threshold on that is best by `accuracy`, `f1` or `costs`, or from a number from 0 to 1.
   */
  inference_config?: Record<string, unknown> | null;
  thinking?: ThinkingOptions;
  /** Limit of work in histogram updates (rows × columns). The same limit gives the same bits. */
  workBudget?: number;
  /** Called with the fraction done, 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Polled between trees: true ends the fit with a LearnerError. */
  shouldStop?: () => boolean;
  [option: string]: unknown;
}

export interface TrainInput {
  features: FeatureColumn[];
  target: TargetColumn;
  options: TrainOptions;
}

/** `probas`: rows × classes, row-major; each row sums to 1. */
export interface ClassificationResult {
  task: 'classification';
  rows: number;
  classes: Label[];
  probas: Float64Array;
  /** Answer class `of` where its probability is at least `at`; undefined: the most probable class. */
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
  /** Rise of the loss when the feature is shuffled: log-loss, or squared error in units of the target's variance. */
  permutation: number;
}

export interface FitReport {
  task: 'classification' | 'regression';
  rows: number;
  features: number;
  estimators: number;
  trees: number;
  /** Scores of rows by members that had not seen them, and those of the trivial baseline (class frequencies or the mean). */
  scores: Scores;
  baseline: Scores;
  /**
   * How rows were held out: at random, in blocks of consecutive rows with an embargo of rows around them, or in whole
   * groups; in how many parts. `groups` where rows have them, whether or not they are held out whole.
   */
  folds: {
    by: 'random' | 'blocks' | 'groups';
    parts: number;
    blocks?: number;
    groups?: number;
    embargo?: number;
  };
  /**
   * True where rows were held out at random and the errors of rows next to each other are alike: the rows follow each
   * other in time, and the scores promise too much for rows to come.
   */
  neighbours_alike?: true;
  /**
   * Where a change is learned that grows with its level: the column that holds it. Errors in `scores` and `baseline` are
   * those at the level of the newest rows: those of all rows times `factor`.
   */
  growth?: { column: string; factor: number };
  /** Predictions beside the truth, of rows by members that had not seen them. */
  curves: ModelCurves;
  /** Of two classes. */
  thresholds?: Thresholds;
  /** Of the rows in `scores`, where they were held out in blocks or groups and their errors do not grow with their level. */
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
}
