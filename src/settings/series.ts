import { CLEANING, TABLE } from './common';
import {
  choice,
  column,
  columnOrTopic,
  duration,
  durations,
  flag,
  freeText,
  list,
  numberIn,
  schedule,
} from './kinds';

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
