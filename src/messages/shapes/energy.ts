import type { Shape } from '../types';

/** Power flow and inverter data of the Solar API. https://github.com/home-assistant/core/tree/dev/tests/components/fronius/fixtures */
export const FRONIUS: Shape = {
  name: 'Fronius',
  has: { 'Head.Timestamp': 'time', 'Body.Data': 'object' },
  time: 'Head.Timestamp',
  values: 'Body.Data',
  omit: ['*.Unit', '*.DT', 'Version', 'DeviceStatus'],
};

/** Registers of a Growatt inverter, as Grott publishes them. https://github.com/johanmeijer/grott/blob/master/grottdata.py (jsonobj) */
export const GROTT: Shape = {
  name: 'Grott',
  has: { device: 'text', time: 'time', buffered: 'value', values: 'object' },
  key: 'device',
  time: 'time',
  values: 'values',
};

/** Past values of a channel of Volkszähler: time and value in each tuple. https://github.com/volkszaehler/volkszaehler.org/blob/master/lib/View/JSON.php */
export const VOLKSZAEHLER: Shape = {
  name: 'Volkszähler',
  items: ['data', 'data[]'],
  each: 'tuples',
  has: { uuid: 'text', tuples: 'list' },
  isTable: true,
  key: 'uuid',
  unnamed: 'value',
  value: 'each.1',
  time: 'each.0',
};

/** Production and consumption of an Envoy, each by several meters. https://github.com/pyenphase/pyenphase/blob/main/docs/json_data/production.json */
export const ENPHASE: Shape = {
  name: 'Enphase',
  has: { 'production.0.type': 'text', 'production.0.wNow': 'number' },
  time: 'production.1.readingTime|production.0.readingTime',
  values: '',
  numbered: true,
  omit: ['*.type', '*.activeCount', '*.measurementType', '*.readingTime'],
};

/** Inverters of OpenDTU, where the query names one. https://github.com/tbnobody/OpenDTU-docs/blob/main/docs/firmware/web_api.md (livedata/status) */
export const OPENDTU: Shape = {
  name: 'OpenDTU',
  items: ['inverters[]'],
  has: { serial: 'text', AC: 'object', data_age: 'number' },
  key: 'serial',
  values: '',
  omit: ['serial', 'name', 'order', 'data_age', 'poll_enabled', 'events', '*.name'],
};

/** The same over MQTT: a value of an inverter. https://github.com/tbnobody/OpenDTU-docs/blob/main/docs/firmware/mqtt_topics.md */
export const OPENDTU_VALUE: Shape = {
  name: 'OpenDTU',
  topics: [/^solar\/(?<key>\d{12})\/(?<column>.+)$/],
  has: { '': 'value' },
  value: '',
  omit: ['name', 'status/last_update'],
};

/** A value of an inverter by AhoyDTU: `ch0/P_AC`. https://github.com/lumapu/ahoy/blob/main/manual/User_Manual.md */
export const AHOY_DTU: Shape = {
  name: 'AhoyDTU',
  topics: [/^[^/]+\/(?<key>[^/]+)\/(?<column>ch\d\/[A-Za-z_]+)$/],
  has: { '': 'value' },
  value: '',
};

/** A value of SolarAssistant. The topics were read in scripts of others. */
export const SOLAR_ASSISTANT: Shape = {
  name: 'SolarAssistant',
  topics: [/^solar_assistant\/(?<key>[^/]+)\/(?<column>[^/]+)\/state$/],
  has: { '': 'value' },
  value: '',
};

/** What SolaX Cloud knows of an inverter; its upload time is in a zone that it does not name, and is left out. Read in tests of clients. */
export const SOLAX: Shape = {
  name: 'SolaX',
  has: { 'result.inverterSN': 'text', 'result.acpower': 'any', success: 'value' },
  key: 'result.inverterSN',
  values: 'result',
  omit: ['inverterSN', 'sn', 'inverterType', 'uploadTime'],
};

/**
 * Power or energy of a site, in its local time; the unit is the column. Monitoring API:
 * https://knowledge-center.solaredge.com/sites/kc/files/se_monitoring_api.pdf (site power, site energy)
 */
export const SOLAREDGE: Shape = {
  name: 'SolarEdge',
  items: ['power.values[]', 'energy.values[]'],
  has: {
    date: 'time',
    value: 'any',
    'payload.power.timeUnit|payload.energy.timeUnit': 'text',
    'payload.power.unit|payload.energy.unit': 'text',
  },
  isTable: true,
  column: 'payload.power.unit|payload.energy.unit',
  value: 'value',
  time: 'date',
};

/** The same of each meter, such as Production and Consumption. (site power and site energy, detailed) */
export const SOLAREDGE_DETAILS: Shape = {
  name: 'SolarEdge',
  items: ['powerDetails.meters[]', 'energyDetails.meters[]'],
  each: 'values',
  has: { type: 'text', values: 'list', 'payload.powerDetails.unit|payload.energyDetails.unit': 'text' },
  isTable: true,
  column: ['type', 'payload.powerDetails.unit|payload.energyDetails.unit'],
  value: 'each.value',
  time: 'each.date',
};

/** A value of Venus OS; an empty payload says that the device is gone. https://github.com/victronenergy/dbus-flashmq#notifications (and keep-alive) */
export const VICTRON: Shape = {
  name: 'Victron',
  topics: ['N/{key}/{column}'],
  has: { 'value|': 'any' },
  value: 'value|',
  omit: ['full_publish_completed', 'heartbeat', 'keepalive'],
};

/**
 * Meter values of a charging station: the call as it is sent, or what it carries. A value that does not say what it measures
 * is the energy taken from the grid. The node CS Server has it in `data`, with the station beside the payload.
 * https://github.com/argonne-vci/node-red-contrib-ocpp/blob/master/ocpp/ocpp-server.js,
 * https://github.com/lorenzodonini/ocpp-go/blob/master/ocpp1.6/types/types.go (MeterValue, SampledValue)
 */
export const OCPP: Shape = {
  name: 'OCPP',
  items: ['meterValue[]', '3.meterValue[]', 'data.meterValue[]'],
  each: 'sampledValue',
  has: { timestamp: 'time', sampledValue: 'list' },
  key: [
    'msg.ocpp.chargeBoxIdentity',
    'payload.connectorId|payload.3.connectorId|payload.data.connectorId|payload.evseId|payload.3.evseId|payload.evse.id|payload.3.evse.id',
  ],
  column: ['each.measurand', 'each.phase'],
  apart: 'each.location',
  unnamed: 'Energy.Active.Import.Register',
  value: 'each.value',
  time: 'timestamp',
};
