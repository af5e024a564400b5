import type { Shape } from '../types';

/** A weather forecast in lists of one length, in local time with its zone beside. https://open-meteo.com/en/docs */
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

const START = 'start|startsAt|start_time|time_start|start_timestamp|valid_from|from|startTime|hour';

/**
 * Prices by the hour or less. https://www.npmjs.com/package/node-red-contrib-power-saver (priceData),
 * https://developer.tibber.com/docs/reference#priceinfo, https://api.awattar.de (data),
 * https://developer.octopus.energy/rest (results), raw_today and raw_tomorrow of Nord Pool in Home Assistant
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
    'attributes.raw_today[]',
    'attributes.raw_tomorrow[]',
  ],
  isEvery: true,
  has: {
    [START]: 'time',
    'value|price|total|marketprice|value_inc_vat|SEK_per_kWh|NOK_per_kWh|EUR_per_kWh': 'number',
  },
  isTable: true,
  time: START,
  values: '',
  omit: [
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
