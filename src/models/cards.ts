import type { AnswerCosts, ErrorCosts } from '../metrics/answer-costs';
import type { ModelCurves } from '../metrics/curves';
import type { Scores } from '../metrics/scores';
import type { Column, ColumnType, FileFormat, Label } from '../table/cells/types';
import type { ThinkingFolds } from '../wire/types';
import type { Task } from '../wire/vocabulary';

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
