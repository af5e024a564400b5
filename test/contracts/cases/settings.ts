import flowDefaults from '../../fixtures/flow-defaults.json';
import type { Json } from '../contract-node-red';
import { type Case, ROWS, trainRows } from './case';

interface Written {
  node: keyof typeof flowDefaults;
  /** What the node cannot do without. */
  needed: Json;
  /** Every setting as something else than its default. */
  all: Json;
  /** Messages; a train set is like no other's. */
  give: (series: number) => Json[];
}

const readings = Array.from({ length: 6 }, (_, i) => ({
  payload: {
    machine: 'm1',
    at: Date.UTC(2024, 4, 1, 8, i),
    heat: 50 + ((i * 3) % 5),
    shift: 'day',
    odd: i === 4 ? '-' : i,
  },
}));

const series = { key: 'm1', time: Date.UTC(2024, 4, 1), ahead: 60_000, id: 'm1@1' };
const watched = (table: string): Json[] => [
  { [table]: { guess: 12, prediction: 12 }, series, model_name: 'amounts', topic: 'kept' },
  { truth: 15, series },
];

const WRITTEN: Written[] = [
  {
    node: 'limits',
    needed: {},
    all: {
      name: 'n',
      check: true,
      set: 'test',
      source: 'value',
      table: 'rows',
      tableType: 'msg',
      modelVersion: 'v1',
    },
    give: () => [{ payload: ROWS, rows: [...ROWS, ...ROWS] }],
  },
  {
    node: 'upload',
    needed: { target: 'label' },
    all: {
      name: 'n',
      set: 'train',
      source: 'value',
      table: 'rows',
      tableType: 'msg',
      target: 'label',
      ignore: 'x',
      types: '{"id":"text"}',
      missingTarget: 'error',
      missingWords: 'red',
      unreadable: 'missing',
      timezone: 'Asia/Tokyo',
      format: 'csv',
      description: 'a note',
      forceReupload: true,
      chunks: true,
      collect: true,
      collectTimeout: '30',
    },
    give: (own) => [{ payload: trainRows(own), rows: trainRows(own) }],
  },
  {
    node: 'fit',
    needed: { target: 'label' },
    all: {
      name: 'n',
      source: 'value',
      table: 'rows',
      tableType: 'msg',
      target: 'label',
      ignore: 'x',
      types: '{"id":"number"}',
      missingTarget: 'error',
      missingWords: 'green',
      unreadable: 'missing',
      timezone: 'Asia/Tokyo',
      task: 'classification',
      systems: ['preprocessing'],
      options: '{"n_estimators":2}',
      thinkingEffort: 'high',
      thinkingTimeout: '20',
      thinkingMetric: 'log_loss',
      holdout: '25',
      order: 'time',
      embargo: '1',
      relativeTo: 'amount',
      costs: '{"yes":{"no":3}}',
      threshold: 'costs',
      replace: 'always',
      forceRefit: true,
      modelReport: true,
      collect: true,
      collectTimeout: '30',
    },
    give: (own) => [{ payload: trainRows(own, 24), rows: trainRows(own, 24) }],
  },
  {
    node: 'predict',
    needed: { model: 'amounts' },
    all: {
      name: 'n',
      model: 'amounts',
      task: 'regression',
      source: 'value',
      table: 'rows',
      tableType: 'msg',
      outputType: 'quantiles',
      quantiles: '0.2, 0.8',
      property: 'guess',
      explain: 'on',
      explainAbove: '2',
      unlike: 'on',
      evaluate: 'off',
      noModel: 'wait',
      missingColumns: 'fill',
      missingWords: 'violet',
      unreadable: 'missing',
      timezone: 'Asia/Tokyo',
      batchRows: '1',
      batchMs: '1',
      ordered: false,
      queue: '50',
      overflow: 'dropOldest',
      retryPredict: true,
      maxCost: '100000',
      api: 'svc',
    },
    give: () => [{ payload: ROWS, rows: [...ROWS, { id: 'odd' }] }],
  },
  {
    node: 'cost',
    needed: {},
    all: {
      name: 'n',
      operation: 'fit',
      modelVersion: 'v1',
      nEstimators: '3',
      source: 'value',
      table: 'rows',
      tableType: 'msg',
    },
    give: () => [{ payload: ROWS, rows: [...ROWS, ...ROWS], model: 'labels' }],
  },
  {
    node: 'series',
    needed: { column: 'heat' },
    all: {
      name: 'n',
      source: 'value',
      table: 'payload',
      tableType: 'msg',
      key: 'machine',
      keyType: 'column',
      time: 'at',
      outcome: 'event',
      column: 'heat',
      operator: '>=',
      value: '52',
      ahead: '1m, 2m',
      knownAhead: 'shift',
      windows: '3m',
      train: '2 rows',
      every: '1m',
      late: '5m',
      keep: '100',
      calendar: 'on',
      relative: false,
      missingWords: '-',
      unreadable: 'missing',
      timezone: 'Asia/Tokyo',
      keepAs: 'every setting',
    },
    give: () => readings.map(({ payload }) => ({ payload: { ...payload, time: payload.at } })),
  },
  {
    node: 'watch',
    needed: {},
    all: {
      name: 'n',
      model: 'amounts',
      honest: false,
      worse: '50',
      alarmOn: 'value',
      raise: '10',
      clear: '5',
      alarmFor: '1',
      perKey: true,
      property: 'guess',
      table: 'rows',
      tableType: 'msg',
      keep: '300',
      timezone: 'Asia/Tokyo',
    },
    give: () => [...watched('payload'), ...watched('rows')],
  },
];

const named = (node: string, how: string): string => `${node} with ${how}`;

/** Settings that a later version added and new nodes set to something else than what a flow means that does not say them. */
const LATER: Partial<Record<keyof typeof flowDefaults, Json>> = { series: { shape: 'plain' } };

/** Two cases of one node that mean the same: nothing set, and each setting written as its default. */
export const ALIKE: [nothing: string, defaults: string][] = WRITTEN.map(({ node }) => [
  named(node, 'nothing set'),
  named(node, 'every default written'),
]);

export const SETTINGS: Case[] = WRITTEN.flatMap(({ node, needed, all, give }) => {
  // Models of several cases must not be versions of each other.
  const own = (how: string): Json => (node === 'fit' ? { model: named(node, how) } : {});
  const variants: [string, Json][] = [
    ['nothing set', needed],
    ['every default written', { ...flowDefaults[node], ...LATER[node], ...needed }],
    ['every setting', all],
  ];
  return variants.map(([how, settings], variant) => ({
    name: named(node, how),
    node,
    settings: { ...settings, ...own(how) },
    give: give(90 + variant),
  }));
});
