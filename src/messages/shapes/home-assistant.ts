import type { Shape } from '../types';

/**
 * A change of a state, as the node "events: state" has it in `msg.data`, or as an event of the WebSocket API.
 * https://github.com/zachowj/node-red-contrib-home-assistant-websocket/blob/main/docs/node/events-state.md,
 * https://developers.home-assistant.io/docs/api/websocket (state_changed)
 */
export const HOME_ASSISTANT: Shape = {
  name: 'Home Assistant',
  items: [
    'msg.data.new_state',
    'data.new_state',
    'event.data.new_state',
    'event.new_state',
    'new_state',
    'msg.data',
    '',
  ],
  has: { entity_id: 'text', state: 'value', 'last_changed|last_updated': 'time' },
  column: 'entity_id',
  value: 'state',
  time: 'last_changed|last_updated',
};

/** What the integration MQTT Statestream publishes with the base topic of its documentation. https://github.com/home-assistant/core/blob/dev/homeassistant/components/mqtt_statestream/__init__.py */
export const HOME_ASSISTANT_STATESTREAM: Shape = {
  name: 'Home Assistant',
  topics: [/^homeassistant\/(?<column>[a-z_]+\/[^/]+)\/state$/],
  has: { '': 'value' },
  value: '',
};

/** A sensor of ESPHome on its own topic. https://esphome.io/components/mqtt/ (MQTTComponent) */
export const ESPHOME: Shape = {
  name: 'ESPHome',
  topics: [
    /^(?!homeassistant\/)(?<key>[^/]+)\/(?:sensor|binary_sensor|text_sensor|switch|number)\/(?<column>[^/]+)\/state$/,
  ],
  has: { '': 'value' },
  value: '',
};

/**
 * Past states, one per row: the node "get history", the history of the REST API, and the CSV that the history panel
 * exports. Of one entity after the other the first row alone may have its name.
 * https://github.com/zachowj/node-red-contrib-home-assistant-websocket/blob/main/docs/node/get-history.md,
 * https://developers.home-assistant.io/docs/api/rest/ (history/period)
 */
export const HOME_ASSISTANT_HISTORY: Shape = {
  name: 'Home Assistant history',
  items: ['[]', 'result[]'],
  has: { entity_id: 'text', state: 'any', 'last_changed|last_updated': 'time' },
  isTable: true,
  carries: ['entity_id'],
  column: 'entity_id',
  value: 'state',
  time: 'last_changed|last_updated',
};

/**
 * Past states by the WebSocket API, in its compressed form: `s` is the state, `lu` when it was updated.
 * https://github.com/home-assistant/core/blob/dev/tests/components/history/test_websocket_api.py (history_during_period)
 */
export const HOME_ASSISTANT_COMPRESSED: Shape = {
  name: 'Home Assistant history',
  byColumn: true,
  has: { s: 'text', 'lc|lu': 'number' },
  isTable: true,
  value: 's',
  time: 'lc|lu',
};

/**
 * Statistics of the recorder by hour or five minutes.
 * https://github.com/home-assistant/core/blob/dev/tests/components/sensor/test_recorder.py (statistics_during_period)
 */
export const HOME_ASSISTANT_STATISTICS: Shape = {
  name: 'Home Assistant history',
  byColumn: true,
  has: { start: 'time', end: 'time', 'mean|sum|state|change|min|max': 'value' },
  isTable: true,
  time: 'start',
  values: '',
  omit: ['start', 'end', 'last_reset'],
};

/** An attribute that a Zigbee device has changed, as the integration ZHA fires it. https://www.home-assistant.io/integrations/zha/ (zha_event) */
export const ZHA: Shape = {
  name: 'ZHA',
  items: ['data', 'event.data', 'event', ''],
  has: { device_ieee: 'text', 'args.attribute_name': 'text', 'args.value': 'value' },
  key: 'device_ieee',
  column: 'args.attribute_name',
  value: 'args.value',
  time: 'payload.time_fired|payload.event.time_fired',
};

/** An attribute of a Matter device, as the Matter server tells of it: node, path and value. https://github.com/home-assistant-libs/python-matter-server/blob/main/docs/websockets_api.md */
export const MATTER: Shape = {
  name: 'Matter',
  has: { event: 'text', 'data.0': 'number', 'data.1': 'text', 'data.2': 'value' },
  key: 'data.0',
  column: 'data.1',
  value: 'data.2',
};

/** Past states, as the node "get history" has them. https://github.com/ioBroker/ioBroker.history/blob/master/README.md (getHistory) */
export const IOBROKER_HISTORY: Shape = {
  name: 'ioBroker',
  topics: [/^(?<column>.+)$/, /^$/],
  items: ['result[]', '[]'],
  has: { val: 'any', ts: 'time', 'ack|q|lc|from': 'value' },
  isTable: true,
  unnamed: 'value',
  value: 'val',
  time: 'ts',
};

/** A state of ioBroker on the topic of its name, with when it was set. https://www.iobroker.net/#en/documentation/dev/objectsschema.md (states) */
export const IOBROKER: Shape = {
  name: 'ioBroker',
  topics: [/^(?<column>.+)$/],
  has: { val: 'value', ack: 'value', ts: 'time' },
  value: 'val',
  time: 'ts',
};
