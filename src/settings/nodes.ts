import { CLIENT_DEFAULTS } from '../client/settings';
import { GIVEN_TYPES } from '../table/cells/types';
import { DEFAULT_DIALECT } from '../wire/dialect';
import { EFFORTS, OPERATIONS, OUTPUT_TYPES, SYSTEMS, TASKS } from '../wire/vocabulary';
import {
  choice,
  column,
  columnOrTopic,
  duration,
  durations,
  flag,
  freeText,
  list,
  node,
  numberIn,
  object,
  onOff,
  property,
  quantiles,
  schedule,
  type Settings,
  several,
  types,
  url,
  vary,
  word,
  zone,
} from './kinds';

/** What nearly every node begins with. */
const NODE = {
  name: freeText(),
  config: node('tabular-config', { label: 'service' }),
};

/** Where the table is: a value of the message, a context and so on, or a file on disk. */
export const TABLE = {
  source: choice(['value', 'file'], { default: 'value', label: 'input' }),
  table: property('payload', 'tableType'),
  tableType: freeText({ standard: 'msg', label: false }),
};

/** How cells are read: gaps, words for missing values, dates of a place. */
export const CLEANING = {
  missingWords: list({ message: 'missing_words' }),
  unreadable: choice(['error', 'missing'], { message: 'unreadable' }),
  timezone: zone({ message: 'timezone' }),
};

/** A train set has a target, and rows may lack it. */
const TRAIN_CLEANING = {
  missingTarget: choice(['leaveOut', 'error'], { message: 'missing_target' }),
  ...CLEANING,
};

/** The columns that a set is made of. */
const COLUMNS = {
  ignore: list(),
  types: types(GIVEN_TYPES),
};

/** Timers of Node.js go to 24.8 days; one that is set to more fires at once. */
const MAX_SECONDS = 2_000_000;

/** A message sequence as one table; given up after so many seconds without a part. */
export const COLLECTING = {
  collect: flag(),
  collectTimeout: numberIn({ min: 1, max: MAX_SECONDS, fallback: 60 }),
};

/** tabular-config: which service, and how it is spoken to. */
export const CONFIG = {
  name: freeText(),
  service: choice(['embedded', 'hosted', 'onPrem'], { default: 'embedded' }),
  baseUrl: url({ requiredWhen: ['service', ['hosted', 'onPrem']] }),
  apiName: freeText({ fallback: DEFAULT_DIALECT.apiName }),
  fitRequest: choice(['task_config', 'flat'], { default: DEFAULT_DIALECT.fitRequest }),
  fileInfo: choice(['schema', 'sample'], { default: DEFAULT_DIALECT.fileInfo }),
  /** Megabytes that a request to an on-premises endpoint may have. */
  requestSize: numberIn({ min: 1, max: 2000, default: 16 }),
  /** A hosted service may name upload addresses of the local network. */
  localUploads: flag(),
  /** Seconds that one call may take, with all its retries and waits. */
  timeout: numberIn({ min: 1, max: 86_400, default: CLIENT_DEFAULTS.timeoutMs / 1000 }),
  retries: numberIn({ min: 0, max: 20, integer: true, default: CLIENT_DEFAULTS.retries }),
  /** Requests in flight per kind. */
  concurrency: numberIn({ min: 1, max: 64, integer: true, default: CLIENT_DEFAULTS.concurrency }),
  tls: node('tls-config'),
  proxy: node('http proxy'),
};

/** tabular-limits: whether a table is checked, and as which set. */
export const LIMITS = {
  ...NODE,
  check: flag(),
  set: choice(['train', 'test'], { default: 'train' }),
  ...TABLE,
  modelVersion: freeText(),
};

/** tabular-upload: a train set, or a test set for a model. */
export const UPLOAD = {
  ...NODE,
  set: choice(['train', 'test'], { default: 'train' }),
  ...TABLE,
  target: column({ message: 'target' }),
  ...COLUMNS,
  ...TRAIN_CLEANING,
  /** A name; empty: the card, name or id that the message holds. */
  model: freeText(),
  format: choice(['parquet', 'csv'], { default: 'parquet' }),
  description: freeText({ message: 'description' }),
  forceReupload: flag({ message: 'force_reupload' }),
  /** Offer the service an upload in chunks. */
  chunks: flag(),
  ...COLLECTING,
};

