import type { Json } from '../contract-node-red';
import { type Case, csvOf } from './case';

const START = Date.UTC(2024, 2, 4, 6);
const MINUTE = 60_000;

/** Readings a minute apart. */
const readings = (count: number, more: Json = {}): Json[] =>
  Array.from({ length: count }, (_, i) => ({
    time: START + i * MINUTE,
    temperature: 60 + ((i * 7) % 11) / 2,
    valve: i % 6 < 3 ? 'open' : 'closed',
    alarm: i % 9 === 8,
    ...more,
  }));

const series = (name: string, settings: Json, ...give: Json[]): Case => ({
  name: `series ${name}`,
  node: 'series',
  settings,
  give,
});

const each = (rows: Json[], more: Json = {}): Json[] => rows.map((payload) => ({ payload, ...more }));
const VALUE = { outcome: 'column', column: 'temperature', ahead: '2m', windows: '3m' };
const EVENT = { outcome: 'event', column: 'alarm', value: 'true', ahead: '2m', windows: '3m' };

export const SERIES: Case[] = [
  series(
    'a value ahead, live',
    { ...VALUE, train: '4 rows', time: 'time' },
    ...each(readings(9), { topic: 'kept' }),
  ),
  series(
    'a value ahead, without the change',
    { ...VALUE, relative: false, calendar: 'off', train: '4 rows' },
    ...each(readings(7)),
  ),
  series(
    'a value ahead, with a calendar',
    { ...VALUE, calendar: 'on', timezone: 'America/New_York', train: 'never' },
    ...each(readings(5)),
  ),
  series('several times ahead', { ...VALUE, ahead: '1m, 3m', train: '5 rows' }, ...each(readings(6))),
  series('a range ahead', { ...VALUE, ahead: '1m..3m', train: '5 rows' }, ...each(readings(6))),
  series('a table of past readings', { ...VALUE, train: 'auto' }, { payload: readings(12), topic: 'kept' }),
  series('CSV of past readings', { ...VALUE, train: '5 rows' }, { payload: csvOf(readings(12)) }),
  series('an event', { ...EVENT, operator: '=', train: '5 rows' }, ...each(readings(12))),
  series(
    'an event of numbers',
    { ...EVENT, column: 'temperature', operator: '>=', value: '64', train: '5 rows' },
    { payload: readings(14) },
  ),
  series(
    'an outcome that is told',
    { outcome: 'message', windows: '3m', train: '2 rows' },
    ...each(readings(3)),
    { outcome: 'good', time: START },
    { outcome: 'bad', series: { id: `@${START + MINUTE}` } },
    { outcome: 'bad', key: 'nobody', time: START },
    { outcome: 'bad' },
  ),
  series('rows only', { outcome: 'none', windows: 'auto' }, ...each(readings(3))),
  series(
    'keys in a column',
    { ...VALUE, key: 'pump', train: 'never' },
    ...each(readings(2, { pump: 'a' })),
    ...each(readings(2, { pump: 'b' })),
    ...each(readings(1)),
  ),
  series(
    'keys in the message',
    { ...VALUE, key: 'machine.id', keyType: 'msg', train: 'never' },
    ...each(readings(2), { machine: { id: 7 } }),
  ),
  series(
    'keys in the topic',
    { ...VALUE, key: 'plant/+/#', keyType: 'topic', train: 'never' },
    ...each(readings(2), { topic: 'plant/p1/readings' }),
    { topic: 'plant/p1/alarm', payload: { alarm: true, time: START + 90_000 } },
    ...each(readings(1), { topic: 'elsewhere' }),
  ),
  series(
    'single values',
    { outcome: 'column', column: 'temperature', ahead: '2m', windows: '3m', train: 'never' },
    { topic: 'plant/p1/temperature', payload: { time: START, temperature: 61 } },
    { topic: 'plant/p1/temperature', payload: 'text that is long and is no table of any kind' },
  ),
  series(
    'late, repeated and unreadable readings',
    { ...VALUE, late: '2m', train: 'never' },
    ...each(readings(4)),
    { payload: { time: START + 2 * MINUTE, temperature: 50 } },
    { payload: { time: START + 2.5 * MINUTE, temperature: 51 } },
    { payload: { time: START - 60 * MINUTE, temperature: 52 } },
    { payload: { time: 'yesterday, perhaps', temperature: 53 } },
    { payload: { time: START + 5 * MINUTE, temperature: 'ERR' } },
    { payload: { time: START + 6 * MINUTE, temperature: null } },
  ),
  series(
    'unreadable cells as missing',
    { ...VALUE, unreadable: 'missing', missingWords: 'ERR', train: 'never' },
    ...each(readings(2)),
    { payload: { time: START + 2 * MINUTE, temperature: 'ERR' } },
    { payload: { time: START + 3 * MINUTE, temperature: 'odd' } },
  ),
  series('a row every so often', { ...VALUE, every: '3m', train: 'never' }, ...each(readings(7))),
  series(
    'asked for a train set',
    { ...VALUE, train: 'never' },
    { train: true },
    ...each(readings(6)),
    { train: { reason: 'decay' } },
    { train: true, topic: 'kept' },
    { train: false, payload: readings(7)[6] },
    { change: { what: 'alarm' }, payload: 'ignored' },
    { change: { what: 'decay' }, train: { reason: 'decay' } },
  ),
  series(
    'reset',
    { ...VALUE, key: 'pump', train: 'never' },
    ...each(readings(3, { pump: 'a' })),
    ...each(readings(3, { pump: 'b' })),
    { reset: true, key: 'a' },
    ...each(readings(4, { pump: 'a' }).slice(3)),
    { reset: true },
    ...each(readings(4, { pump: 'b' }).slice(3)),
  ),
  series(
    'known ahead',
    { ...VALUE, knownAhead: 'shift', train: '4 rows' },
    { payload: readings(9, { shift: 'day' }) },
  ),
  series('no reading', VALUE, { payload: null }, { payload: [] }, { payload: {} }, {}),
  series(
    'the table elsewhere',
    { ...VALUE, table: 'data', train: 'never' },
    { data: readings(1)[0], payload: 'kept' },
  ),
  series('kept few', { ...VALUE, keep: '3', train: '2 rows' }, ...each(readings(9))),
  series('without a column', { outcome: 'column', ahead: '2m' }, ...each(readings(1))),
  series('with a time ahead that is none', { ...VALUE, ahead: 'soon' }, ...each(readings(1))),
  series(
    'kept under a name that is taken',
    { ...VALUE, keepAs: 'twice', train: 'never' },
    ...each(readings(1)),
  ),
  series(
    'kept under a name that is taken already',
    { ...VALUE, keepAs: 'twice', train: 'never' },
    ...each(readings(1)),
  ),
];
