import type { Shape } from '../types';

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
