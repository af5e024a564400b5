import { NODE, TABLE } from './common';
import { freeText, numberIn, word } from './kinds';

/** tabular-cost: what is to be estimated. */
export const COST = {
  ...NODE,
  operation: word('predict'),
  modelVersion: freeText(),
  nEstimators: numberIn({ min: 1, integer: true }),
  ...TABLE,
};
