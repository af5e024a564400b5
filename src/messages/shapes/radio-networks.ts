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

/**
 * The uplinks that the storage integration of The Things Stack has kept, a line each.
 * https://github.com/TheThingsIndustries/lorawan-stack-docs/blob/master/doc/content/integrations/storage/retrieve.md
 */
export const THE_THINGS_STACK_STORAGE: Shape = {
  name: 'The Things Stack',
  items: ['[]', ''],
  has: {
    'result.end_device_ids.device_id': 'text',
    'result.uplink_message': 'object',
  },
  isTable: true,
  key: 'result.end_device_ids.device_id',
  time: 'result.uplink_message.received_at|result.received_at',
  values: 'result.uplink_message.decoded_payload|result.uplink_message.normalized_payload.0',
  raw: 'result.uplink_message.frm_payload',
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

/** A Bluetooth device, heard by OpenMQTTGateway or Theengs Gateway, under its address. https://github.com/1technophile/OpenMQTTGateway/blob/development/docs/use/ble.md */
export const THEENGS: Shape = {
  name: 'Theengs',
  topics: [/\/BTtoMQTT\/(?<key>[^/]+)$/],
  has: { id: 'text', rssi: 'number' },
  values: '',
  omit: ['id', 'mac_type', 'mac', 'mfid', 'manufacturerdata', 'servicedata', 'servicedatauuid', 'uuid'],
};

/** How far a Bluetooth device is from a room: `office.distance`. The names were read in tests of clients. */
export const ESPRESENSE: Shape = {
  name: 'ESPresense',
  topics: ['espresense/devices/{key}/{column}'],
  has: { rssi: 'number', distance: 'number' },
  values: '',
  omit: ['mac', 'id', 'name'],
};

/** A meter on wireless M-Bus, as wmbusmeters decodes it. https://github.com/wmbusmeters/wmbusmeters/blob/master/src/driver_sharky.cc (tests) */
export const WMBUSMETERS: Shape = {
  name: 'wmbusmeters',
  has: { media: 'text', meter: 'text', name: 'text', id: 'text', timestamp: 'time' },
  key: 'id',
  time: 'timestamp',
  values: '',
  omit: ['_', 'media', 'meter', 'name', 'id', 'timestamp', 'device', 'rssi_dbm'],
};

/** A message of a heating bus: its fields under its name (`FlowTemp.temp`). Read in tests of clients of ebusd. */
export const EBUSD: Shape = {
  name: 'ebusd',
  topics: ['ebusd/{key}/{column}'],
  has: { '': 'object' },
  values: '',
};

/** A tracker of Teltonika: its numbered elements. Read in clients of its MQTT. */
export const TELTONIKA: Shape = {
  name: 'Teltonika',
  topics: [/^(?<key>\d{15})\/data$/],
  has: { 'state.reported': 'object' },
  time: 'state.reported.ts',
  values: 'state.reported',
  omit: ['ts'],
};

/** A callback of Sigfox with what its payload was configured to be. https://github.com/OS2iot/OS2iot-backend/blob/master/src/entities/dto/sigfox/sigfox-callback.dto.ts */
export const SIGFOX: Shape = {
  name: 'Sigfox',
  has: { 'device|deviceId': 'text', seqNumber: 'value', 'time|timestamp': 'time' },
  key: 'device|deviceId',
  time: 'time|timestamp',
  values: '',
  raw: 'data',
  omit: [
    'device',
    'deviceId',
    'deviceTypeId',
    'seqNumber',
    'time',
    'timestamp',
    'data',
    'station',
    'ack',
    'longPolling',
  ],
};

/** An uplink of the Helium Console, decoded. https://docs.helium.com/console/integrations/json-schema (uplink) */
export const HELIUM: Shape = {
  name: 'Helium',
  has: { dev_eui: 'text', reported_at: 'time', fcnt: 'number', 'decoded.payload|payload': 'any' },
  lacks: ['decoded.payload.0'],
  key: 'dev_eui',
  time: 'reported_at',
  values: 'decoded.payload',
  raw: 'payload',
};

/** The same by its decoder of Cayenne LPP: of two values of one name, the unit tells the second. */
export const HELIUM_CAYENNE: Shape = {
  name: 'Helium',
  each: 'decoded.payload',
  has: { dev_eui: 'text', reported_at: 'time', 'decoded.payload.0.name': 'text' },
  key: 'dev_eui',
  time: 'reported_at',
  column: 'each.name',
  apart: 'each.unit',
  value: 'each.value',
};

/** A resource that a device of LwM2M has sent, as Leshan tells its listeners of it: `/3303/0/5700` is its column. https://github.com/eclipse-leshan/leshan (leshan-demo-server: EventServlet) */
export const LESHAN: Shape = {
  name: 'LwM2M',
  has: { ep: 'text', res: 'text', val: 'any' },
  key: 'ep',
  time: 'timestamp|time',
  column: 'res',
  value: 'val.value|val',
};

/** A pack of SenML: records with base fields; of several units under one name, each is a column. https://www.rfc-editor.org/rfc/rfc8428 */
export const SENML: Shape = {
  name: 'SenML',
  items: ['[]'],
  has: { 'n|bn': 'text', 'v|vb|vs|bv|s': 'value' },
  carries: ['bn', 'bt', 'bv'],
  base: { column: 'bn', time: 'bt', value: 'bv' },
  column: 'n',
  apart: 'u',
  value: 'v|vb|vs|s',
  time: 't',
};
