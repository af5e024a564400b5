import type { Answer } from '../../helpers/strict-http';
import { buffer, type Case, columnsOf, csvOf, date, formsOf, ROWS, trainRows } from './case';

const LABELS = { model: 'labels' };
const AMOUNTS = { model: 'amounts' };
const one = { payload: ROWS[0] };

/** The models that the other cases use. */
const MODELS: Case[] = [
  {
    name: 'fit labels',
    node: 'fit',
    settings: { model: 'labels', target: 'label', ignore: 'amount' },
    give: [{ payload: trainRows(1) }],
  },
  {
    name: 'fit amounts',
    node: 'fit',
    settings: { model: 'amounts', target: 'amount', ignore: 'label' },
    give: [{ payload: trainRows(2, 12) }],
  },
];

const FORMS: Case[] = Object.entries(formsOf(ROWS)).map(([form, payload]) => ({
  name: `predict ${form}`,
  node: 'predict',
  settings: LABELS,
  give: [{ payload, topic: 'kept' }],
}));

const FILES: Case[] = ['rows.csv', 'rows.tsv', 'rows.parquet', 'rows.arrow'].map((table) => ({
  name: `predict ${table}`,
  node: 'predict',
  settings: { ...LABELS, source: 'file', table, tableType: 'str' },
  give: [{ payload: 'kept' }],
}));

const OUTPUTS: Case[] = [
  ...['probas', 'preds'].map((outputType) => ({ ...LABELS, outputType })),
  ...['mean', 'median', 'mode', 'quantiles', 'main', 'full'].map((outputType) => ({
    ...AMOUNTS,
    outputType,
  })),
  { ...AMOUNTS, outputType: 'quantiles', quantiles: '0.05, 0.95' },
  { ...AMOUNTS, outputType: 'main', quantiles: '0.25, 0.75' },
].map((settings) => ({
  name: `predict ${Object.values(settings).join(' ')}`,
  node: 'predict',
  settings,
  give: [{ payload: ROWS }],
}));

const OF_MESSAGE: Case[] = [
  { output_type: 'preds', model: 'labels' },
  { output_type: 'quantiles', quantiles: [0.2, 0.8], model: 'amounts' },
  { output_type: 'main', model: 'amounts@1' },
  { model: 'amounts', threshold: 0.4 },
  { model: 'labels', threshold: 0.4, output_type: 'preds' },
  { model: 'labels', threshold: 2 },
  { model: 'labels', output_type: 'mean' },
  { model: 'labels', output_type: 'nonsense' },
  { model: 'amounts', output_type: 'quantiles', quantiles: [2] },
  { model: 'amounts', output_type: 'quantiles', quantiles: 'many' },
  { model: 'nobody' },
  { model: 'labels@7' },
  { model: 7 },
  {},
  { fitted_train_set_id: '00000000-0000-4000-8000-000000000002', task: 'classification' },
  { fitted_train_set_id: '00000000-0000-4000-8000-000000000002' },
  { fitted_train_set_id: '99999999-0000-4000-8000-000000000002', task: 'regression' },
  { fitted_train_set_id: 'no id', task: 'regression' },
].map((msg) => ({
  name: `predict with ${JSON.stringify(msg)}`,
  node: 'predict',
  give: [{ ...msg, payload: ROWS }],
}));

const PLACES: Case[] = [
  { table: 'data.rows' },
  { table: 'payload[1]' },
  { table: '$append(payload, payload)', tableType: 'jsonata' },
  { table: '[{"id":3,"x":1,"colour":"red"}]', tableType: 'str' },
  { table: 'CONTRACT_ROWS', tableType: 'env' },
  { table: 'missing' },
  { table: 'nothing', tableType: 'flow' },
  { property: 'guess' },
  { property: 'x' },
  { property: 'a.b' },
].map((settings) => ({
  name: `predict at ${JSON.stringify(settings)}`,
  node: 'predict',
  settings: { ...LABELS, ...settings },
  give: [{ payload: ROWS, data: { rows: ROWS.slice(0, 2) } }],
}));

