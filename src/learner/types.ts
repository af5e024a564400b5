/** A label of a classification target as JSON can carry it. */
export type Label = string | number | boolean;

/**
 * One feature of a table, a value per row. `NaN` (numbers, dates) and `-1` (text) mean missing; ±Infinity are
 * ordinary values. Booleans are numbers 0 and 1; dates are milliseconds since the epoch, from which the learner
 * makes time features. `text` holds categories and free text alike: the learner decides from the values.
 */
export type FeatureColumn =
  | { name: string; kind: 'number'; values: Float64Array }
  | { name: string; kind: 'date'; values: Float64Array }
  | { name: string; kind: 'text'; codes: Int32Array; dictionary: string[] };

/** What is to be predicted: `codes` index `classes`; neither may have missing values. */
export type Target =
  | { task: 'classification'; classes: Label[]; codes: Int32Array }
  | { task: 'regression'; values: Float64Array };

/** A longer search for a better model, bounded by work and by `timeoutSecs`. */
export interface ThinkingOptions {
  effort: 'medium' | 'high';
  /** Seconds; the search ends at the last whole step before it. Default: bounded by work alone. */
  timeoutSecs?: number;
  /** `log_loss`, `accuracy`, `roc_auc`, `rmse`, `mae`, `r2`. Default: log_loss or rmse. */
  metric?: string;
}

/**
 * Options of a fit, named as in the service's model configuration object (S 2.6). Unknown ones, and those that
 * cannot apply to trees, are accepted and listed in `FitReport.options.ignored`.
 */
export interface TrainOptions {
  /** Models in the ensemble, 1 to 10, each with its own held-out part of the rows. */
  n_estimators?: number;
  /** Seed, a whole number. Default 0. */
  random_state?: number;
  /** Columns (counted from 0) whose values are categories, numbers among them. */
  categorical_features_indices?: number[] | null;
  /** Divides the logits that calibration on the out-of-fold scores has made: 1, the default, changes nothing. */
  softmax_temperature?: number;
  /** Average the ensemble's scores before the softmax rather than its probabilities after it. */
  average_before_softmax?: boolean;
  /** Divide probabilities by the frequency of their class in the train set. */
  balance_probabilities?: boolean;
  /**
   * `SUBSAMPLE_SAMPLES`: rows (≥ 1) or part of the rows (< 1) that each estimator sees; or a list with such a number
   * or a list of row numbers (from 0) for each estimator in turn.
   */
  inference_config?: Record<string, unknown> | null;
  thinking?: ThinkingOptions;
  /** Work bound in cell updates (rows × columns). Same bound, same bits. */
  workBudget?: number;
  /** Called with the part done, 0 to 1. */
  onProgress?: (fraction: number) => void;
  /** Polled between trees: true ends the fit with a LearnerError. */
  shouldStop?: () => boolean;
  [option: string]: unknown;
}

export interface TrainInput {
  features: FeatureColumn[];
  target: Target;
  options: TrainOptions;
}

/** Probabilities per row, `probas[row * classes.length + class]`; each row sums to 1. */
export interface ClassificationResult {
  task: 'classification';
  rows: number;
  classes: Label[];
  probas: Float64Array;
}

/** The predictive distribution of each row. Everything is computed when asked for. */
export interface RegressionResult {
  task: 'regression';
  rows: number;
  mean(): Float64Array;
  median(): Float64Array;
  mode(): Float64Array;
  /** One array of `rows` values per quantile asked for (each 0 < q < 1): `[quantile][row]`. Never crossing. */
  quantiles(levels: number[]): Float64Array[];
  /** `borders`: B + 1 ascending values; `logits[row * B + bucket]`: log of the bucket's probability, −Infinity for none. */
  full(): { borders: Float64Array; logits: Float64Array };
}

/** How well the ensemble did on rows that the model scoring them had not seen. */
export interface Scores {
  /** Rows that were scored. */
  rows: number;
  accuracy?: number;
  log_loss?: number;
  roc_auc?: number;
  rmse?: number;
  mae?: number;
  r2?: number;
  /** Mean pinball loss over the quantiles 0.1 … 0.9. */
  pinball?: number;
  /** Part of the rows inside the 0.1 to 0.9 interval. */
  coverage_80?: number;
}

export interface FeatureImportance {
  feature: string;
  /** Part of all split gain, 0 to 1; sums to 1 over the features. */
  gain: number;
  /** Rise of the loss (log-loss or mean squared error in units of the target's variance) when the feature is shuffled. */
  permutation: number;
}

export interface FitReport {
  task: 'classification' | 'regression';
  rows: number;
  features: number;
  estimators: number;
  trees: number;
  /** Out-of-fold scores, beside those of the trivial baseline (class frequencies or the mean). */
  scores: Scores;
  baseline: Scores;
  /** Features in order of importance, most important first; at most 200. */
  importance: FeatureImportance[];
  options: { used: Record<string, unknown>; ignored: string[] };
  /** `limited`: the budget bit, and `reasons` says how. */
  work: { units: number; budget: number; limited: boolean; reasons: string[] };
}

/** Bad input to `train`, `predict` or `loadModel`. The message is meant for the user. */
export class LearnerError extends Error {
  override readonly name = 'LearnerError';
}
