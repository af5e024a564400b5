import type { Shape } from '../types';

/** Stations and their modules. https://dev.netatmo.com/apidocumentation/weather#getstationsdata */
export const NETATMO: Shape = {
  name: 'Netatmo',
  items: ['body.devices[]', 'body.devices[].modules[]'],
  isEvery: true,
  has: { _id: 'text', 'dashboard_data.time_utc': 'number' },
  key: 'module_name|station_name|_id',
  time: 'dashboard_data.time_utc',
  values: 'dashboard_data',
  omit: ['time_utc', 'date_min_temp', 'date_max_temp', 'date_max_wind_str'],
};

/** Data points of a device by their numbers. https://developer.tuya.com/en/docs/iot/msg-receive (DP data) */
export const TUYA: Shape = {
  name: 'Tuya',
  items: ['', 'data'],
  has: { 'devId|payload.devId|payload.deviceId': 'text', dps: 'object' },
  key: 'devId|payload.devId|payload.deviceId',
  time: 't|payload.t',
  values: 'dps',
};

/** A value of a Z-Wave device. https://zwave-js.github.io/zwave-js-ui/#/guide/mqtt (value topics, "Entire Z-Wave value Object") */
export const ZWAVE: Shape = {
  name: 'Z-Wave JS',
  has: { nodeId: 'number', commandClass: 'number', property: 'value', value: 'value' },
  key: 'nodeId',
  column: ['propertyName|label|property', 'propertyKeyName'],
  value: 'value',
  time: 'lastUpdate',
};
