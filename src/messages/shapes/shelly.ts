import type { Shape } from '../types';

/** The first generation: one value on each topic. https://shelly-api-docs.shelly.cloud/gen1/#mqtt-support */
export const SHELLY_GEN1: Shape = {
  name: 'Shelly',
  topics: ['shellies/{key}/{column}'],
  has: { '': 'value' },
  value: '',
};

/** Later generations: the status of one component. https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Mqtt */
export const SHELLY_STATUS: Shape = {
  name: 'Shelly',
  topics: ['{key}/status/{column}'],
  has: { id: 'number' },
  values: '',
  omit: ['id', 'source', '*.by_minute', '*.minute_ts'],
};

/** Later generations: a notification of changes. https://shelly-api-docs.shelly.cloud/gen2/General/Notifications */
export const SHELLY_NOTIFICATION: Shape = {
  name: 'Shelly',
  has: { src: 'text', method: 'text', params: 'object' },
  key: 'src',
  time: 'params.ts',
  values: 'params',
  omit: ['ts', '*.id', '*.source', '*.by_minute', '*.minute_ts'],
};
