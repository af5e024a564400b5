import type { AnswerCosts, ErrorCosts } from '../metrics/answer-costs';
import type { Scores } from '../metrics/scores';
import type { Column, ColumnType, FileFormat, Label } from '../table';
import type { Task, ThinkingFolds } from '../wire/types';

/** What is known of an upload: `msg.upload`, kept by id too. */
export interface UploadCard {
  set: 'train' | 'test';
  /** `train_set_upload_id` or `test_set_upload_id`. */
  id: string;
  format: FileFormat;
  rows: number;
  /** Bytes of the file; of X and y together for a train set. */
  bytes: number;
  /** CRC32C in base64; of X and y, joined by a comma, for a train set. */
  hash: string;
  /** The service already had it: nothing was sent. */
  reused: boolean;
  /** Train sets: the column to predict. */
  target?: string;
  /** Feature columns in the order of the file. */
  columns: Column[];
  /** The labels in the order of the probabilities, where the target can be classes. */
  classes?: Label[];
  /** Train sets: what the task `auto` means for this target. Test sets: the model's, where its card is known. */
  task?: Task;
  /** Train sets: the rows follow each other in time. */
  order?: 'time';
  /** Test sets: the model they were made for. */
  fitted_train_set_id?: string;
  /** Train sets: what was done to the table as it was read. */
  cleaned?: Cleaned;
  /** Train sets: why a model of it may not be worth much, a sentence each. */
  doubts?: string[];
  /** Train sets: a fit uploaded it, and it is removed with the last of its models. */
  by_fit?: true;
}

/** What was done to a table as it was read: `msg.cleaned`. */
export interface Cleaned {
  /** Rows without a target. */
  rows_left_out: number;
  /** Cells that were taken as missing, by column, where there were any. */
  cells_missing: Record<string, number>;
  /** What each column was taken as. */
  types: Record<string, ColumnType>;
}

/** `msg.model.scores`. */
export interface ModelScores extends Scores {
  /** `holdout`: rows that were kept back; `out-of-fold`: rows of the train set, each by members that had not seen it. */
  from: 'holdout' | 'out-of-fold';
  /** The same scores of always predicting the train set's class frequencies, or its mean and quantiles. */
  baseline: Scores;
  /** The same scores of predicting no change, where a column has the current value. */
  baseline_now?: Scores;
}

/** How much the model rests on a column: `msg.model.importance`, the most important first. */
export interface ColumnImportance {
  column: string;
  /** Part of all split gain, 0 to 1. */
  gain: number;
  /** Rise of the loss when the column's values are shuffled among the rows. */
  permutation: number;
}

/**
 * From which probability on to answer `label`, so that accuracy, F1 or the mean cost per row is best: `at`, and the
 * `value` reached with it on the rows that the scores are of.
 */
export interface ModelThresholds {
  label: Label;
  accuracy?: { at: number; value: number };
  f1?: { at: number; value: number };
  costs?: { at: number; value: number };
}

/** What a threshold can be best for. */
export type ThresholdRule = 'accuracy' | 'f1' | 'costs';

/**
 * The threshold that was chosen, `msg.model.threshold`: `label` is answered where its probability is at least `at`, and
 * the other class elsewhere.
 */
export interface ModelThreshold {
  label: Label;
  at: number;
  /** It was chosen as the best for this: the next fit takes its own. */
  by?: ThresholdRule;
}

/**
 * Why a version came to be. `first`: the first under its name; `refit`: another fit; `better`: it won over the one before;
 * `decayed`: it took over because the one before had decayed; `late`: its fit ended after a newer one, or after a roll
 * back, so that it never was in charge; `imported`: it came from a file; `taken`: it came with a message, from where it was
 * published.
 */
export type VersionReason = 'first' | 'refit' | 'better' | 'decayed' | 'late' | 'imported' | 'taken';

/**
 * A model as it is handed to other computers: who published it, and the how-manieth model that was. A model with a higher
 * number of the same publisher is newer, whatever the clocks say.
 */
export interface Publication {
  /** The user folder that published it: a random id. */
  by: string;
  /** From 1. */
  number: number;
}

/** One of the models that are kept under a name: `msg.model.versions`. */
export interface ModelVersion {
  /** Counted from 1 under each name, and never given twice. */
  version: number;
  /** ISO 8601. */
  fitted_at: string;
  /** Rows of its train set. */
  rows: number;
  scores?: ModelScores;
  /** There were doubts about it when it was fitted. */
  doubted?: true;
  why: VersionReason;
  /** The last time that it was published, here or where it came from. */
  published?: Publication;
  compared?: VersionComparison;
}

