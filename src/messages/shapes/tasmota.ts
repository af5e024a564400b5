import type { Shape } from '../types';

/** `tele/<device>/SENSOR` and STATE, and the answer to Status 8 and 10. https://tasmota.github.io/docs/JSON-Status-Responses/ */
export const TASMOTA: Shape = {
  name: 'Tasmota',
  topics: [
    /^tele\/(?<key>[^/]+)\/(?:SENSOR|STATE)$/,
    /^(?<key>[^/]+)\/tele\/(?:SENSOR|STATE)$/,
    /^stat\/(?<key>[^/]+)\/STATUS(?:8|10)$/,
  ],
  items: ['StatusSNS', ''],
  has: { Time: 'time' },
  time: 'Time',
  values: '',
  omit: [
    'Time',
    'TempUnit',
    'PressureUnit',
    'SpeedUnit',
    'Uptime',
    'ENERGY.TotalStartTime',
    'Wifi.SSId',
    'Wifi.BSSId',
    'Wifi.Downtime',
  ],
};
