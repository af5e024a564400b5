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

/** Features of devices of Viessmann, with what each of them knows now. https://github.com/home-assistant/core/blob/dev/tests/components/vicare/fixtures/ZigbeeRepeater.json */
export const VIESSMANN: Shape = {
  name: 'Viessmann',
  items: ['data[]'],
  has: { feature: 'text', properties: 'object', timestamp: 'time' },
  key: 'deviceId',
  column: 'feature',
  values: 'properties',
};
