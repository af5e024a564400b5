import type { Shape } from '../types';

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
