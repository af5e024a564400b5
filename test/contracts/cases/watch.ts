import type { Json } from '../contract-node-red';
import type { Case } from './case';

const START = Date.UTC(2024, 2, 4, 6);
const MINUTE = 60_000;

const watch = (name: string, settings: Json, ...give: Json[]): Case => ({
  name: `watch ${name}`,
  node: 'watch',
  settings,
  give,
});

const at = (i: number, key = 'a'): Json => ({
  key,
  time: START + i * MINUTE,
  ahead: MINUTE,
  id: `${key}@${i}`,
});
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** A prediction of one row, and what came of it. */
const number = (i: number, prediction: unknown, more: Json = {}): Json => ({
  payload: { x: i, prediction },
  series: at(i),
  model_name: 'amounts',
  ...more,
});
const truth = (i: number, value: unknown): Json => ({ truth: value, series: at(i), payload: { x: i } });
const labels = (i: number, yes: number): Json => ({
  payload: { x: i, prediction: yes > 0.5 ? 'yes' : 'no', prediction_probabilities: { no: 1 - yes, yes } },
  series: at(i),
  model_name: 'labels',
});

/** Predictions and truths of many rows in two messages. */
const block = (
  count: number,
  prediction: (i: number) => unknown,
  outcome: (i: number) => unknown,
  from = 0,
): Json[] => [
  {
    payload: many(count, (i) => ({ x: i, prediction: prediction(i) })),
    series: many(count, (i) => at(from + i)),
    model_name: 'amounts',
  },
  { truth: many(count, outcome), series: many(count, (i) => at(from + i)) },
];
const band = (i: number): Json => ({ '0.1': i - 1, '0.5': i, '0.9': i + 1 });
/** Looks random, and is the same each time. */
const noise = (i: number): number => ((i * 7919) % 101) / 101 - 0.5;

export const WATCH: Case[] = [
  watch('numbers', {}, number(0, 10), number(1, 11), truth(0, 10.5), truth(1, 10), number(2, 12)),
  watch('bands', { model: 'amounts' }, ...block(60, band, (i) => i + 3 * noise(i)), number(60, band(60))),
  watch(
    'bands that are left alone',
    { honest: false },
    ...block(60, band, (i) => i + 3 * noise(i)),
    number(60, band(60)),
  ),
  watch(
    'main predictions',
    {},
    number(0, { mean: 5, median: 5, mode: 4, quantiles: { '0.1': 3, '0.9': 7 } }),
    truth(0, 6),
  ),
  watch('labels', {}, labels(0, 0.2), labels(1, 0.8), truth(0, 'no'), truth(1, 'no'), labels(2, 0.6)),
  watch(
    'tables',
    {},
    ...block(
      4,
      (i) => i,
      (i) => i + 1,
    ),
  ),
  watch(
    'an alarm of a probability',
    { alarmOn: 'probability', alarmLabel: 'yes', raise: '0.6', clear: '0.3', alarmFor: '2' },
    ...[0.7, 0.8, 0.9, 0.5, 0.2, 0.1, 0.1].map((yes, i) => labels(i, yes)),
  ),
  watch(
    'an alarm of a value',
    { alarmOn: 'value', raise: 10, alarmFor: 1 },
    ...[9, 11, 12, 9.5, 8].map((value, i) => number(i, value)),
  ),
  watch(
    'an alarm of low values',
    { alarmOn: 'value', raise: 10, clear: 12, alarmFor: 1 },
    ...[13, 9, 11, 13].map((value, i) => number(i, value)),
  ),
  watch(
    'an alarm of an edge, with causes',
    { alarmOn: 'upper', raise: '10', alarmFor: 1 },
    number(0, band(8)),
    {
      ...number(1, band(12)),
      payload: { x: 1, prediction: band(12), prediction_why: [{ column: 'x', effect: 2, text: 'x = 1' }] },
    },
    number(2, band(2)),
  ),
  watch(
    'a decay',
    { worse: 10 },
    ...block(
      100,
      () => 0,
      (i) => noise(i),
    ),
    ...block(
      100,
      () => 0,
      (i) => noise(i),
      100,
    ),
    ...many(4, (k) =>
      block(
        100,
        () => 0,
        (i) => 30 + noise(i),
        200 + 100 * k,
      ),
    ).flat(),
  ),
  watch(
    'each key',
    { perKey: true, keep: 200 },
    {
      payload: [{ prediction: 1 }, { prediction: 2 }],
      series: [at(0, 'a'), at(0, 'b')],
      model_name: 'amounts',
    },
    { truth: [2, 2], series: [at(0, 'a'), at(0, 'b')] },
  ),
  watch(
    'another property and another table',
    { property: 'guess', table: 'rows' },
    { rows: [{ guess: 1 }], series: [at(0)], model_name: 'amounts', payload: 'kept' },
    { truth: 3, series: at(0) },
  ),
  watch(
    'rows that were passed on without a model',
    {},
    { payload: { x: 1 }, series: at(0), no_model: true },
    { payload: { x: 1 }, series: at(1) },
  ),
  watch('rows without an address', {}, { payload: { prediction: 4 }, model_name: 'amounts' }),
  watch(
    "an address of one's own",
    {},
    { payload: { prediction: 4 }, model_name: 'amounts', series: { id: 'row 7' } },
    { truth: 5, series: { id: 'row 7' } },
    { payload: { prediction: 4 }, model_name: 'amounts', series: { time: START, key: 'k' } },
    { truth: 5, series: { time: START, key: 'k' } },
  ),
  watch('a truth of nothing', {}, truth(9, 4)),
  watch('a truth without an address', {}, number(0, 4), { truth: 4 }),
  watch('truths of another number', {}, number(0, 4), { truth: [1, 2], series: [at(0)] }),
  watch('no model', {}, { payload: { prediction: 4 }, series: at(0) }),
  watch('nothing', { model: 'amounts' }, {}, { payload: 'text' }),
  watch(
    'a message of an upload',
    { model: 'amounts' },
    {
      payload: [
        { x: 1, prediction: 'odd' },
        { x: 2, prediction: 3 },
      ],
      series: [at(0), at(1)],
    },
  ),
  watch('a time zone', { timezone: 'Asia/Tokyo' }, number(0, 4), { ...truth(0, 5), timezone: 'Mars/Base' }),
  watch('an alarm without a limit', { alarmOn: 'value' }, number(0, 4)),
  watch('an alarm without a label', { alarmOn: 'probability', raise: 0.5 }, labels(0, 0.7)),
];