/** How a version compared with the one that it replaced, on rows that neither had learned from. */
export interface VersionComparison extends Pick<ChallengerScores, 'loss' | 'rows' | 'standard_error'> {
  /** The version before. */
  with: number;
  before: number;
  own: number;
}

/** What is known of a fitted train set: `msg.model`. */
export interface ModelCard extends FittedModel {
  /** Which of the models of its name it is: `name@3` means version 3. */
  version: number;
  /** The last time that it was published, here or where it came from; left out where it never was. */
  published?: Publication;
  /** The models that are kept under its name, the newest first, this one among them; five at most. */
  versions: ModelVersion[];
}

/**
 * Why a new fit took over from the model in charge, or did not. Taken after a comparison: `better`, `decayed`; without
 * one: `first`, `gone` (the service lost the one in charge), `other_target`, `other_columns`, `rows_unknown` (which the
 * one in charge was fitted on), `grown`. Not taken: `not_better`, `label_noise`, `unusual_rows`, `too_few_rows`,
 * `unchanged`, `late`.
 */
export type ChallengerReason =
  | 'better'
  | 'decayed'
  | 'first'
  | 'gone'
  | 'other_target'
  | 'other_columns'
  | 'rows_unknown'
  | 'grown'
  | 'not_better'
  | 'label_noise'
  | 'unusual_rows'
  | 'too_few_rows'
  | 'unchanged'
  | 'late';

/** Mean losses of two models on rows that neither has learned from. */
export interface ChallengerScores {
  loss: 'log_loss' | 'pinball';
  champion: number;
  challenger: number;
  rows: number;
  /** Champion less challenger: above 0 the challenger is better. */
  difference: number;
  standard_error: number;
}

/** What became of a fit that replaces the model in charge only if it is better: `msg.challenger`. */
export interface Challenger {
  /** The new fit is in charge now. */
  taken: boolean;
  why: ChallengerReason;
  /** The same as a sentence. */
  text: string;
  /** Where the two were compared. */
  scores?: ChallengerScores;
}

/** What a fit answers, before it has its place among the versions of its name. */
export interface FittedModel {
  name: string;
  fitted_train_set_id: string;
  train_set_upload_id: string;
  task: Task;
  target: string;
  /** Feature columns in the order of the train set; empty where they are not known (then columns go unchecked). */
  columns: Column[];
  classes?: Label[];
  /** Rows of the train set; 0 where not known. */
  rows: number;
  options: Record<string, unknown>;
  /** Key of the service that holds the model: base URL and API name, or `embedded`. */
  service: string;
  /** ISO 8601. */
  fitted_at: string;
  /** How good it is: on the rows kept back, else out-of-fold where the service tells. */
  scores?: ModelScores;
  /** What it rests on, where the service tells; at most 50 columns. */
  importance?: ColumnImportance[];
  /** Of two classes: the best thresholds of the rarer one, where the service tells or rows were kept back. */
  thresholds?: ModelThresholds;
  /** What its wrong answers cost, as the fit request said, or as was chosen later. */
  costs?: AnswerCosts | ErrorCosts;
  /** The costs were chosen for the model, not given with a fit: the next fit keeps them. */
  costs_chosen?: true;
  /** Of two classes: from which probability on one is answered. Left out: the more probable one is. */
  threshold?: ModelThreshold;
  /** Where the fit saved work, a sentence each, where the service tells; left out where it did all that it could. */
  limited?: string[];
  /** `time`: the rows followed each other in time, and were held out in blocks. Left out where nobody asked. */
  order?: 'time' | 'none';
  /** The column whose equal values belong together. */
  group?: string;
  /** Whether groups were held out whole, or blocks of time in which they go on. Left out where the service does not tell. */
  folds?: 'groups' | 'blocks';
  /** The columns that a thinking fit of a hosted service was told to draw its folds by. */
  thinking_folds?: ThinkingFolds;
  /** Rows between what is fitted and what is held out. */
  embargo?: number;
  /** Regression: the model predicts the change from this column. Classification: it says what the target is now. */
  relative_to?: string;
  /** The newest time in the train set, ISO 8601, where a column tells it. */
  trained_until?: string;
  /** What was done to the train set as it was read. */
  cleaned?: Cleaned;
  /** Rows that repeat others, more often than chance explains: they were neither learned from nor scored. */
  repeated_rows?: number;
  /** Where it took over after a comparison. */
  compared?: VersionComparison;
  /** Why the model may not be worth much, a sentence each; left out where nothing was seen. */
  doubts?: string[];
  /** Columns that it may be better without, for one of these doubts. */
  doubted_columns?: string[];
  /** The train rows are kept on this computer: the endpoint keeps none, and each predict sends them. */
  keeps_rows?: true;
}
