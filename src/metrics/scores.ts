/** How well predictions fit the truth. A field is left out where it has no value, such as ROC AUC of one class. */
export interface Scores {
  /** Rows that were scored. */
  rows: number;
  /** Part of the rows whose most probable class is the true one. */
  accuracy?: number;
  /** Mean of −ln p(true class), p at least 1e-15. */
  log_loss?: number;
  /** Area under the ROC curve; of more than two classes the mean of each against the rest. */
  roc_auc?: number;
  rmse?: number;
  /** Mean absolute error. */
  mae?: number;
  /** 1 − residual sum of squares / sum of squares about the mean of the scored rows. */
  r2?: number;
  /** Mean pinball loss over the quantiles 0.1 … 0.9. */
  pinball?: number;
  /** Part of the rows inside the interval from quantile 0.1 to 0.9. */
  coverage_80?: number;
  /** Classification: rows that are not of the most frequent class. */
  events?: number;
  /** Where the log loss, or the RMSE, of as many later rows lies in nine of ten cases at least, if nothing changes. */
  loss_low?: number;
  loss_high?: number;
}

/** What the loss rests on. */
export const RANGE_NAMES = ['events', 'loss_low', 'loss_high'] as const satisfies readonly (keyof Scores)[];

/** The scores by name, without the count. */
export const SCORE_NAMES = [
  'accuracy',
  'log_loss',
  'roc_auc',
  'rmse',
  'mae',
  'r2',
  'pinball',
  'coverage_80',
] as const satisfies readonly (keyof Scores)[];

/** Errors times a factor; what has no unit stays. */
export function timesFactor(scores: Scores, factor = 1): Scores {
  const { rmse, mae, pinball, loss_low: low, loss_high: high } = scores;
  return {
    ...scores,
    ...(rmse !== undefined && { rmse: rmse * factor }),
    ...(rmse !== undefined && low !== undefined && { loss_low: low * factor }),
    ...(rmse !== undefined && high !== undefined && { loss_high: high * factor }),
    ...(mae !== undefined && { mae: mae * factor }),
    ...(pinball !== undefined && { pinball: pinball * factor }),
  };
}
