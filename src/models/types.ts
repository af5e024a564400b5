import type { ModelCurves } from '../metrics/curves';
import type { ValuesOf } from '../settings/kinds';
import type { FIT_REQUEST, PREDICT_OWN, PREDICT_QUEUE, PREDICT_SEPARATE } from '../settings/nodes';
import type { FileFormat, GivenType, Label } from '../table/cells/types';
import type { TableSource } from '../table/open';
import type { Effort } from '../wire/vocabulary';
import type { Challenger, Cleaned, Evaluation, KeyTime, ModelCard, ThresholdRule, UploadCard } from './cards';

/** Where the rows are: a value of any form that docs/tables.md lists, or the path of a file on disk. */
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

/** How a table is read that has gaps, words for missing values, and dates of a place. */
export interface CleaningChoices {
  /** Rows of a train set without a target. Default `leaveOut`. */
  missingTarget?: 'leaveOut' | 'error';
  /** Words that mean "missing", besides NA, N/A, NaN and null. */
  missingWords?: string[];
  /** Cells that are not of their column's type. Default `error`. */
  unreadable?: 'error' | 'missing';
  /** IANA name: dates in text are of this zone where they name none, and calendar columns follow it. Default this computer's. */
  timezone?: string;
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

/** The settings of the fit node, and what no dialog has. */
export interface TrainRequest
  extends Omit<TableChoices, keyof typeof FIT_REQUEST>, Partial<ValuesOf<typeof FIT_REQUEST>> {
  /** The train set; left out when `trainSetUploadId` is given. */
  table?: SetInput;
  trainSetUploadId?: string;
  /** The card of that upload, where the message carries it; else it is looked up by id. */
  upload?: UploadCard;
  /** Name to keep the model under. */
  model: string;
  /**
   * What is held out where there is a group. `groups` (default): whole ones, since new ones will come. `blocks`: those
   * known go on, so blocks of time, and groups are split; it takes rows in order of time.
   */
  folds?: 'groups' | 'blocks';
  /** The oldest and the newest time of the rows, ISO 8601, where no column of theirs tells it. */
  trainedFrom?: string;
  trainedUntil?: string;
  /** The newest time of each machine's rows, where one may be behind the others. */
  trainedKeys?: readonly KeyTime[];
  /** Of two classes: what wrong answers cost, as `AnswerCosts` or `ErrorCosts`. They change the best threshold, not the model. */
  costs?: Record<string, unknown>;
  thinking?: { effort?: string; timeoutSecs?: number; metric?: string };
  /** With `better`: the model in charge has become worse than its scores promise, so less proof is asked for. */
  decayed?: boolean;
}

export interface TrainResult {
  /** The model that is in charge under the name. */
  card: ModelCard;
  /** Predictions with the truth for the rows behind `card.scores`, where the service reports them or rows were held out. */
  curves?: ModelCurves;
  /** The version that the fit made, or found unchanged, where it is not in charge. */
  aside?: number;
  /** With `replace` `better`: whether the new fit took over, and why. */
  challenger?: Challenger;
  /** An unchanged train set with unchanged options: no fit was asked for. */
  reused: boolean;
  /** Whether the task was inferred (`auto`). */
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

/** A threshold as it is chosen: the best for something, a probability of the rarer class, or none. */
export type ThresholdWish = ThresholdRule | number | null;

/** Why a row is predicted as it is, in part: a column (of a sensor, with all its windows) that raised or lowered it. */
export interface Cause {
  column: string;
  /** What the row has in that column. */
  value: unknown;
  /** What the column usually holds, of numbers: the 10 % and the 90 % quantile over the train set. */
  usual?: [low: number, high: number];
  /** By how much it raised the answer (below 0: lowered it): probability of a class, or units of the target. */
  effect: number;
  /** The same as a sentence. */
  text: string;
}

/** Writes a cause as a sentence; `label` is the class whose probability it raised or lowered. */
export type CauseText = (cause: Omit<Cause, 'text'>, label: Label | undefined) => string;

/** How a predict node batches and bounds what waits. */
export interface PredictSettings extends Partial<ValuesOf<typeof PREDICT_QUEUE>> {
  /** Rows that may wait. Default 100,000. */
  queueRows?: number;
  /** Bytes that may wait. Default 64 MiB. */
  queueBytes?: number;
  /** Messages for a model that does not exist yet fail, or wait until it is fitted. Default `error`. */
  noModel?: 'error' | 'wait';
  /** The sentence of a cause. Default: in English. */
  causeText?: CauseText;
  /** Called when the numbers change, at most every 250 ms and once at rest. */
  onLoad?: (load: PredictLoad) => void;
  /** Called once each to say that the route `v1` is deprecated, what explanations take, and why there is none. */
  onWarning?: (text: string) => void;
}

export interface PredictLoad {
  /** Messages being scored. */
  inFlight: number;
  /** Messages that wait for a full batch, a slot, a model or the results before them. */
  waiting: number;
  /** Rows of those that wait. */
  rows: number;
  /** Estimated bytes of those that wait. */
  bytes: number;
  /** Messages among them that wait for a model. */
  forModel?: number;
}

/** The settings of the predict node, and what no dialog has. */
export interface PredictRequest extends Partial<
  ValuesOf<typeof PREDICT_SEPARATE> & ValuesOf<typeof PREDICT_OWN>
> {
  /** The rows; left out when `testSetUploadId` is given. */
  table?: TableInput;
  testSetUploadId?: string;
  /** A known name, or a card. */
  model?: string | ModelCard;
  fittedTrainSetId?: string;
  /** Model configuration sent with the predict (S 4.4). */
  options?: Record<string, unknown>;
  forceRefit?: boolean;
  /** What time the prediction of each row is about, milliseconds since 1970: `<property>_time` of flat rows. */
  times?: readonly (number | undefined)[];
  /** Of two classes: the rarer one is answered from this probability on. Default: as the card says. */
  threshold?: number;
  /** `v1`: the deprecated multipart route, with `modelId`. */
  api?: 'svc' | 'v1';
  modelId?: string;
}

/** `msg.predicted_by` */
export interface PredictedBy {
  /** Its name, or its id where it has no card. */
  name: string;
  /** Left out where it has no card. */
  version?: number;
  fitted_train_set_id: string;
}

export interface PredictOutcome {
  /** The service's own shape, with this message's rows only. */
  prediction: unknown;
  /** The service's metadata: a copy of this message's own, with its own `test_set_num_rows`. */
  metadata: Record<string, unknown>;
  /** Name of the model, or its id where it has no card. */
  modelName: string;
  /** The model that made the predictions: by now another one may be in charge. Left out with the route `v1`. */
  predictedBy?: PredictedBy;
  /** The table with the predictions attached; left out when there was no table. */
  table?: unknown;
  /** Cells that were taken as missing, where there were any. */
  cleaned?: Pick<Cleaned, 'cells_missing'>;
  /** How good the predictions are, if asked for. */
  evaluation?: Evaluation;
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
  /** Of operations that think. */
  thinkingEffort?: Effort;
  modelVersion?: string;
  nEstimators?: number;
  /** Counted for rows and columns where the numbers below are not given. For `thinking_fit` it is the train set. */
  table?: TableInput;
  /** The target of that train set, which is no column to count. */
  target?: string;
  /** Gives train rows and columns where the numbers below are not given. */
  model?: string | ModelCard;
  trainRows?: number;
  testRows?: number;
  rawColumns?: number;
}
