import type { Shape } from '../types';

/** Data and births of Sparkplug B, decoded. https://sparkplug.eclipse.org/specification/version/3.0/documents/sparkplug-specification-3.0.0.pdf (6.4) */
export const SPARKPLUG: Shape = {
  name: 'Sparkplug B',
  topics: [
    /^spBv1\.0\/[^/]+\/D(?:DATA|BIRTH)\/[^/]+\/(?<key>[^/]+)$/,
    /^spBv1\.0\/[^/]+\/N(?:DATA|BIRTH)\/(?<key>[^/]+)$/,
  ],
  items: ['metrics[]'],
  has: { name: 'text' },
  column: 'name',
  value: 'value',
  time: 'timestamp|payload.timestamp',
};

/** The same on another topic, as gateways publish it in JSON. */
export const SPARKPLUG_JSON: Shape = {
  name: 'Sparkplug B',
  topics: [/^(?!spBv1\.0\/)/],
  items: ['metrics[]'],
  has: {
    name: 'text',
    value: 'any',
    'dataType|datatype|type|payload.seq': 'any',
    'payload.timestamp': 'time',
  },
  column: 'name',
  value: 'value',
  time: 'timestamp|payload.timestamp',
};
