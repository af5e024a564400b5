import { OUTPUT_TYPES, TASKS } from '../wire/vocabulary';
import { CLEANING, NODE, TABLE } from './common';
import { choice, flag, freeText, numberIn, quantiles } from './kinds';

/** tabular-predict: which model, for which rows, what it answers, and how messages are gathered and bounded. */
export const PREDICT = {
  ...NODE,
  /** A name; empty: the card, name or id that the message holds. */
  model: freeText(),
  /** Needed for a bare id alone. */
  task: choice(TASKS, { message: 'task', separate: true }),
  ...TABLE,
  outputType: choice([...OUTPUT_TYPES.classification, ...OUTPUT_TYPES.regression], {
    message: 'output_type',
    separate: true,
    groups: {
      'task.classification': OUTPUT_TYPES.classification,
      'task.regression': OUTPUT_TYPES.regression,
    },
  }),
  quantiles: quantiles({ message: 'quantiles', separate: true, fallback: [0.1, 0.5, 0.9] }),
  /** The column that predictions are attached under. */
  property: freeText({ standard: 'prediction' }),
  /** Whether each row gets its prediction as plain numbers too, under `<property>_mid` and the like. */
  flat: choice(['on', 'off'], { default: 'on', fallback: 'off' }),
  /** Whether each row gets its causes, under `<property>_why`. */
  explain: choice(['off', 'on'], { default: 'off', open: 'off', message: 'explain', separate: true }),
  /** Only rows whose probability, or whose value, is above this. */
  explainAbove: numberIn({ separate: true }),
  /** Whether each row is compared with the train set, under `<property>_unlike`. */
  unlike: choice(['off', 'on'], { default: 'off', open: 'off', message: 'unlike' }),
  /** Whether the predictions are scored against the target, which the table has, as `msg.evaluation`. */
  evaluate: choice(['off', 'on'], { default: 'off', open: 'off', message: 'evaluate' }),
  noModel: choice(['error', 'pass', 'wait'], { default: 'error' }),
  /** Whether a model that comes as `msg.model_file` is taken in. Messages do not decide that: who may send one may replace a model. */
  takeModel: choice(['off', 'on'], { default: 'off' }),
  missingColumns: choice(['error', 'fill'], { default: 'error', separate: true }),
  ...CLEANING,
  /** Rows that messages may gather into one predict; 1 = off. */
  batchRows: numberIn({ min: 1, integer: true, default: 500 }),
  /** Milliseconds that even the first message waits for others. */
  batchMs: numberIn({ min: 0, max: 3_600_000, default: 0 }),
  ordered: flag({ default: true }),
  /** Rows that may wait. */
  queue: numberIn({ min: 1, integer: true, default: 100_000 }),
  overflow: choice(['reject', 'dropOldest'], { default: 'reject' }),
  retryPredict: flag(),
  /** Highest estimated cost of one call; 0 = no bound. */
  maxCost: numberIn({ min: 0, default: 0 }),
  api: choice(['svc', 'v1'], { default: 'svc' }),
};
