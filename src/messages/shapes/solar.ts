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
