import type { Shape } from '../types';

/** What a receiver of rtl_433 decodes, of many devices on one topic: ids differ within a model. https://github.com/merbanan/rtl_433/blob/master/docs/DATA_FORMAT.md */
export const RTL_433: Shape = {
  name: 'rtl_433',
  topics: [/^rtl_433\//],
  has: { time: 'time', model: 'text' },
  key: ['model', 'channel', 'id'],
  time: 'time',
  values: '',
  omit: ['id', 'channel', 'time', 'model', 'mic', 'mod'],
};

/** A change of a Zigbee device by deCONZ; its times are in UTC without saying so, and are left out. https://github.com/dresden-elektronik/deconz-rest-doc/blob/master/docs/endpoints/websocket/index.md */
export const DECONZ: Shape = {
  name: 'deCONZ',
  has: { e: 'text', r: 'text', id: 'text', t: 'text' },
  key: 'uniqueid|id',
  values: 'state|config',
  omit: ['lastupdated'],
};

/**
 * What the node deconz-in has of a device, which stands beside the payload.
 * https://github.com/deconz-community/node-red-contrib-deconz/blob/main/src/runtime/OutputMsgFormatter.js
 */
export const DECONZ_NODE: Shape = {
  name: 'deCONZ',
  has: { '': 'object', 'msg.meta.uniqueid': 'text', 'msg.meta.state|msg.meta.config': 'object' },
  lacks: ['e'],
  key: 'msg.meta.uniqueid',
  values: '',
  omit: ['lastupdated'],
};

/** The same where the node is set to a single value of its state. */
export const DECONZ_NODE_VALUE: Shape = {
  name: 'deCONZ',
  has: { '': 'value', 'msg.meta.uniqueid': 'text', 'msg.payload_format': 'text' },
  key: 'msg.meta.uniqueid',
  column: 'msg.payload_format',
  value: '',
};
