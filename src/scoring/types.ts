import type { Column, ColumnType, FileFormat, GivenType, Label, TableSource } from '../table';
import type { OutputType, Task } from '../wire/types';

export type { OutputType, Task } from '../wire/types';

/** Where the rows are: a value of any form that docs/architecture.md lists, or the path of a file on disk. */
export type TableInput = { value: unknown } | { path: string };

/** A train or test set may be an opened table too, such as the collected parts of a message sequence. */
export type SetInput = TableInput | { source: TableSource };

/** What a piece of work is doing, for the node's status. */
export type StatusEvent =
  /** `fraction` is the part read, 0 to 1, where the size of the table is known. */
  | { key: 'reading'; fraction?: number }
  /** Bytes; `sent` may fall where some have to be sent again. */
  | { key: 'uploading'; sent: number; total: number }
  /** `fraction` is the part done, 0 to 1, where the service tells it. */
  | { key: 'fitting'; seconds: number; fraction?: number }
  /** Rows scored so far, and of how many where that is known. */
  | { key: 'predicting'; done?: number; total?: number };

/** How the caller follows and stops a piece of work. */
export interface Hooks {
  /** Aborting it settles the work with the code `closed`. */
  signal?: AbortSignal;
  onStatus?: (status: StatusEvent) => void;
  onWarning?: (text: string) => void;
}

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
}

/** How a table is read that has gaps, words for missing values, and dates of a place. */
export interface CleaningChoices {
  /** Rows of a train set without a target. Default `leaveOut`. */
  missingTarget?: 'leaveOut' | 'error';
  /** Words that mean "missing", beside NA, N/A, NaN and null. */
  missingWords?: string[];
  /** Cells that are not of their column's type. Default `error`. */
  unreadable?: 'error' | 'missing';
  /** IANA name: dates in text are of this zone where they name none, and calendar columns follow it. Default this computer's. */
  timezone?: string;
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
}

