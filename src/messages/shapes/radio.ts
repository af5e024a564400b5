import type { Shape } from '../types';

/** What a receiver of rtl_433 decodes, of many devices on one topic. https://triq.org/rtl_433/DATA_FORMAT.html */
export const RTL_433: Shape = {
  name: 'rtl_433',
  topics: [/^rtl_433\//],
  has: { time: 'time', model: 'text', id: 'value' },
  key: 'id',
  time: 'time',
  values: '',
  omit: ['id', 'time', 'model', 'mic', 'mod'],
};

/** A change of a Zigbee device by deCONZ; its times are in UTC without saying so, and are left out. https://dresden-elektronik.github.io/deconz-rest-doc/endpoints/websocket/ */
export const DECONZ: Shape = {
  name: 'deCONZ',
  has: { e: 'text', r: 'text', id: 'text', state: 'object' },
  key: 'uniqueid|id',
  values: 'state',
  omit: ['lastupdated'],
};
