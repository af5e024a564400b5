import type { Shape } from '../types';

/** Telemetry of a device with its time, one or a list. https://thingsboard.io/docs/reference/mqtt-api/#telemetry-upload-api */
export const THINGSBOARD: Shape = {
  name: 'ThingsBoard',
  items: ['', '[]'],
  has: { ts: 'time', values: 'object' },
  time: 'ts',
  values: 'values',
};

/** Past telemetry of a device, a list for each column. https://thingsboard.io/docs/user-guide/telemetry/#get-historical-time-series-data-values */
export const THINGSBOARD_PAST: Shape = {
  name: 'ThingsBoard',
  byColumn: true,
  has: { ts: 'time', value: 'value' },
  isTable: true,
  value: 'value',
  time: 'ts',
};

/** Telemetry of several devices by a gateway. https://thingsboard.io/docs/reference/gateway-mqtt-api/#telemetry-upload-api */
export const THINGSBOARD_GATEWAY: Shape = {
  name: 'ThingsBoard gateway',
  byKey: true,
  has: { ts: 'time', values: 'object' },
  time: 'ts',
  values: 'values',
};
