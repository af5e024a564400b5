import type { Shape } from '../types';

/**
 * A property that the node BACnet Read has read: object type, instance and property are its column (`0.3.85` is the present
 * value of analog input 3). https://github.com/BiancoRoyal/node-red-contrib-bacnet,
 * https://github.com/fh1ch/node-bacstack (readProperty)
 */
export const BACNET: Shape = {
  name: 'BACnet',
  has: {
    'objectId.type': 'number',
    'objectId.instance': 'number',
    'property.id': 'number',
    'values.0.value': 'value',
  },
  column: ['objectId.type', 'objectId.instance', 'property.id'],
  value: 'values.0.value',
};

/** Several properties of several objects. (readPropertyMultiple) */
export const BACNET_MULTIPLE: Shape = {
  name: 'BACnet',
  items: ['values[]'],
  each: 'values',
  has: { 'objectId.type': 'number', 'objectId.instance': 'number', 'values.0.id': 'number', values: 'list' },
  column: ['objectId.type', 'objectId.instance', 'each.id'],
  value: 'each.value.0.value',
};
