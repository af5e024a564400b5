import type { Shape } from '../types';

/**
 * An uplink of The Things Stack.
 * https://github.com/TheThingsIndustries/lorawan-stack-docs/blob/master/doc/content/integrations/data-formats/_index.md
 */
export const THE_THINGS_STACK: Shape = {
  name: 'The Things Stack',
  has: {
    'end_device_ids.device_id': 'text',
    uplink_message: 'object',
  },
  key: 'end_device_ids.device_id',
  time: 'uplink_message.received_at|received_at',
  values: 'uplink_message.decoded_payload|uplink_message.normalized_payload.0',
  raw: 'uplink_message.frm_payload',
};

/** An uplink of ChirpStack 4. https://www.chirpstack.io/docs/chirpstack/integrations/events.html (up) */
export const CHIRPSTACK: Shape = {
  name: 'ChirpStack',
  has: { 'deviceInfo.devEui': 'text', 'object|data|fCnt|rxInfo': 'any' },
  key: 'deviceInfo.devEui',
  time: 'time',
  values: 'object',
  raw: 'data',
};

/** Margin and battery of a device of ChirpStack 4. (status) */
export const CHIRPSTACK_STATUS: Shape = {
  name: 'ChirpStack',
  has: { 'deviceInfo.devEui': 'text', margin: 'number', 'batteryLevel|batteryLevelUnavailable': 'value' },
  key: 'deviceInfo.devEui',
  time: 'time',
  values: '',
  omit: ['deduplicationId', 'time', 'deviceInfo'],
};

/**
 * An uplink of ChirpStack 3, whose decoded values are JSON in text.
 * https://github.com/brocaar/chirpstack-docs/blob/master/docs/application-server/integrations/events.md (up)
 */
export const CHIRPSTACK_3: Shape = {
  name: 'ChirpStack',
  has: { devEUI: 'text', applicationID: 'any', 'object|objectJSON|data|fCnt': 'any' },
  key: 'deviceName|devEUI',
  time: 'publishedAt|time|rxInfo.0.time',
  values: 'object|objectJSON',
  raw: 'data',
};

/** An uplink of ThingPark by Actility, decoded by a driver. https://docs.thingpark.com/thingpark-x/latest/Message/uplink-message */
export const THINGPARK: Shape = {
  name: 'ThingPark',
  has: { 'DevEUI_uplink.DevEUI': 'text' },
  key: 'DevEUI_uplink.DevEUI',
  time: 'DevEUI_uplink.Time',
  values: 'DevEUI_uplink.payload',
  raw: 'DevEUI_uplink.payload_hex',
};

/** An uplink of Loriot, decoded. Its envelope (`cmd`, `EUI`, `ts`) was read in messages that applications of others have logged. */
export const LORIOT: Shape = {
  name: 'Loriot',
  has: { cmd: 'text', EUI: 'text', ts: 'time', 'decoded|object|data': 'any' },
  key: 'EUI',
  time: 'ts',
  values: 'decoded|object',
  raw: 'data',
};

/** An uplink of The Things Network 2. https://www.thethingsnetwork.org/docs/applications/mqtt/api (uplink messages) */
export const THE_THINGS_NETWORK: Shape = {
  name: 'The Things Network',
  has: { app_id: 'text', dev_id: 'text', 'payload_fields|payload_raw': 'any' },
  key: 'dev_id',
  time: 'metadata.time',
  values: 'payload_fields',
  raw: 'payload_raw',
};
