import type { Json } from '../contract-node-red';
import { type Case, columnsOf, csvOf, formsOf, ROWS, trainRows } from './case';

const parts = (index: number, count: number): Json => ({ parts: { id: 'seq', index, count } });

const UPLOADS: Case[] = Object.entries(formsOf(trainRows(40))).map(([form, payload]) => ({
  name: `upload ${form}`,
  node: 'upload',
  settings: { target: 'label', format: 'csv' },
  give: [{ payload }],
}));

const upload = (name: string, settings: Json, ...give: Case['give']): Case => ({
  name: `upload ${name}`,
  node: 'upload',
  settings: { target: 'label', ...settings },
  give,
});

export const UPLOAD: Case[] = [
  ...UPLOADS,
  upload('as Parquet', { description: 'a note' }, { payload: trainRows(41) }),
  upload('again', {}, { payload: trainRows(41) }),
  upload('again, forced', { forceReupload: true }, { payload: trainRows(41) }),
  upload('forced by the message', {}, { payload: trainRows(41), force_reupload: true }),
  upload('in chunks', { chunks: true, config: 'by names' }, { payload: trainRows(42) }),
  upload('a test set', { set: 'test', model: 'labels' }, { payload: ROWS }),
  upload('a test set as CSV', { set: 'test', format: 'csv' }, { payload: csvOf(ROWS), model: 'amounts' }),
  upload('a test set for nobody', { set: 'test' }, { payload: ROWS }),
  upload('a test set without a column', { set: 'test', model: 'labels' }, { payload: [{ id: 1 }] }),
  upload('without a target', { target: '' }, { payload: trainRows(43) }),
  upload(
    'with settings',
    { ignore: 'x', types: '{"id":"text"}', missingWords: 'red', format: 'csv' },
    { payload: trainRows(44) },
  ),
  upload(
    'a sequence',
    { collect: true, format: 'csv' },
    ...[0, 1].map((i) => ({
      payload: columnsOf(trainRows(45).slice(4 * i, 4 * i + 4)),
      ...parts(i, 2),
    })),
  ),
  upload('at an endpoint', { config: 'on site' }, { payload: trainRows(46) }),
  {
    name: 'upload, fit, and predict with an uploaded test set',
    node: 'upload',
    settings: { target: 'label', ignore: 'amount' },
    then: [
      ['fit', { model: 'uploaded' }],
      ['upload', { set: 'test', table: 'rows' }],
      ['predict', {}],
    ],
    give: [{ payload: trainRows(47), rows: ROWS }],
  },
];

const limits = (name: string, settings: Json, msg: Json = {}): Case => ({
  name: `limits ${name}`,
  node: 'limits',
  settings,
  give: [{ payload: trainRows(50), ...msg }],
});

export const LIMITS: Case[] = [
  limits('alone', {}),
  limits('alone, of a newer service', { config: 'newer one' }),
  limits('of the endpoint', { config: 'on site' }),
  limits('of the own service', { config: 'own service' }),
  limits('kept', { check: true }),
  limits('kept by a test set', { check: true, set: 'test' }),
  limits('exceeded', { check: true, modelVersion: 'v1' }),
  limits('exceeded in rows', { check: true, set: 'test' }, { payload: trainRows(51, 51) }),
  limits('of an unknown version', { check: true, modelVersion: 'v9' }),
  limits('of CSV', { check: true }, { payload: csvOf(trainRows(52)) }),
  limits('of no table', { check: true }, { payload: undefined }),
  limits('of a service without a token', { config: 'no token' }),
];

const cost = (name: string, settings: Json, msg: Json): Case => ({
  name: `cost ${name}`,
  node: 'cost',
  settings,
  give: [msg],
});

export const COST: Case[] = [
  cost('of a table and a model', {}, { payload: ROWS, model: 'labels' }),
  cost('of numbers', {}, { train_rows: 100, test_rows: 7, raw_columns: 3 }),
  cost('of numbers beside a table', {}, { payload: ROWS, train_rows: 100 }),
  cost(
    'with settings',
    { operation: 'fit', modelVersion: 'v2', nEstimators: '4' },
    { payload: ROWS, model: 'labels' },
  ),
  cost('of nothing', {}, {}),
  cost('of a number that is none', {}, { train_rows: -1, test_rows: 'x' }),
  cost('of an unknown model', {}, { payload: ROWS, model: 'nobody' }),
  cost('at the own service', { config: 'own service' }, { payload: ROWS }),
  cost('at an endpoint', { config: 'on site' }, { payload: ROWS }),
];