/** What a message asks of a fit: read into the request under these names. */
export const FIT_REQUEST = {
  /** Required with a table. */
  target: column({ message: 'target' }),
  ...COLUMNS,
  /** Columns to leave out. */
  ignore: list({ message: 'ignore' }),
  ...TRAIN_CLEANING,
  task: choice(['auto', 'classification', 'regression'], { default: 'auto', open: 'auto', message: 'task' }),
  systems: several(SYSTEMS),
  /** The model configuration object (S 2.6). */
  options: object({ message: 'options' }),
  /** Percentage of a table's rows that is held out from the fit and scored after it. Default 0. */
  holdout: numberIn({ min: 0, max: 50 }),
  /**
   * Whether the rows follow each other in time, oldest first. Then the newest are kept back, and the folds of the
   * embedded service are blocks of rows. Default `auto`: `time` where a column of dates rises or falls from row to row.
   */
  order: choice(['auto', 'time', 'none'], { default: 'auto', open: 'auto', message: 'order' }),
  /** With `time`: rows to leave out between what is fitted and what is held out. Default 0. */
  embargo: numberIn({ min: 0, integer: true, message: 'embargo' }),
  /** A column whose equal values belong together: a machine, a patient, a batch. They are never split. */
  group: column({ message: 'group' }),
  /** Regression: the column with the current value of the target. The change is learned, and predict adds the column back. */
  relativeTo: column({ message: 'relative_to' }),
  /** Of two classes: the threshold to answer by. Left out: the one that was chosen for the model before, if any. */
  threshold: choice(['accuracy', 'f1', 'costs'], { message: 'threshold' }),
  /**
   * Whether the new model takes over in any case (default), or only if it proves better than the one in charge on rows
   * that neither has learned from. That costs another fit and two predicts.
   */
  replace: choice(['always', 'better'], { message: 'replace' }),
  forceRefit: flag({ message: 'force_refit' }),
} as const;

/** tabular-fit: a train set, what is to be learned from it, and how. */
export const FIT = {
  ...NODE,
  ...TABLE,
  ...FIT_REQUEST,
  /** The name to keep the model under; empty: the node's. */
  model: freeText({ message: 'model_name', label: 'modelName' }),
  thinkingEffort: choice(EFFORTS),
  thinkingTimeout: numberIn({ min: 1, max: MAX_SECONDS }),
  thinkingMetric: freeText(),
  /** Of two classes: what a row of the rarer one costs that is missed, and what a false alarm costs. */
  costMissed: numberIn({ min: 0 }),
  costFalseAlarm: numberIn({ min: 0 }),
  /** What wrong answers cost, by the true label and the answer, as dialogs had it before the two fields. */
  costs: object({ message: 'costs' }),
  /** Send what pictures of the model are drawn from, as `msg.model_report`. */
  modelReport: flag(),
  /** Whether the model goes along with the message, as `msg.model_file`, for other computers. */
  sendModel: onOff('off', { open: 'off', message: 'send_model' }),
  /** MB that it may have: what MQTT can carry is 256, what a broker allows may be less. */
  modelFileMax: numberIn({ min: 0.001, max: 256, default: 256 }),
  ...COLLECTING,
};

/** What a message asks of a predict. The rows of messages that differ in one of these go in predicts of their own. */
export const PREDICT_SEPARATE = {
  /** Needed for a bare id without a card alone. */
  task: choice(TASKS, { message: 'task' }),
  outputType: choice([...OUTPUT_TYPES.classification, ...OUTPUT_TYPES.regression], {
    message: 'output_type',
    groups: {
      'task.classification': OUTPUT_TYPES.classification,
      'task.regression': OUTPUT_TYPES.regression,
    },
  }),
  quantiles: quantiles({ message: 'quantiles', fallback: [0.1, 0.5, 0.9] }),
  /** Whether each row gets its causes, under `<property>_why`. */
  explain: onOff('off', { open: 'off', message: 'explain' }),
  /** Only rows whose prediction is above this: a probability, or a value. */
  explainAbove: numberIn({}),
  missingColumns: choice(['error', 'fill'], { default: 'error' }),
  ...CLEANING,
};

/** What a message asks for its own rows, whatever others in the same predict ask. */
export const PREDICT_OWN = {
  /** The column that predictions are attached under. Default `prediction`. */
  property: freeText({ standard: 'prediction' }),
  /** Whether each row gets its prediction as plain numbers too, under `<property>_mid` and the like. */
  flat: onOff('on', { fallback: false }),
  /** Whether each row is compared with the train set, under `<property>_unlike`. */
  unlike: onOff('off', { open: 'off', message: 'unlike' }),
  /** Whether the predictions are scored against the target, which the table has, as `msg.evaluation`. */
  evaluate: onOff('off', { open: 'off', message: 'evaluate' }),
};

