import type { Shape } from '../types';

/**
 * A weather forecast in lists of one length, in local time with its zone beside.
 * https://github.com/open-meteo/open-meteo-website/blob/main/src/lib/components/code/docs/weather-forecast-object.svx
 */
export const OPEN_METEO: Shape = {
  name: 'Open-Meteo',
  items: ['hourly', 'minutely_15', 'daily'],
  isEvery: true,
  inLists: true,
  has: { time: 'list', 'payload.latitude': 'number' },
  isTable: true,
  time: 'time',
  offset: 'payload.utc_offset_seconds',
  values: '',
  omit: ['time'],
};

/** The weather now, where no forecast stands beside it. */
export const OPEN_METEO_CURRENT: Shape = {
  name: 'Open-Meteo',
  items: ['current'],
  has: { time: 'time', 'payload.latitude': 'number', 'payload.utc_offset_seconds': 'number' },
  lacks: ['payload.hourly', 'payload.minutely_15', 'payload.daily'],
  time: 'time',
  offset: 'payload.utc_offset_seconds',
  values: '',
  omit: ['time', 'interval'],
};

const START = 'start|startsAt|start_time|time_start|start_timestamp|valid_from|from|startTime|hour';

/**
 * Prices by the hour or less.
 * https://github.com/ottopaulsen/node-red-contrib-power-saver/blob/main/docs/nodes/ps-receive-price.md (priceData, Tibber),
 * https://github.com/mampfes/ha_epex_spot/blob/main/README.md (data),
 * https://github.com/BottlecapDave/HomeAssistant-OctopusEnergy/tree/develop/tests/integration (results),
 * https://github.com/custom-components/nordpool/blob/master/README.md (raw_today),
 * https://github.com/MEscape/die-macher/blob/main/docs/17_Awattar_Marktdaten.md (aWATTar)
 */
export const PRICES: Shape = {
  name: 'prices',
  items: [
    '[]',
    'priceData[]',
    'today[]',
    'tomorrow[]',
    'raw_today[]',
    'raw_tomorrow[]',
    'results[]',
    'data[]',
    'prices[]',
    ...['today', 'tomorrow'].flatMap((day) => [
      `viewer.homes[].currentSubscription.priceInfo.${day}[]`,
      `data.viewer.homes[].currentSubscription.priceInfo.${day}[]`,
    ]),
    'attributes.raw_today[]',
    'attributes.raw_tomorrow[]',
  ],
  isEvery: true,
  has: {
    [START]: 'time',
    'value|price|total|marketprice|value_inc_vat|SEK_per_kWh|NOK_per_kWh|EUR_per_kWh|price_per_kwh|price_ct_per_kwh|price_eur_per_mwh':
      'number',
  },
  isTable: true,
  time: START,
  values: '',
  omit: [
    'up',
    ...START.split('|'),
    'end',
    'endsAt',
    'end_time',
    'time_end',
    'end_timestamp',
    'valid_to',
    'to',
    'endTime',
  ],
};

/** Prices in lists of one length, with their seconds. https://api.energy-charts.info/ (price) */
export const ENERGY_CHARTS: Shape = {
  name: 'prices',
  inLists: true,
  has: { unix_seconds: 'list', price: 'list' },
  isTable: true,
  time: 'unix_seconds',
  values: '',
  omit: ['unix_seconds'],
};

/** Power of a photovoltaic plant, by the local time. https://github.com/home-assistant-libs/forecast_solar/blob/main/tests/fixtures/forecast.json */
export const FORECAST_SOLAR: Shape = {
  name: 'Forecast.Solar',
  items: ['result', ''],
  inTimes: true,
  has: { watts: 'object' },
  isTable: true,
  time: 'time',
  values: '',
  omit: ['time', 'watt_hours_day'],
};

/**
 * Power of a photovoltaic plant, by the end of each period, or its start as the integration of Home Assistant has it.
 * https://github.com/BJReplay/ha-solcast-solar/blob/main/README.md (detailedForecast)
 */
export const SOLCAST: Shape = {
  name: 'Solcast',
  items: [
    'forecasts[]',
    '[]',
    ...[
      'detailedForecast[]',
      'detailedHourly[]',
      'attributes.detailedForecast[]',
      'attributes.detailedHourly[]',
    ],
  ],
  has: { 'period_start|period_end': 'time', 'pv_estimate|ghi': 'number' },
  isTable: true,
  time: 'period_start|period_end',
  values: '',
  omit: ['period_start', 'period_end', 'period'],
};

/** A forecast by the hour or by three hours. https://openweathermap.org/forecast5, https://openweathermap.org/api/one-call-3 */
export const OPEN_WEATHER_MAP: Shape = {
  name: 'OpenWeatherMap',
  items: ['list[]', 'hourly[]'],
  has: { dt: 'number', 'main.temp|temp': 'number' },
  isTable: true,
  time: 'dt',
  values: '',
  omit: ['dt', 'dt_txt', 'weather'],
};

/** A forecast of MET Norway. https://github.com/metno/weatherapi-docs/blob/master/doc/ForecastJSON.md */
export const MET_NORWAY: Shape = {
  name: 'MET Norway',
  items: ['properties.timeseries[]'],
  has: { time: 'time', 'data.instant.details': 'object' },
  isTable: true,
  time: 'time',
  values: 'data.instant.details',
};

/** Prices of Nord Pool by their delivery, in one column for each area. https://github.com/home-assistant/core/tree/dev/tests/components/nordpool/fixtures (delivery_period) */
export const NORD_POOL: Shape = {
  name: 'prices',
  items: ['multiAreaEntries[]', 'multiIndexEntries[]'],
  has: { deliveryStart: 'time', entryPerArea: 'object' },
  isTable: true,
  time: 'deliveryStart',
  values: 'entryPerArea',
};

const MARKET = ['Publication_MarketDocument', 'GL_MarketDocument'];

/**
 * Prices, load or generation of ENTSO-E, through the node xml. Each point says which it is from the start of its period on.
 * https://github.com/EnergieID/entsoe-py/blob/master/entsoe/parsers.py
 */
export const ENTSO_E: Shape = {
  name: 'ENTSO-E',
  items: MARKET.flatMap((root) => [
    `${root}.TimeSeries.Period`,
    `${root}.TimeSeries.Period[]`,
    `${root}.TimeSeries[].Period[]`,
  ]),
  each: 'Point',
  has: { 'timeInterval.start': 'time', resolution: 'text', Point: 'list' },
  isTable: true,
  time: 'timeInterval.start',
  step: { by: 'resolution', place: 'each.position' },
  values: 'each',
  omit: ['position'],
};

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
