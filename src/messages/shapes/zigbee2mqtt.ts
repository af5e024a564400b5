import type { Shape } from '../types';

/** What a device publishes under its name, which may have slashes, with the base topic of the documentation. https://github.com/Koenkk/zigbee2mqtt.io/blob/master/docs/guide/usage/mqtt_topics_and_messages.md */
export const ZIGBEE2MQTT: Shape = {
  name: 'Zigbee2MQTT',
  topics: [/^zigbee2mqtt\/(?!bridge\/)(?<key>.+)(?<!\/(?:availability|set|get))$/],
  has: { '': 'object' },
  values: '',
  omit: ['update', 'update_available'],
};

/** Whether a device is there. (availability) */
export const ZIGBEE2MQTT_AVAILABILITY: Shape = {
  name: 'Zigbee2MQTT',
  topics: [/^zigbee2mqtt\/(?!bridge\/)(?<key>.+)\/(?<column>availability)$/],
  has: { 'state|': 'text' },
  value: 'state|',
};

/** What the bridge says of itself, and what devices are asked for: no readings. (bridge, set, get) */
export const ZIGBEE2MQTT_BRIDGE: Shape = {
  name: 'Zigbee2MQTT',
  topics: [/^zigbee2mqtt\/(?:bridge\/.+|.+\/(?:set|get)(?:\/.+)?)$/],
  items: ['msg.topic'],
  has: { '': 'text' },
};
