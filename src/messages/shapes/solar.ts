import type { Shape } from '../types';

/** Power flow and inverter data of the Solar API. https://www.fronius.com/~/downloads/Solar%20Energy/Operating%20Instructions/42,0410,2012.pdf (GetPowerFlowRealtimeData) */
export const FRONIUS: Shape = {
  name: 'Fronius',
  has: { 'Head.Timestamp': 'time', 'Body.Data': 'object' },
  time: 'Head.Timestamp',
  values: 'Body.Data',
  omit: ['*.Unit', '*.DT', 'Version', 'DeviceStatus'],
};

/** Registers of a Growatt inverter, as Grott publishes them. https://github.com/johanmeijer/grott/wiki/MQTT */
export const GROTT: Shape = {
  name: 'Grott',
  has: { device: 'text', time: 'time', buffered: 'value', values: 'object' },
  key: 'device',
  time: 'time',
  values: 'values',
};

/** Past values of a channel of Volkszähler: time and value in each tuple. https://wiki.volkszaehler.org/development/api/reference#data */
export const VOLKSZAEHLER: Shape = {
  name: 'Volkszähler',
  items: ['data', 'data[]'],
  each: 'tuples',
  has: { uuid: 'text', tuples: 'list' },
  isTable: true,
  key: 'uuid',
  unnamed: 'value',
  value: 'each.1',
  time: 'each.0',
};

/** Production and consumption of an Envoy, each by several meters. https://enphase.com/download/iq-gateway-access-using-local-apis-or-local-ui-token-based-authentication-tech-brief (production.json) */
export const ENPHASE: Shape = {
  name: 'Enphase',
  has: { 'production.0.type': 'text', 'production.0.wNow': 'number' },
  time: 'production.1.readingTime|production.0.readingTime',
  values: '',
  numbered: true,
  omit: ['*.type', '*.activeCount', '*.measurementType', '*.readingTime'],
};
