import type { Json } from '../contract-node-red';
import { type Case, csvOf, date, formsOf, trainRows } from './case';

let series = 20;
/** A case whose table is like no other's. */
function fit(name: string, settings: Json, msg: Json = {}, more: Partial<Case> = {}): Case {
  series += 1;
  return {
    name: `fit ${name}`,
    node: 'fit',
    settings: { target: 'label', ...settings },
    give: [{ payload: trainRows(series), ...msg }],
    ...more,
  };
}

const parts = (index: number, count?: number): Json => ({
  parts: { id: 'seq', index, ...(count && { count }) },
});

const FORMS: Case[] = Object.entries(formsOf(trainRows(20))).map(([form, payload]) => ({
  name: `fit ${form}`,
  node: 'fit',
  settings: { target: 'label', model: `from ${form}` },
  give: [{ payload }],
}));

const FILES: Case[] = ['train.csv', 'train.parquet'].map((table) => ({
  name: `fit ${table}`,
  node: 'fit',
  settings: { target: 'label', source: 'file', table, tableType: 'str', model: table },
  give: [{ payload: 'kept' }],
}));

const DATES = Array.from({ length: 8 }, (_, i) => ({
  when: date(new Date(Date.UTC(2024, 0, 1 + i)).toISOString()),
  text: `2024-01-0${1 + i} 10:00`,
  big: { $bigint: String(9_007_199_254_740_993n + BigInt(i)) },
  flag: i % 3 === 0,
  note: `a longer note about row ${i}, in words`,
  gap: i % 2 ? null : i,
  amount: i * 1.5,
}));

