import type { Shape } from '../types';

/** Past values of items. https://www.zabbix.com/documentation/current/en/manual/api/reference/history/get (its example, read in a test of the client pybix) */
export const ZABBIX: Shape = {
  name: 'Zabbix',
  items: ['result[]', '[]'],
  has: { itemid: 'text', clock: 'time', value: 'value' },
  isTable: true,
  column: 'itemid',
  value: 'value',
  time: 'clock',
};

/** Values of a plugin of collectd, each with its name: JSON of its plugin Write HTTP, read in what clients send and test. */
export const COLLECTD: Shape = {
  name: 'collectd',
  items: ['[]', ''],
  has: { dsnames: 'list', values: 'list', plugin: 'text', time: 'time' },
  key: 'host',
  column: ['plugin', 'plugin_instance', 'type', 'type_instance'],
  time: 'time',
  values: 'values',
  names: 'dsnames',
};

/** Past values of a PI point, as the PI Web API answers them (streams, interpolated and recorded), read in what clients document and test. */
export const PI: Shape = {
  name: 'PI',
  items: ['Items[]'],
  has: { Timestamp: 'time', Value: 'any', Good: 'value' },
  isTable: true,
  unnamed: 'Value',
  value: 'Value',
  time: 'Timestamp',
  quality: 'Good',
};

/** The value of a PI point now. */
export const PI_VALUE: Shape = {
  ...PI,
  items: undefined,
  has: { Timestamp: 'time', Value: 'any', Good: 'value', UnitsAbbreviation: 'any' },
  isTable: undefined,
};

/** Values of several PI points. (stream sets) */
export const PI_SEVERAL: Shape = {
  name: 'PI',
  items: ['Items[]'],
  has: { Name: 'text', 'Value.Timestamp': 'time', 'Value.Good': 'value' },
  column: 'Name',
  value: 'Value.Value',
  time: 'Value.Timestamp',
  quality: 'Value.Good',
};
