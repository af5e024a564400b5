import type { Case } from './case';
import { FIT } from './fit';
import { COST, LIMITS, UPLOAD } from './others';
import { PREDICT } from './predict';
import { SERIES } from './series';
import { SETTINGS } from './settings';
import { WATCH } from './watch';
import { WIRE } from './wire';

export { type Case, nodesOf } from './case';
export { ALIKE } from './settings';

/** In the order in which they run: predicts name the models that were fitted before. */
export const CASES: Case[] = [
  ...PREDICT,
  ...FIT,
  ...UPLOAD,
  ...LIMITS,
  ...COST,
  ...SERIES,
  ...WATCH,
  ...SETTINGS,
  ...WIRE,
];