const TABLES: Case[] = Object.entries({
  'columns in another order, and more': ROWS.map(({ id, x, colour }) => ({ extra: true, colour, x, id })),
  'the target too': ROWS.map((row) => ({ ...row, label: 'no' })),
  'numbers as text': ROWS.map((row) => ({ ...row, id: String(row.id), x: ` ${row.x} ` })),
  'a missing column': ROWS.map(({ id, x }) => ({ id, x })),
  'an unreadable cell': [...ROWS, { id: 'many', x: 1, colour: 'red' }],
  'a list in a cell': [{ id: 1, x: [1], colour: 'red' }],
  'a date in a cell': [{ id: 1, x: 2, colour: date('2024-02-03T04:05:06.000Z') }],
  'infinite numbers': [{ id: 1, x: { $number: 'Infinity' }, colour: 'red' }],
  'a big number': [{ id: 1, x: { $bigint: '9007199254740993' }, colour: 'red' }],
  'no rows': [],
  'no columns': [{}],
  null: null,
  'a number': 7,
  true: true,
  'empty text': '',
  'only a header': 'id,x,colour\n',
  'ragged CSV': 'id,x,colour\n1,2\n',
  'bytes of nothing': buffer('\0\x01\x02'),
  'columns of other lengths': { id: [1, 2], x: [1], colour: ['red', 'blue'] },
}).map(([what, payload]) => ({
  name: `predict a table with ${what}`,
  node: 'predict',
  settings: LABELS,
  give: [{ payload }],
}));

const SETTINGS: Case[] = [
  { missingColumns: 'fill' },
  { unreadable: 'missing' },
  { missingWords: 'many, none', unreadable: 'error' },
  { noModel: 'pass', model: 'nobody' },
  { maxCost: '5' },
  { maxCost: 1000 },
  { evaluate: 'on' },
  { unlike: 'on' },
  { unlike: 'on', explain: 'on' },
  { timezone: 'Mars/Base' },
  { batchRows: 'x' },
  { quantiles: '3', outputType: 'quantiles', model: 'amounts' },
  { model: '${CONTRACT_MODEL}' },
  { model: '${CONTRACT_UNSET}' },
].map((settings) => ({
  name: `predict set to ${JSON.stringify(settings)}`,
  node: 'predict',
  settings: { ...LABELS, ...settings },
  give: [{ payload: ROWS }, { payload: [...ROWS.map(({ id, x }) => ({ id, x })), { id: 9, x: 'many' }] }],
}));

const REFUSALS: [RegExp, Answer][] = [
  [/predict$/, { status: 422, body: { detail: [{ loc: ['body', 'x'], msg: 'too odd' }] } }],
  [/predict$/, { status: 401, body: { code: 'auth.unauthorized', detail: 'no' } }],
  [/predict$/, { status: 403, body: { code: 'auth.forbidden', detail: 'no' } }],
  [/predict$/, { status: 402, body: { code: 'budget.exceeded', detail: 'used up' } }],
  [/predict$/, { status: 503, body: 'busy' }],
  [/predict$/, { status: 500, body: '' }],
  [/predict$/, { status: 200, body: { prediction: 'nonsense' } }],
  [/predict$/, { status: 200, body: { prediction: [[1]], metadata: { test_set_num_rows: 7 } } }],
  [/predict$/, { status: 200, body: { _streamed_error: true, detail: 'late', status_code: 422 } }],
  [/predict$/, { status: 404, body: { message: 'gone', error_code: 'NOT_FOUND' } }],
  [/^storage/, { status: 404, body: 'no' }],
  [/^storage/, { status: 500, body: 'no' }],
  [/prepare_test/, { status: 200, body: { test_set_upload_id: 'no id' } }],
  [/prepare_test/, { status: 404, body: { message: 'Fitted train set not found' } }],
];

