import type { Shape } from '../types';

/** The first generation: one value on each topic. https://shelly-api-docs.shelly.cloud/gen1/#mqtt-support */
export const SHELLY_GEN1: Shape = {
  name: 'Shelly',
  topics: ['shellies/{key}/{column}'],
  has: { '': 'value' },
  value: '',
};

/** The same where it is an object, such as that of a button. (input_event) */
export const SHELLY_GEN1_OBJECT: Shape = {
  name: 'Shelly',
  topics: [/^shellies\/(?<key>[^/]+)\/(?<column>(?!(?:announce|info)$).+)$/],
  has: { '': 'object' },
  values: '',
};

/** What devices of both say of themselves and of their network: no readings. */
export const SHELLY_NOTICE: Shape = {
  name: 'Shelly',
  topics: [
    /^[^/]+\/status\/(?:sys|cloud|mqtt|ble|ws|wifi|eth|modbus|matter|bthome|knx|ui)$/,
    /^shellies\/(?:announce|[^/]+\/(?:announce|info))$/,
  ],
  items: ['msg.topic'],
  has: { '': 'text', 'msg.payload': 'object' },
};

/** Later generations: the status of one component. https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Mqtt */
export const SHELLY_STATUS: Shape = {
  name: 'Shelly',
  topics: ['{key}/status/{column}'],
  has: { id: 'number' },
  values: '',
  omit: ['id', 'source', '*.by_minute', '*.minute_ts'],
};

/** Later generations: the status of all components, as HTTP answers it, or an answer over MQTT. https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Shelly#shellygetstatus */
export const SHELLY_DEVICE: Shape = {
  name: 'Shelly',
  items: ['', 'result'],
  has: { 'sys.mac': 'text', 'sys.uptime': 'number' },
  key: 'payload.src|sys.mac',
  time: 'sys.unixtime',
  values: '',
  omit: [
    ...['sys', 'cloud', 'mqtt', 'ble', 'ws', 'wifi', 'eth', 'modbus', 'matter', 'bthome', 'knx'],
    ...['*.id', '*.source', '*.by_minute', '*.minute_ts'],
  ],
};

/** Later generations: the status of one component, as HTTP answers it. https://shelly-api-docs.shelly.cloud/gen2/ComponentsAndServices/Switch#status */
export const SHELLY_COMPONENT: Shape = {
  name: 'Shelly',
  topics: [/^(?!.*\/status\/)/],
  has: { id: 'number', 'aenergy.by_minute': 'list', 'aenergy.minute_ts': 'number' },
  values: '',
  omit: ['id', 'source', '*.by_minute', '*.minute_ts'],
};

/** Later generations: a notification of changes. https://shelly-api-docs.shelly.cloud/gen2/General/Notifications */
export const SHELLY_NOTIFICATION: Shape = {
  name: 'Shelly',
  has: { src: 'text', method: 'text', params: 'object' },
  key: 'src',
  time: 'params.ts',
  values: 'params',
  omit: ['ts', '*.id', '*.source', '*.by_minute', '*.minute_ts'],
};

/** The first generation: the whole status, as HTTP answers it. https://shelly-api-docs.shelly.cloud/gen1/#status */
export const SHELLY_GEN1_STATUS: Shape = {
  name: 'Shelly',
  topics: [/^(?!shellies\/)/],
  has: { unixtime: 'number', mac: 'text', wifi_sta: 'object' },
  key: 'mac',
  time: 'unixtime',
  values: '',
  numbered: true,
  omit: [
    ...['wifi_sta', 'cloud', 'mqtt', 'time', 'unixtime', 'serial', 'mac', 'update', 'has_update', 'uptime'],
    ...['cfg_changed_cnt', 'actions_stats', 'ram_total', 'ram_free', 'ram_lwm', 'fs_size', 'fs_free'],
    ...['*.timestamp', '*.counters', '*.is_valid', '*.source'],
  ],
};

/** The device, wherever its FullTopic has it. https://github.com/tasmota/docs/blob/master/docs/MQTT.md (MQTT topic definition) */
const TELEMETRY = [
  /^(?:[^/]+\/)?tele\/(?<key>.+)\/(?:SENSOR|STATE)$/,
  /^(?<key>.+)\/tele\/(?:SENSOR|STATE)$/,
];

/**
 * Telemetry, and the answer to Status 8 and 10.
 * https://github.com/tasmota/docs/blob/master/docs/JSON-Status-Responses.md,
 * https://github.com/tasmota/docs/blob/master/docs/DeepSleep.md (Epoch)
 */
export const TASMOTA: Shape = {
  name: 'Tasmota',
  topics: [
    ...TELEMETRY,
    /^(?:[^/]+\/)?stat\/(?<key>.+)\/STATUS(?:8|10)$/,
    /^(?<key>.+)\/stat\/STATUS(?:8|10)$/,
  ],
  items: ['StatusSNS', ''],
  has: { Time: 'time' },
  time: 'Time',
  values: '',
  omit: [
    'Time',
    'Epoch',
    'TempUnit',
    'PressureUnit',
    'SpeedUnit',
    'Uptime',
    'ENERGY.TotalStartTime',
    'Wifi.SSId',
    'Wifi.BSSId',
    'Wifi.Downtime',
  ],
};

/**
 * A Zigbee or LoRaWAN device behind a bridge: its values stand under its address, without a time.
 * https://github.com/tasmota/docs/blob/master/docs/Zigbee.md (ZbReceived),
 * https://github.com/tasmota/docs/blob/master/docs/LoRa-and-LoRaWan-Bridge.md (LwReceived)
 */
export const TASMOTA_BRIDGE: Shape = {
  name: 'Tasmota',
  topics: TELEMETRY.map((topic) => new RegExp(topic.source.replace('?<key>', '?:'))),
  items: ['ZbReceived{}', 'LwReceived{}'],
  has: { Device: 'text' },
  key: 'Name|Device',
  values: '',
  omit: ['Device', 'Name', 'IEEEAddr', 'ModelId', 'Endpoint', 'Group', 'entry', 'Node'],
};

/** What is switched on. https://github.com/tasmota/docs/blob/master/docs/MQTT.md (stat, RESULT) */
export const TASMOTA_RESULT: Shape = {
  name: 'Tasmota',
  topics: [/^(?:[^/]+\/)?stat\/(?<key>.+)\/RESULT$/, /^(?<key>.+)\/stat\/RESULT$/],
  has: { 'POWER|POWER1': 'text' },
  values: '',
};

/** What a device says of itself, and answers to commands: no readings. (INFO, STATUS, discovery) */
export const TASMOTA_NOTICE: Shape = {
  name: 'Tasmota',
  topics: [
    /^(?:.+\/)?tele\/(?:.+\/)?INFO[123]$/,
    /^(?:.+\/)?stat\/(?:.+\/)?(?:RESULT|STATUS(?!8$|10$)\d*)$/,
    /^tasmota\/discovery\/[^/]+\/(?:config|sensors)$/,
  ],
  items: ['msg.topic'],
  has: { '': 'text', 'msg.payload': 'object' },
  lacks: ['payload.POWER', 'payload.POWER1'],
};
