import type { Settings } from './kinds';
import { ADVISE, ANOMALY, CONFIG, COST, FIT, LIMITS, PREDICT, SERIES, UPLOAD, WATCH } from './nodes';

export { ADVISE, ANOMALY, CONFIG, COST, FIT, LIMITS, PREDICT, SERIES, UPLOAD, WATCH };
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
export { CLEANING, COLLECTING, TABLE } from './nodes';

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