const REFUSED: Case[] = REFUSALS.map(([path, answer]) => ({
  name: `predict refused ${JSON.stringify([String(path), answer])}`,
  node: 'predict',
  settings: { config: 'refusing', model: 'refused' },
  give: [{ payload: ROWS }],
  refused: [[path, answer]],
}));

export const PREDICT: Case[] = [
  ...MODELS,
  ...FORMS,
  ...FILES,
  ...OUTPUTS,
  ...OF_MESSAGE,
  ...PLACES,
  ...TABLES,
  ...SETTINGS,
  {
    name: 'fit refused',
    node: 'fit',
    settings: { config: 'refusing', model: 'refused', target: 'label', ignore: 'amount' },
    give: [{ payload: trainRows(3) }],
  },
  {
    name: 'predict too often',
    node: 'predict',
    settings: { config: 'held', model: 'refused' },
    give: [{ payload: ROWS }, { payload: ROWS }],
    inTurn: true,
    refused: [
      [
        /prepare_test/,
        { status: 429, body: { code: 'rate.limit.exceeded' }, headers: { 'retry-after': '3600' } },
      ],
    ],
  },
  ...REFUSED,
  {
    name: 'predict with a card, then by its own name again',
    node: 'fit',
    settings: { model: 'in a row', target: 'amount' },
    then: [
      ['predict', { table: 'rows' }],
      ['predict', { table: 'rows', property: 'again' }],
    ],
    give: [{ payload: trainRows(4), rows: [{ id: 3, x: 1, colour: 'red', label: 'no' }] }],
  },
  {
    name: 'predict scored against the target',
    node: 'predict',
    settings: { ...LABELS, evaluate: 'on' },
    give: [{ payload: trainRows(5, 12) }, { payload: trainRows(5, 2), evaluate: 'off' }],
  },
  {
    name: 'predict numbers scored against the target',
    node: 'predict',
    settings: { ...AMOUNTS, outputType: 'quantiles' },
    give: [{ payload: csvOf(trainRows(6, 12)), evaluate: true }],
  },
  {
    name: 'predict one after the other',
    node: 'predict',
    settings: { ...LABELS, batchRows: 2, ordered: true },
    give: [
      one,
      { payload: columnsOf(ROWS) },
      { payload: [{ id: 'bad' }] },
      one,
      { payload: ROWS[1], output_type: 'preds' },
    ],
  },
  {
    name: 'predict held until flush',
    node: 'predict',
    settings: { ...LABELS, batchMs: 600_000 },
    give: [one, one, { flush: true }],
  },
  {
    name: 'predict held until reset',
    node: 'predict',
    settings: { ...LABELS, batchMs: 600_000 },
    give: [one, { reset: true }],
  },
  {
    name: 'predict more than the queue takes',
    node: 'predict',
    settings: { ...LABELS, batchMs: 600_000, queue: '3' },
    give: [{ payload: ROWS }, one, { flush: 1 }],
  },
  {
    name: 'predict the newest when the queue is full',
    node: 'predict',
    settings: { ...LABELS, batchMs: 600_000, queue: 3, overflow: 'dropOldest' },
    give: [{ payload: ROWS }, one, { flush: 1 }],
  },
  {
    name: 'predict by the deprecated route',
    node: 'predict',
    settings: { api: 'v1', task: 'classification' },
    give: [
      { payload: ROWS, model_id: 'old' },
      { payload: ROWS },
      { payload: ROWS, model_id: 'old', output_type: 'preds' },
    ],
  },
  {
    name: 'predict a full distribution of more rows than the service allows',
    node: 'predict',
    settings: { ...AMOUNTS, outputType: 'full' },
    give: [{ payload: Array.from({ length: 6 }, (_, id) => ({ id, x: 1, colour: 'red' })) }],
  },
];
