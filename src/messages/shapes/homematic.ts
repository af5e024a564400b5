import type { Shape } from '../types';

/**
 * A datapoint of a device of Homematic, which stands beside the payload: its channel and its name are the column.
 * https://github.com/rdmtc/node-red-contrib-ccu/blob/master/nodes/ccu-connection.js
 */
export const HOMEMATIC: Shape = {
  name: 'Homematic',
  has: { '': 'value', 'msg.iface': 'text', 'msg.device': 'text', 'msg.datapoint': 'text' },
  key: 'msg.deviceName|msg.device',
  column: ['msg.channelIndex', 'msg.datapoint'],
  value: '',
  time: 'msg.ts',
};

/** Features of a device of Viessmann, with what each of them knows now. Read in clients of others: the vendor's page was not opened. */
export const VIESSMANN: Shape = {
  name: 'Viessmann',
  items: ['data[]'],
  has: { feature: 'text', properties: 'object', timestamp: 'time' },
  column: 'feature',
  values: 'properties',
};
