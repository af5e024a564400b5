import { GIVEN_TYPES } from '../table/cells/types';
import { choice, flag, freeText, list, node, numberIn, property, types, zone } from './kinds';

/** What nearly every node begins with. */
export const NODE = {
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
  missingWords: list({ message: 'missing_words', separate: true }),
  unreadable: choice(['error', 'missing'], { message: 'unreadable', separate: true }),
  timezone: zone({ message: 'timezone', separate: true }),
};

/** A train set has a target, and rows may lack it. */
export const TRAIN_CLEANING = {
  missingTarget: choice(['leaveOut', 'error'], { message: 'missing_target' }),
  ...CLEANING,
};

/** The columns that a set is made of. */
export const COLUMNS = {
  ignore: list(),
  types: types(GIVEN_TYPES),
};

/** Timers of Node.js go to 24.8 days; one that is set to more fires at once. */
export const MAX_SECONDS = 2_000_000;

/** A message sequence as one table; given up after so many seconds without a part. */
export const COLLECTING = {
  collect: flag(),
  collectTimeout: numberIn({ min: 1, max: MAX_SECONDS, fallback: 60 }),
};