/** How a predict node gathers messages, and bounds what waits and what it costs. */
export const PREDICT_QUEUE = {
  /** Rows that messages may gather into one predict; 1 = off. */
  batchRows: numberIn({ min: 1, integer: true, default: 500 }),
  /** Milliseconds that a batch waits for more messages, even while a slot is free. */
  batchMs: numberIn({ min: 0, max: 3_600_000, default: 0 }),
  /** Results leave in arrival order per model. Default true. */
  ordered: flag({ default: true }),
  overflow: choice(['reject', 'dropOldest'], { default: 'reject' }),
  /** Repeat a predict whose outcome is unknown, at the risk of paying twice. */
  retryPredict: flag(),
  /** Highest estimated cost of one predict call; 0 = no bound. */
  maxCost: numberIn({ min: 0, default: 0 }),
};

/** tabular-predict: which model, for which rows, what it answers, and how messages are gathered and bounded. */
export const PREDICT = {
  ...NODE,
  /** A name; empty: the card, name or id that the message holds. */
  model: freeText(),
  ...TABLE,
  ...PREDICT_SEPARATE,
  ...PREDICT_OWN,
  noModel: choice(['error', 'pass', 'wait'], { default: 'error' }),
  /** Whether a model that comes as `msg.model_file` is taken in. Messages do not decide that: who may send one may replace a model. */
  takeModel: onOff('off'),
  ...PREDICT_QUEUE,
  /** Rows that may wait. */
  queue: numberIn({ min: 1, integer: true, default: 100_000 }),
  api: choice(['svc', 'v1'], { default: 'svc' }),
};

/** tabular-series: where readings are, what is to be predicted of them, and how far they look back and ahead. */
export const SERIES = {
  name: freeText(),
  ...TABLE,
  /** A column, a property of the message, or the part of its topic at the `+` of a filter. */
  key: columnOrTopic({ typeField: 'keyType' }),
  keyType: freeText({ standard: 'column', label: false }),
  time: column(),
  /** Whether messages are read as their sources mean them: a flow that does not say reads them plainly. */
  shape: choice(['auto', 'plain'], { default: 'auto', fallback: 'plain' }),
  /** Of the values of a list, in order. */
  names: list(),
  outcome: choice(['column', 'event', 'message', 'none'], { default: 'column' }),
  /** Empty: rows alone, so that the dialog can offer the columns of what came. */
  column: { ...column(), requiredWhen: ['outcome', ['event']] },
  operator: choice(['=', '!=', '>', '>=', '<', '<='], { default: '=' }),
  value: { ...freeText(), requiredWhen: ['outcome', ['event']] },
  ahead: durations({ default: '10m', ranges: true }),
  /** Columns whose value at the time predicted for is told before it comes. */
  knownAhead: list({ except: 'column' }),
  windows: durations(),
  train: schedule('auto'),
  every: duration(),
  late: duration({ min: 0 }),
  /** Which rows of a table of past readings leave: a flow that does not say sends all. */
  send: choice(['newest', 'all'], { default: 'newest', fallback: 'all' }),
  /** Rows with their outcome. */
  keep: numberIn({ min: 1, max: 1_000_000, integer: true, default: 20_000 }),
  calendar: choice(['auto', 'on', 'off'], { default: 'auto' }),
  relative: flag({ default: true }),
  ...CLEANING,
  /** Name of the folder that the state is kept in; empty: the id of the node. */
  keepAs: freeText(),
} as const;

/** What an alarm may rest on. */
const BANDS = ['value', 'upper', 'lower'] as const;
const ALARMS = ['probability', ...BANDS] as const;

