import { ADVISE } from './advise';
import { ANOMALY } from './anomaly';
import { CONFIG } from './config';
import { COST } from './cost';
import { FIT } from './fit';
import type { Settings } from './kinds';
import { LIMITS } from './limits';
import { PREDICT } from './predict';
import { SERIES } from './series';
import { UPLOAD } from './upload';
import { WATCH } from './watch';

export { ADVISE, ANOMALY, CONFIG, COST, FIT, LIMITS, PREDICT, SERIES, UPLOAD, WATCH };
export { CLEANING, COLLECTING, TABLE } from './common';
export {
  type FlowProperties,
  freeText,
  isUnsaid,
  parseSetting,
  problemWith,
  type Setting,
  type Settings,
  type ValueOf,
} from './kinds';

/** The settings of each node, by the name of its file in nodes/. */
export const NODE_SETTINGS = {
  config: CONFIG,
  limits: LIMITS,
  upload: UPLOAD,
  fit: FIT,
  predict: PREDICT,
  series: SERIES,
  watch: WATCH,
  advise: ADVISE,
  anomaly: ANOMALY,
  cost: COST,
} satisfies Record<string, Settings>;
