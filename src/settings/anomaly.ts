import { TABLE } from './common';
import { choice, column, columnOrTopic, flag, freeText, list, numberIn } from './kinds';

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
  /** Readings before the first verdict. */
  learn: numberIn({ min: 100, max: 6_000, integer: true, default: 300 }),
  /** Missing sensors get their expected value in the row. */
  fill: flag(),
  property: freeText({ standard: 'anomaly' }),
  /** Name of the folder that the state is kept in; empty: the id of the node. */
  keepAs: freeText(),
} as const;
