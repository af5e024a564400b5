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

/** Stations and their modules. https://github.com/home-assistant/core/blob/dev/tests/components/netatmo/fixtures/getstationsdata.json */
export const NETATMO: Shape = {
  name: 'Netatmo',
  items: ['body.devices[]', 'body.devices[].modules[]'],
  isEvery: true,
  has: { _id: 'text', 'dashboard_data.time_utc': 'number' },
  key: 'module_name|station_name|_id',
  time: 'dashboard_data.time_utc',
  values: 'dashboard_data',
  omit: ['time_utc', 'date_min_temp', 'date_max_temp', 'date_max_wind_str'],
};

/** Past values of a module, whose names the query had: they go into the field Names. https://dev.netatmo.com/apidocumentation/weather (getmeasure, optimized); read in clients of others */
export const NETATMO_MEASURE: Shape = {
  name: 'Netatmo',
  items: ['body[]'],
  each: 'value',
  has: { beg_time: 'number', value: 'list' },
  isTable: true,
  time: 'beg_time',
  step: { by: 'step_time' },
  values: 'each',
};

/** Data points of a device by their numbers. https://github.com/jasonacox/tinytuya/blob/master/README.md (dps) */
export const TUYA: Shape = {
  name: 'Tuya',
  items: ['', 'data'],
  has: { 'devId|payload.devId|payload.deviceId': 'text', dps: 'object' },
  key: 'devId|payload.devId|payload.deviceId',
  time: 't|payload.t',
  values: 'dps',
};

/** A value of a Z-Wave device, as Z-Wave JS UI has it. https://github.com/zwave-js/zwave-js-ui/blob/master/api/lib/ZwaveClient.ts (ZUIValueId) */
export const ZWAVE: Shape = {
  name: 'Z-Wave JS',
  has: { nodeId: 'number', commandClass: 'number', property: 'value', value: 'value' },
  key: 'nodeId',
  column: ['commandClassName|commandClass', 'endpoint', 'propertyName|property', 'propertyKeyName'],
  value: 'value',
  time: 'lastUpdate',
};

/** The same as an event of the node Device. https://github.com/zwave-js/node-red-contrib-zwave-js/blob/master/Event%20Manual.md (VALUE_UPDATED) */
export const ZWAVE_EVENT: Shape = {
  name: 'Z-Wave JS',
  has: {
    event: 'text',
    nodeId: 'number',
    'eventBody.valueId': 'object',
    'eventBody.newValue|eventBody.value': 'value',
  },
  key: 'nodeId',
  column: [
    'eventBody.valueId.commandClassName|eventBody.valueId.commandClass',
    'eventBody.valueId.endpoint',
    'eventBody.valueId.propertyName|eventBody.valueId.property',
    'eventBody.valueId.propertyKeyName',
  ],
  value: 'eventBody.newValue|eventBody.value',
  time: 'timestamp',
};

/** A property of a device that keeps the Homie convention; its attributes, which begin with $, are no sensors. https://github.com/homieiot/convention/blob/develop/convention.md */
export const HOMIE: Shape = {
  name: 'Homie',
  topics: [/^homie\/(?:\d+\/)?(?<key>[^/$]+)\/(?<column>[^/$]+\/[^/$]+)$/, /^homie\/.*\$/],
  has: { '': 'any' },
  value: '',
};

/** A value of evcc: of a charging point, a vehicle or the site. https://github.com/evcc-io/evcc/blob/master/server/mqtt.go */
export const EVCC: Shape = {
  name: 'evcc',
  topics: [/^evcc\/(?<key>loadpoints\/\d+|vehicles\/[^/]+|site)\/(?<column>.+)$/],
  has: { '': 'value' },
  value: '',
};

/** Broadcasts of a sensor of Ruuvi, relayed by its gateway, which decodes them if it is set to. https://github.com/ruuvi/docs (ruuvi-gateway-firmware/data-formats/mqtt-time-stamped-data-from-bluetooth-sensors.md) */
export const RUUVI: Shape = {
  name: 'Ruuvi',
  topics: [/^(?:.*\/)?(?<key>[^/]+)$/],
  has: { gw_mac: 'text', rssi: 'number', data: 'text' },
  time: 'ts|gwts',
  values: '',
  omit: ['gw_mac', 'gwts', 'ts', 'data', 'coords', 'dataFormat', 'id'],
};

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

/**
 * A new state of an item, with the old one beside it. https://www.openhab.org/docs/developer/utils/events.html#the-core-events
 * (ItemStateEvent, ItemStateChangedEvent)
 */
export const OPENHAB: Shape = {
  name: 'openHAB',
  topics: [/^(?:openhab|smarthome)\/items\/(?<column>[^/]+)\/state(?:changed|updated)?$/],
  has: { type: 'text', value: 'value' },
  value: 'value',
};

/** The same as an event of the REST API, with its topic. https://www.openhab.org/docs/configuration/restdocs.html (events) */
export const OPENHAB_EVENT: Shape = {
  name: 'openHAB',
  has: { topic: 'text', type: 'text', payload: 'json' },
  message: 'payload',
};

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
