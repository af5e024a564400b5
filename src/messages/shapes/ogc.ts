import type { Shape } from '../types';

const OMIT = [
  'phenomenonTime',
  'resultTime',
  'validTime',
  'resultQuality',
  'parameters',
  '@iot.id',
  '*@iot.selfLink',
  '*@iot.navigationLink',
];

/** An observation of the SensorThings API, over MQTT on the topic of its data stream. https://github.com/FraunhoferIOSB/FROST-Server/blob/v2.x/docs/extensions/MqttExpand.md */
export const SENSOR_THINGS: Shape = {
  name: 'SensorThings',
  topics: [/Datastreams\((?<key>[^)]+)\)/, /(?:)/],
  has: { phenomenonTime: 'time', result: 'any' },
  time: 'phenomenonTime',
  values: '',
  omit: OMIT,
};

/** Past observations, as a query answers them. */
export const SENSOR_THINGS_LIST: Shape = {
  ...SENSOR_THINGS,
  topics: undefined,
  items: ['value[]'],
  isTable: true,
};

/** Features of GeoJSON, or one: their properties, and of each its station or id as the key. An observation has an id of its own. https://www.rfc-editor.org/rfc/rfc7946#section-3.3 */
export const GEOJSON: Shape = {
  name: 'GeoJSON',
  items: ['features[]', ''],
  has: { type: 'text', properties: 'object', geometry: 'any' },
  lacks: ['properties.periods', 'properties.timeseries'],
  key: 'properties.station|id|properties.id|properties.name',
  values: 'properties',
};