export const FIT: Case[] = [
  ...FORMS,
  ...FILES,
  fit('as regression', { task: 'regression', target: 'x', model: 'a' }),
  fit('as classification', { task: 'classification', target: 'x', model: 'b' }),
  fit('whole numbers, by itself', { target: 'x', model: 'c' }),
  fit('text as regression', { task: 'regression', model: 'd' }),
  fit('every type of column', { target: 'amount', model: 'e' }, { payload: DATES }),
  fit('a date as the target', { target: 'when', model: 'e2' }, { payload: DATES }),
  fit('a boolean as the target', { target: 'flag', model: 'e3' }, { payload: DATES }),
  fit(
    'a big number as the target',
    { target: 'big', task: 'classification', model: 'e4' },
    { payload: DATES },
  ),
  fit('without some columns', { ignore: 'x, colour', model: 'f' }),
  fit('without columns in a list', { ignore: '["x","amount"]', model: 'g' }),
  fit('with types', { types: '{"x":"text","id":"number"}', model: 'h' }),
  fit('with a type that there is not', { types: '{"x":"shape"}', model: 'h' }),
  fit('with types that are no JSON', { types: '{x', model: 'h' }),
  fit(
    'by the message',
    { target: '', model: '' },
    {
      target: 'amount',
      model_name: 'by message',
      ignore: ['label'],
      task: 'regression',
      options: { n_estimators: 2 },
      description: 'a note',
    },
  ),
  fit('by the environment', { model: '${CONTRACT_NAME}', options: '{"n_estimators":"${CONTRACT_NUMBER}"}' }),
  fit('by an environment variable that is not set', { model: '${CONTRACT_UNSET}' }),
  fit('without a target', { target: '', model: 'i' }),
  fit('with a target that is not there', { target: 'nowhere', model: 'i' }),
  fit('with no rows', { model: 'i' }, { payload: [] }),
  fit('with one row', { model: 'i' }, { payload: trainRows(19, 1) }),
  fit('of one label', { model: 'i1' }, { payload: trainRows(18).map((row) => ({ ...row, label: 'no' })) }),
  fit(
    'rows without a target',
    { model: 'j' },
    {
      payload: trainRows(17).map((row, i) => ({ ...row, label: i === 2 ? null : row.label })),
    },
  ),
  fit(
    'refusing rows without a target',
    { model: 'j', missingTarget: 'error' },
    {
      payload: trainRows(17).map((row, i) => ({ ...row, label: i === 2 ? null : row.label })),
    },
  ),
  fit(
    'with words for missing',
    { missingWords: '-', unreadable: 'missing', timezone: 'Asia/Tokyo', model: 'k' },
    {
      payload: csvOf(trainRows(16)).replace('red', '-'),
    },
  ),
  fit(
    'with an unreadable cell',
    { types: '{"x":"number"}', model: 'k' },
    {
      payload: [...trainRows(15), { id: 1, x: 'many', colour: 'red', label: 'no', amount: 1 }],
    },
  ),
  fit('with options', {
    options: '{"n_estimators":4,"random_state":1}',
    systems: ['preprocessing', 'text'],
    model: 'l',
  }),
  fit('with options that are no object', { options: '[1]', model: 'l' }),
  fit('thinking', { thinkingEffort: 'high', thinkingTimeout: '30', thinkingMetric: 'log_loss', model: 'm' }),
  fit('holding back', { holdout: '25', order: 'none', model: 'n' }, { payload: trainRows(14, 24) }),
  fit(
    'holding back numbers in time order',
    { holdout: 25, order: 'time', embargo: '1', target: 'amount', model: 'o' },
    {
      payload: trainRows(13, 24),
    },
  ),
  fit('holding back too much', { holdout: '70', model: 'o' }),
  fit(
    'with costs and a threshold',
    { holdout: '25', costs: '{"yes":{"no":5}}', threshold: 'costs', order: 'none', model: 'p' },
    {
      payload: trainRows(12, 24),
    },
  ),
  fit('with costs of other labels', { costs: '{"maybe":{"no":5}}', model: 'p' }),
  fit('with groups', { group: 'colour', model: 'q' }, { folds: 'groups' }),
  fit('with a group that is not there', { group: 'nowhere', model: 'q' }),
  fit('relative to a column', { relativeTo: 'x', target: 'amount', model: 'r' }),
  fit('relative to text', { relativeTo: 'colour', target: 'amount', model: 'r' }),
  fit(
    'with a report',
    { modelReport: true, holdout: '25', order: 'none', model: 's' },
    { payload: trainRows(11, 24) },
  ),
  fit(
    'twice the same',
    { model: 't' },
    {},
    { inTurn: true, give: [{ payload: trainRows(10) }, { payload: trainRows(10) }] },
  ),
  fit(
    'twice, forced',
    { model: 'u', forceRefit: true },
    {},
    { inTurn: true, give: [{ payload: trainRows(9) }, { payload: trainRows(9) }] },
  ),
  fit(
    'forced by the message',
    { model: 'u2' },
    { force_refit: true, force_reupload: true, payload: trainRows(9) },
  ),
  fit(
    'three versions and back',
    { model: 'v' },
    {},
    {
      inTurn: true,
      give: [
        { payload: trainRows(8, 6) },
        { payload: trainRows(8, 7) },
        { payload: trainRows(8, 8) },
        { rollback: true },
        { rollback: 3 },
        { rollback: 7 },
        { rollback: 'x' },
      ],
    },
  ),
  fit('back where there is nothing', { model: 'nobody' }, {}, { give: [{ rollback: true }] }),
  fit(
    'only if better',
    { model: 'w', replace: 'better', order: 'time' },
    {},
    {
      inTurn: true,
      give: [
        { payload: trainRows(7, 30) },
        { payload: trainRows(7, 36) },
        { payload: trainRows(7, 60), train: { to: '2024-01-01T00:00:00.000Z', reason: 'rows' } },
      ],
    },
  ),
  fit(
    'a sequence with a count',
    { collect: true, model: 'x' },
    {},
    {
      give: [0, 1, 2].map((i) => ({ payload: trainRows(6).slice(3 * i, 3 * i + 3), ...parts(i, 3) })),
    },
  ),
  fit(
    'a sequence that is completed',
    { collect: true, model: 'y' },
    {},
    {
      give: [
        { payload: trainRows(5)[0], ...parts(0) },
        { payload: trainRows(5)[1], ...parts(1) },
        { payload: trainRows(5)[2], ...parts(2), complete: true },
      ],
    },
  ),
  fit(
    'a sequence that is completed without a row',
    { collect: true, model: 'z' },
    {},
    {
      give: [
        { payload: trainRows(4).slice(0, 4), ...parts(0) },
        { complete: true, parts: { id: 'seq' } },
      ],
    },
  ),
  fit('a message that is no part', { collect: true, model: 'z2' }),
  fit(
    'an upload that is not there',
    { model: 'z3', target: '' },
    {
      train_set_upload_id: '99999999-0000-4000-8000-000000000001',
      target: 'label',
      task: 'classification',
    },
  ),
  fit('more rows than the service takes', { model: 'z4' }, { payload: trainRows(3, 101) }),
  fit(
    'what the service refuses',
    { config: 'refusing', model: 'z5' },
    {},
    {
      refused: [
        [/fit$/, { status: 422, body: { message: 'too few rows', error_code: 'BAD', trace_id: 'a' } }],
      ],
    },
  ),
  fit(
    'where the upload is refused',
    { config: 'refusing', model: 'z6' },
    {},
    {
      refused: [[/^storage.*0\/0$/, { status: 500, body: 'no' }]],
    },
  ),
  fit(
    'at an endpoint',
    { config: 'on site', model: 'at the endpoint' },
    {},
    {
      then: [['predict', { config: 'on site', table: 'rows' }]],
      give: [{ payload: trainRows(2), rows: [{ id: 4, x: 1, colour: 'red', amount: 3 }] }],
    },
  ),
  fit('where the service is none', { config: 'no token', model: 'none' }),
  fit('where the address is none', { config: 'no address', model: 'none' }),
  fit('where the configuration is not there', { config: 'nowhere', model: 'none' }),
  {
    name: 'fit classes by the own service',
    node: 'fit',
    settings: {
      config: 'own service',
      target: 'label',
      ignore: 'amount',
      model: 'own labels',
      modelReport: true,
      options: '{"n_estimators":1}',
    },
    then: [
      ['predict', { config: 'own service', table: 'rows', explain: 'on', unlike: 'on', evaluate: 'on' }],
    ],
    give: [{ payload: trainRows(60, 24), rows: trainRows(60, 14) }],
    learned: true,
  },
  {
    name: 'fit numbers by the own service',
    node: 'fit',
    settings: {
      target: 'amount',
      config: '',
      ignore: 'label',
      model: 'own amounts',
      order: 'time',
      options: '{"n_estimators":1}',
    },
    then: [['predict', { config: '', table: 'rows', outputType: 'main', explain: 'on' }]],
    give: [{ payload: trainRows(61, 24), rows: trainRows(61, 2) }],
    learned: true,
  },
];
