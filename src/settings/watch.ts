import { NODE } from './common';
import { choice, flag, freeText, numberIn, property, zone } from './kinds';

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
