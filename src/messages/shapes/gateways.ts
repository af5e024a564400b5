import type { Shape } from '../types';

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