/** `msg.model.scores`. */
export interface ModelScores extends Scores {
  /** `holdout`: rows that were kept back; `out-of-fold`: rows of the train set, each by members that had not seen it. */
  from: 'holdout' | 'out-of-fold';
  /** The same scores of always predicting the train set's class frequencies, or its mean and quantiles. */
  baseline: Scores;
  /** The same scores of "it stays as it is now", where a column tells how it is. */
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
 * `value` reached with it out of fold.
 */
export interface ModelThresholds {
  label: Label;
  accuracy?: { at: number; value: number };
  f1?: { at: number; value: number };
  costs?: { at: number; value: number };
}

/** What is known of a fitted train set: `msg.model`. */
export interface ModelCard {
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
  /** Of two classes: the best thresholds of the rarer one, where the service tells. */
  thresholds?: ModelThresholds;
  /** Where the fit saved work, a sentence each, where the service tells; left out where it did all that it could. */
  limited?: string[];
  /** `time`: the rows followed each other in time, and were held out in blocks. Left out where nobody asked. */
  order?: 'time' | 'none';
  /** The column whose equal values belong together. */
  group?: string;
  /** Rows between what is fitted and what is held out. */
  embargo?: number;
  /** Regression: the model predicts the change from this column. */
  relative_to?: string;
  /** The newest time in the train set, ISO 8601, where a column tells it. */
  trained_until?: string;
  /** What was done to the train set as it was read. */
  cleaned?: Cleaned;
  /** Why the model may not be worth much, a sentence each; left out where nothing was seen. */
  doubts?: string[];
}

export interface TableChoices extends CleaningChoices {
  /** Columns to leave out. */
  ignore?: string[];
  /** Column types that override what is found. */
  types?: Record<string, GivenType>;
  format?: FileFormat;
  description?: string;
  forceReupload?: boolean;
  /** Offer the service an upload in chunks. */
  chunks?: boolean;
}

export interface TrainRequest extends TableChoices {
  /** The train set; left out when `trainSetUploadId` is given. */
  table?: SetInput;
  trainSetUploadId?: string;
  /** The card of that upload, where the message carries it; else it is looked up by id. */
  upload?: UploadCard;
  /** Required with a table. */
  target?: string;
  /** Default `auto`. */
  task?: 'auto' | Task;
  /** Name to keep the model under. */
  model: string;
  systems?: string[];
  /** The model configuration object (S 2.6). */
  options?: Record<string, unknown>;
  /** Part of a table's rows, in percent, that is kept back from the fit and scored after it. Default 0. */
  holdout?: number;
  /**
   * Whether the rows follow each other in time, oldest first. Then the newest are kept back, and the folds of the
   * embedded service are blocks of rows. Default `auto`: `time` where a column of dates rises or falls from row to row.
   */
  order?: 'auto' | 'time' | 'none';
  /** A column whose equal values belong together: a machine, a patient, a batch. They are never split. */
  group?: string;
  /** Regression: the column with the target as it is now. The change is learned, and predict adds the column again. */
  relativeTo?: string;
  /** With `time`: rows to leave out between what is fitted and what is held out. Default 0. */
  embargo?: number;
  thinking?: { effort?: string; timeoutSecs?: number; metric?: string };
  forceRefit?: boolean;
}

export interface TrainResult {
  card: ModelCard;
  /** An unchanged train set with unchanged options: no fit was asked for. */
  reused: boolean;
  /** The task was found out by the rule of `auto`. */
  taskFound: boolean;
}

export interface UploadRequest extends TableChoices {
  set: 'train' | 'test';
  table: SetInput;
  /** Train set: required. */
  target?: string;
  /** Test set: the model it is for, as name or card, or else its id. */
  model?: string | ModelCard;
  fittedTrainSetId?: string;
  missingColumns?: 'error' | 'fill';
}

/** How a predict node batches and bounds what waits. */
export interface PredictSettings {
  /** Rows that messages may gather into one predict; 1 = off. Default 500. */
  batchRows?: number;
  /** Milliseconds even the first message waits for company. Default 0. */
  batchMs?: number;
  /** Results leave in arrival order per model. Default true. */
  ordered?: boolean;
  /** Rows that may wait. Default 100,000. */
  queueRows?: number;
  /** Bytes that may wait. Default 64 MiB. */
  queueBytes?: number;
  /** Default `reject`. */
  overflow?: 'reject' | 'dropOldest';
  /** Repeat a predict whose outcome is unknown, at the risk of paying twice. */
  retryPredict?: boolean;
  /** Highest estimated cost of one predict call; 0 = no bound. */
  maxCost?: number;
  /** Messages for a model that there is none of yet: an error each, or they wait until it is fitted. Default `error`. */
  noModel?: 'error' | 'wait';
  /** Called when the numbers change, at most every 250 ms and once at rest. */
  onLoad?: (load: PredictLoad) => void;
  /** Told once that the route `v1` is deprecated. */
  onWarning?: (text: string) => void;
}

export interface PredictLoad {
  /** Messages being scored. */
  inFlight: number;
  /** Messages waiting: for company, a slot, a model or their turn. */
  waiting: number;
  /** Rows of those that wait. */
  rows: number;
  /** Estimated bytes of those that wait. */
  bytes: number;
  /** Messages among them that wait for a model. */
  forModel?: number;
}

export interface PredictRequest extends Omit<CleaningChoices, 'missingTarget'> {
  /** The rows; left out when `testSetUploadId` is given. */
  table?: TableInput;
  testSetUploadId?: string;
  /** A known name, or a card. */
  model?: string | ModelCard;
  fittedTrainSetId?: string;
  /** Needed only for a bare id without a card. */
  task?: Task;
  outputType?: OutputType;
  quantiles?: number[];
  /** Model configuration sent with the predict (S 4.4). */
  options?: Record<string, unknown>;
  missingColumns?: 'error' | 'fill';
  forceRefit?: boolean;
  /** Column that the predictions are attached under. Default `prediction`. */
  property?: string;
  /** `v1`: the deprecated multipart route, with `modelId`. */
  api?: 'svc' | 'v1';
  modelId?: string;
}

export interface PredictOutcome {
  /** The service's own shape, with this message's rows only. */
  prediction: unknown;
  /** The service's metadata: a copy of this message's own, with its own `test_set_num_rows`. */
  metadata: Record<string, unknown>;
  /** Name of the model, or its id where it has no card. */
  modelName: string;
  /** The table with the predictions attached; left out when there was no table. */
  table?: unknown;
  /** Cells that were taken as missing, where there were any. */
  cleaned?: Pick<Cleaned, 'cells_missing'>;
}

/** One limit that a table goes beyond. */
export interface LimitExceeded {
  limit: string;
  value: number;
  max: number;
}

export interface CheckLimitsRequest {
  /** Rows and columns are counted in it. */
  table: TableInput;
  target?: string;
  ignore?: string[];
  /** Key of `model_limits`; empty: the default version. */
  modelVersion?: string;
  /** Default `train`. */
  set?: 'train' | 'test';
}

export interface CostRequest {
  /** Default `predict`. */
  operation?: string;
  modelVersion?: string;
  nEstimators?: number;
  /** Counted for rows and columns where the numbers below are not given. */
  table?: TableInput;
  /** Gives train rows and columns where the numbers below are not given. */
  model?: string | ModelCard;
  trainRows?: number;
  testRows?: number;
  rawColumns?: number;
}
