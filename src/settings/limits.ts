import { NODE, TABLE } from './common';
import { choice, flag, freeText } from './kinds';

/** tabular-limits: whether a table is checked, and as which set. */
export const LIMITS = {
  ...NODE,
  check: flag(),
  set: choice(['train', 'test'], { default: 'train' }),
  ...TABLE,
  modelVersion: freeText(),
};
