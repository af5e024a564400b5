import type { ModelCurves } from '../../metrics/curves';
import type { Scores } from '../../metrics/scores';
import type { Task } from '../../wire/types';

/** How good predictions are on rows whose target is known: `msg.evaluation`. */
export interface Evaluation {
  model: string;
  /** Left out for a model without a card here. */
  version?: number;
  task: Task;
  target: string;
  /** Rows that were scored, and rows without a target, which are predicted all the same. */
  rows: number;
  left_out: number;
  /** As those of the card. */
  scores: Scores;
  /**
   * Of each score, over blocks of rows that follow each other, left out of fewer than 50 rows; of a model with groups
   * over blocks of whole groups, left out of fewer than five.
   */
  standard_error?: Omit<Scores, 'rows'>;
  /** The same scores of always predicting the class frequencies, or the mean and the quantiles. */
  baseline: Scores;
  /** Where those are from; the rows themselves only where the train set was not read here. */
  baseline_from: 'train-set' | 'rows';
  /** The same scores of predicting no change, for a model that is relative to a column. */
  baseline_now?: Scores;
  /** Left out where no row was scored. */
  curves?: ModelCurves;
  /** Where the rows follow each other in time: scores of one part after the other, the oldest first. */
  blocks?: ScoredBlock[];
}

export interface ScoredBlock {
  /** The oldest and the newest time, ISO 8601; where no column tells it, numbers of rows in the table, from 1. */
  from: string | number;
  to: string | number;
  rows: number;
  scores: Omit<Scores, 'rows'>;
}
