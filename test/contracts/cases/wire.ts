import { createHash } from 'node:crypto';

import { type Case, csvOf, ROWS, trainRows } from './case';

/** A row of every type of column, and of what may be missing. */
const TYPES = Array.from({ length: 6 }, (_, i) => ({
  number: i === 1 ? null : i * 1.25 - 2,
  whole: i === 2 ? null : 10 - i,
  text: i === 3 ? null : ['a', 'b, "quoted"', '', 'ü\nline', 'a', '0042'][i],
  flag: i === 4 ? null : i % 2 === 0,
  when: i === 5 ? null : { $date: new Date(Date.UTC(2024, 1, 28 + i, 3, 4, 5, 678)).toISOString() },
  big: i === 0 ? null : { $bigint: String(2n ** 53n + BigInt(i)) },
  none: null,
  target: ['no', 'yes'][i % 2],
}));

const ROWS_OF_TYPES = TYPES.map((row) => ({ ...row, target: undefined }));

const DIALECTS = ['wire plain', 'wire named', 'wire newer', 'wire pending', 'wire on site'];

const everywhere = (dialect: string, at: number): Case[] => {
  const config = dialect;
  const isHosted = dialect !== 'wire on site';
  const rows = { payload: ROWS };
  const name = (what: string): string => `${dialect}: ${what}`;
  return [
    {
      name: name('fit of labels'),
      node: 'fit',
      settings: { config, target: 'label', ignore: 'amount', model: 'labels' },
      give: [{ payload: trainRows(at) }],
    },
    {
      name: name('fit of numbers with options'),
      node: 'fit',
      settings: {
        config,
        target: 'amount',
        ignore: 'label',
        model: 'amounts',
        options: '{"n_estimators":4,"softmax_temperature":0.9}',
        ...(isHosted && { systems: ['preprocessing', 'text'] }),
      },
      give: [{ payload: csvOf(trainRows(at)), description: 'a note', force_refit: true }],
    },
    {
      name: name('fit of every type'),
      node: 'fit',
      settings: { config, target: 'target', model: 'types', holdout: '34', order: 'none' },
      then: [['predict', { config, table: 'rows', outputType: 'preds' }]],
      give: [{ payload: TYPES, rows: ROWS_OF_TYPES }],
    },
    ...['probas', 'preds'].map((outputType) => ({
      name: name(`predict of ${outputType}`),
      node: 'predict',
      settings: { config, model: 'labels', outputType },
      give: [rows],
    })),
    ...['mean', 'median', 'mode', 'quantiles', 'main', 'full'].map((outputType) => ({
      name: name(`predict of ${outputType}`),
      node: 'predict',
      settings: { config, model: 'amounts', outputType, quantiles: '0.1, 0.9' },
      give: [rows],
    })),
    {
      name: name('predict with causes'),
      node: 'predict',
      settings: { config, model: 'labels', explain: 'on' },
      give: [{ payload: ROWS[0] }],
    },
    { name: name('limits'), node: 'limits', settings: { config }, give: [{}] },
  ];
};

const HOSTED: Case[] = DIALECTS.filter((dialect) => dialect !== 'wire on site').flatMap((config) => [
  {
    name: `${config}: thinking fit`,
    node: 'fit',
    settings: {
      config,
      target: 'label',
      model: 'thinking',
      thinkingEffort: 'medium',
      thinkingTimeout: '20',
      thinkingMetric: 'roc_auc',
    },
    give: [{ payload: trainRows(70) }],
  },
  {
    name: `${config}: upload as CSV, in chunks`,
    node: 'upload',
    settings: {
      config,
      target: 'label',
      format: 'csv',
      chunks: true,
      description: 'a note',
      forceReupload: true,
    },
    give: [{ payload: TYPES.map(({ target, ...row }) => ({ ...row, label: target })) }],
  },
  {
    name: `${config}: upload of a test set`,
    node: 'upload',
    settings: { config, set: 'test', model: 'labels' },
    then: [['predict', { config, table: 'nothing' }]],
    give: [{ payload: ROWS, force_refit: true }],
  },
  {
    name: `${config}: cost`,
    node: 'cost',
    settings: { config, nEstimators: '4', modelVersion: 'v2' },
    give: [{ payload: ROWS, model: 'labels' }],
  },
  {
    name: `${config}: predict by the deprecated route`,
    node: 'predict',
    settings: { config, api: 'v1', task: 'classification', outputType: 'preds' },
    give: [{ payload: ROWS_OF_TYPES, model_id: 'old model' }],
  },
  {
    name: `${config}: predict below a highest cost`,
    node: 'predict',
    settings: { config, model: 'labels', maxCost: '1000' },
    give: [{ payload: ROWS }],
  },
]);

/** Larger than a MiB however well it is packed: a service may fit it in the background. */
const LARGE = Array.from({ length: 12 }, (_, i) => ({
  text: Array.from({ length: 2600 }, (_unused, k) =>
    createHash('sha256').update(`${i} ${k}`).digest('base64'),
  ).join(''),
  label: ['no', 'yes'][i % 2],
}));

const LARGE_FITS: Case[] = ['wire plain', 'wire newer'].map((config) => ({
  name: `${config}: fit of a large table`,
  node: 'fit',
  settings: { config, target: 'label', model: 'large' },
  give: [{ payload: LARGE }],
}));

/** What is sent for these is recorded too. */
export const WIRE: Case[] = [
  ...DIALECTS.flatMap((dialect, i) => everywhere(dialect, 80 + i)),
  ...HOSTED,
  ...LARGE_FITS,
].map((one) => ({ ...one, sent: true }));
