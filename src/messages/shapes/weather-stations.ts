import type { Shape } from '../types';

const TEMPEST = { name: 'Tempest', key: 'serial_number', time: 'obs.0.0', values: 'obs.0' };

/** What a Tempest broadcasts each minute, by its place in a list. https://apidocs.tempestwx.com/reference/tempest-udp-broadcast (obs_st) */
export const TEMPEST_STATION: Shape = {
  ...TEMPEST,
  has: { serial_number: 'text', hub_sn: 'text', 'obs.0.17': 'value' },
  lacks: ['obs.1', 'obs.0.18'],
  names: [
    ...['time', 'wind lull', 'wind average', 'wind gust', 'wind direction', 'wind sample interval'],
    ...['station pressure', 'air temperature', 'relative humidity', 'illuminance', 'UV', 'solar radiation'],
    ...['rain', 'precipitation type', 'lightning distance', 'lightning count', 'battery', 'report interval'],
  ],
};

/** The same of an Air. https://weatherflow.github.io/Tempest/api/udp/v119 (obs_air) */
export const TEMPEST_AIR: Shape = {
  ...TEMPEST,
  has: { serial_number: 'text', hub_sn: 'text', 'obs.0.7': 'value' },
  lacks: ['obs.1', 'obs.0.8'],
  names: [
    ...['time', 'station pressure', 'air temperature', 'relative humidity', 'lightning count'],
    ...['lightning distance', 'battery', 'report interval'],
  ],
};

/** The same of a Sky. (obs_sky) */
export const TEMPEST_SKY: Shape = {
  ...TEMPEST,
  has: { serial_number: 'text', hub_sn: 'text', 'obs.0.13': 'value' },
  lacks: ['obs.1', 'obs.0.14'],
  names: [
    ...['time', 'illuminance', 'UV', 'rain', 'wind lull', 'wind average', 'wind gust', 'wind direction'],
    ...['battery', 'report interval', 'solar radiation', 'rain of the day', 'precipitation type'],
    'wind sample interval',
  ],
};

/** The wind every three seconds. (rapid_wind) */
export const TEMPEST_WIND: Shape = {
  ...TEMPEST,
  has: { serial_number: 'text', hub_sn: 'text', 'ob.2': 'value' },
  time: 'ob.0',
  values: 'ob',
  names: ['time', 'wind speed', 'wind direction'],
};

/** Conditions of a WeatherLink Live by its local API: columns by their place. https://weatherlink.github.io/weatherlink-live-local-api/ (current conditions) */
export const WEATHER_LINK: Shape = {
  name: 'WeatherLink',
  items: ['data'],
  has: { did: 'text', ts: 'number', conditions: 'list' },
  key: 'did',
  time: 'ts',
  values: 'conditions',
  numbered: true,
  omit: ['*.lsid', '*.data_structure_type', '*.txid'],
};

/** The newest values of a sensor of Sensor.Community, whose times are in UTC. https://github.com/opendata-stuttgart/meta/wiki/EN-APIs (data.json); the zone was seen in answers */
export const SENSOR_COMMUNITY: Shape = {
  name: 'Sensor.Community',
  items: ['[]'],
  each: 'sensordatavalues',
  has: { 'sensor.id': 'number', timestamp: 'time', sensordatavalues: 'list' },
  isTable: true,
  key: 'sensor.id',
  column: 'each.value_type',
  value: 'each.value',
  time: 'timestamp',
  offset: 0,
};