/** tabular-watch: which model is watched, whether its bands are corrected, and when it says so. */
export const WATCH = {
  ...NODE,
  /** A name; empty: the model that made the predictions of the message. */
  model: freeText(),
  /** Correct bands by the truths that came. */
  honest: flag({ default: true }),
  /** Percent that the live loss is above the promised one before the model counts as worse. */
  worse: numberIn({ min: 1, max: 1000, default: 15 }),
  alarmOn: choice(['off', ...ALARMS], {
    default: 'off',
    groups: { '': ['off'], 'task.classification': ['probability'], 'task.regression': BANDS },
  }),
  alarmLabel: { ...freeText(), requiredWhen: ['alarmOn', ['probability']] },
  /** Of a probability empty: from where the model answers the class. */
  raise: { ...numberIn({}), requiredWhen: ['alarmOn', BANDS, ['probability']] },
  /** Empty: 10 % below `raise`, or at half the odds: see `Alarms`. */
  clear: numberIn({}),
  /** Readings in a row that it takes to raise an alarm, and to clear it. */
  alarmFor: numberIn({ min: 1, max: 10_000, integer: true, default: 3 }),
  /** A live score of each key, instead of one of all. */
  perKey: flag(),
  /** The column that predictions are attached under, as in the predict node. */
  property: freeText({ standard: 'prediction' }),
  table: property('payload', 'tableType'),
  tableType: freeText({ standard: 'msg', label: false }),
  /** Truths kept for the live score. */
  keep: numberIn({ min: 200, max: 100_000, integer: true, default: 2_000 }),
  /** Whose clocks tell times of the week. */
  timezone: zone({ message: 'timezone' }),
} as const;

/** tabular-advise: what may be changed, what is to be reached, and how sure it must be. */
export const ADVISE = {
  ...NODE,
  model: freeText(),
  /** The columns that may be changed, each within what, and what that costs. */
  vary: vary({ message: 'vary' }),
  goal: choice(['at least', 'at most', 'highest', 'lowest'], { default: 'at least' }),
  /** A number, or of classes the label that the goal is about. */
  value: freeText({ message: 'goal_value' }),
  /** The probability that must hold the goal. */
  sure: numberIn({ min: 0.5, max: 0.99, default: 0.9 }),
  /** Columns that go along with those that are changed. */
  follow: list(),
  table: property('payload', 'tableType'),
  tableType: freeText({ standard: 'msg', label: false }),
  /** Let the advised row go on with its prediction, for a watch node to score. */
  verify: flag(),
  /** Rows that are predicted for an answer. */
  candidates: numberIn({ min: 100, max: 20_000, integer: true, default: 2_000 }),
  /** Highest estimated cost of a question; 0 = no bound. */
  maxCost: numberIn({ min: 0, default: 0 }),
  missingColumns: choice(['error', 'fill'], { default: 'error' }),
  ...CLEANING,
} as const;

/** tabular-anomaly: where readings are, how often it may raise an alarm, and from when on it speaks. */
export const ANOMALY = {
  name: freeText(),
  ...TABLE,
  /** A column, a property of the message, or the part of its topic at the `+` of a filter. */
  key: columnOrTopic({ typeField: 'keyType' }),
  keyType: freeText({ standard: 'column', label: false }),
  time: column(),
  shape: choice(['auto', 'plain'], { default: 'auto' }),
  /** Of the values of a list, in order. */
  names: list(),
  /** Columns that are no sensors. */
  ignore: list(),
  /** About how many alarms a `per`, for each key. */
  alarms: numberIn({ min: 0.1, max: 100, default: 1 }),
  per: choice(['day', 'week', 'month'], { default: 'week' }),
  /** Readings within so long are one row of their means; empty: each is a row. */
  every: duration(),
  /** Readings before the first verdict. */
  learn: numberIn({ min: 100, max: 6_000, integer: true, default: 300 }),
  /** Missing sensors get their expected value in the row. */
  fill: flag(),
  property: freeText({ standard: 'anomaly' }),
  /** Name of the folder that the state is kept in; empty: the id of the node. */
  keepAs: freeText(),
} as const;

/** tabular-cost: what is to be estimated. */
export const COST = {
  ...NODE,
  /** Another word is sent as it is: a service may know more operations. */
  operation: word('predict', { options: OPERATIONS }),
  thinkingEffort: choice(EFFORTS, { message: 'thinking_effort' }),
  modelVersion: freeText(),
  nEstimators: numberIn({ min: 1, integer: true }),
  ...TABLE,
};

/** The settings of each node, by the name of its file in nodes/. */
export const NODE_SETTINGS = {
  config: CONFIG,
  limits: LIMITS,
  upload: UPLOAD,
  fit: FIT,
  predict: PREDICT,
  series: SERIES,
  watch: WATCH,
  advise: ADVISE,
  anomaly: ANOMALY,
  cost: COST,
} satisfies Record<string, Settings>;
