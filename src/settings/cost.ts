import { EFFORTS, OPERATIONS } from '../wire/vocabulary';
import { NODE, TABLE } from './common';
import { choice, freeText, numberIn, word } from './kinds';

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
