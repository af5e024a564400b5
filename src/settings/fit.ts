import { EFFORTS, SYSTEMS } from '../wire/vocabulary';
import { COLLECTING, COLUMNS, MAX_SECONDS, NODE, TABLE, TRAIN_CLEANING } from './common';
import { choice, column, flag, freeText, list, numberIn, object, several } from './kinds';

/** tabular-fit: a train set, what is to be learned from it, and how. */
export const FIT = {
  ...NODE,
  ...TABLE,
  target: column({ message: 'target' }),
  ...COLUMNS,
  ignore: list({ message: 'ignore' }),
  ...TRAIN_CLEANING,
  task: choice(['auto', 'classification', 'regression'], { default: 'auto', open: 'auto', message: 'task' }),
  /** The name to keep the model under; empty: the node's. */
  model: freeText({ message: 'model_name', label: 'modelName' }),
  systems: several(SYSTEMS),
  options: object({ message: 'options' }),
  thinkingEffort: choice(EFFORTS),
  thinkingTimeout: numberIn({ min: 1, max: MAX_SECONDS }),
  thinkingMetric: freeText(),
  /** Percent of the rows. */
  holdout: numberIn({ min: 0, max: 50 }),
  order: choice(['auto', 'time', 'none'], { default: 'auto', open: 'auto', message: 'order' }),
  /** Rows. */
  embargo: numberIn({ min: 0, integer: true, message: 'embargo' }),
  group: column({ message: 'group' }),
  relativeTo: column({ message: 'relative_to' }),
  /** Of two classes: what a row of the rarer one costs that is missed, and what a false alarm costs. */
  costMissed: numberIn({ min: 0 }),
  costFalseAlarm: numberIn({ min: 0 }),
  /** What wrong answers cost, by the true label and the answer, as dialogs had it before the two fields. */
  costs: object({ message: 'costs' }),
  /** Of two classes: the threshold to answer by; empty: the one that was chosen for the model. */
  threshold: choice(['accuracy', 'f1', 'costs'], { message: 'threshold' }),
  replace: choice(['always', 'better'], { message: 'replace' }),
  forceRefit: flag({ message: 'force_refit' }),
  /** Send what pictures of the model are drawn from, as `msg.model_report`. */
  modelReport: flag(),
  /** Whether the model goes along with the message, as `msg.model_file`, for other computers. */
  sendModel: choice(['off', 'on'], { default: 'off', open: 'off', message: 'send_model' }),
  /** MB that it may have: what MQTT can carry is 256, what a broker allows may be less. */
  modelFileMax: numberIn({ min: 0.001, max: 256, default: 256 }),
  ...COLLECTING,
};
