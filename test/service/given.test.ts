import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import * as root from '../../dist/src';
import { EndpointClient } from '../../dist/src/client';
import * as learner from '../../dist/src/program-learner';
import * as table from '../../dist/src/program-table';
import { isObject } from '../doors/util';
import { removedAtEnd } from '../helpers/temporary';

/** Any function or method, as a program in JavaScript calls it. */
type Call = (...given: unknown[]) => unknown;

const { anomalies, connect, series, ServiceClient, startService, Watch, watchedModel } = root;
const { openTable, openTableFile, profileTable, readBatches, readRows } = table;

/** What no argument and no option is, but where one may be anything. */
const WRONG: readonly [kind: string, value: unknown][] = [
  ['null', null],
  ['a fraction', 5.5],
  ['a negative number', -1],
  ['NaN', NaN],
  ['a text', 'x'],
  ['true', true],
  ['an object', {}],
  ['a list', []],
  ['a function', () => 1],
  ['a big integer', 10n],
];

const NAME = 'node-red-contrib-tabular-prediction';
const ID = '00000000-0000-4000-8000-000000000000';
const FILE = { format: 'csv', bytes: 3, hash: 'AAAAAA==', content: Buffer.from('a\n1'), open: () => null };
const ROWS = Array.from({ length: 30 }, (_, i) => ({ time: i * 60_000, a: i % 7, y: (i % 7) * 2 }));
const NOWHERE = { baseUrl: 'http://127.0.0.1:1', token: 't', retries: 0, timeoutMs: 2_000 };
const SET = { test_set_upload_id: ID, fitted_train_set_id: ID, task: 'regression', output_type: 'mean' };
const CALL = { signal: AbortSignal.abort(), timeoutMs: 1_000, onProgress: () => 1 };
const FEATURES = [{ name: 'a', kind: 'number', values: Float64Array.from({ length: 30 }, (_, i) => i % 7) }];
const TARGET = { task: 'regression', values: Float64Array.from({ length: 30 }, (_, i) => 2 * (i % 7)) };

const folder = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-given-')));
let folders = 0;
const own = (): string => path.join(folder, String(folders++));

const QUICK = { n_estimators: 1 };

/** Errors of the package, and what takes nothing. */
const NOT_TRIED = ['ServiceError', 'DuplicateUploadError', 'LearnerError', 'closeEncoder'];

/** Functions by name, each with arguments that are right. */
function functions(): Record<string, [Call, ...unknown[]]> {
  const model = learner.trainModel({ features: FEATURES, target: TARGET, options: QUICK } as never);
  const columns = [{ name: 'a', type: 'number' }];
  const opened = new Map<string, ReturnType<typeof openTable>>();
  const rows = (): ReturnType<typeof openTable> => opened.get('') ?? opened.set('', openTable(ROWS)).get('')!;
  const withTable =
    (use: Call): Call =>
    async (first, ...rest) =>
      use(first === ROWS ? await rows() : first, ...rest);
  return {
    connect: [
      connect as Call,
      { ...NOWHERE, tls: {}, proxy: {}, dialect: {}, log: () => 1, userAgent: 'a', settings: {} },
    ],
    startService: [
      // A folder of its own, as those on one folder share a service.
      (options) =>
        startService(isObject(options) ? { dataDir: own(), ...(options as object) } : (options as never)),
      {
        ...{
          port: 0,
          host: '127.0.0.1',
          token: 't',
          apiName: 'svc',
          maxBytes: 1e9,
          limits: {},
          keepaliveMs: 9,
        },
        ...{
          rateLimit: {},
          urlSeconds: 60,
          chunkBytes: 9,
          publicUrl: 'http://a',
          fitThreads: 1,
          predictThreads: 1,
        },
        ...{ graceMs: 1, showMetrics: false, onMoved: () => 1, log: () => 1 },
      },
    ],
    series: [
      series as Call,
      {
        ...{
          column: 'y',
          key: 'a',
          keyType: 'column',
          time: 'time',
          shape: 'auto',
          names: ['a'],
          outcome: 'column',
        },
        ...{
          operator: '>',
          value: 1,
          ahead: '1m',
          knownAhead: 'a',
          windows: '1m',
          train: 'never',
          every: '1m',
        },
        ...{
          late: '1m',
          send: 'all',
          keep: 9,
          calendar: 'off',
          relative: true,
          missingWords: [],
          timezone: 'UTC',
        },
        ...{ unreadable: 'error', folder: undefined, onNote: () => 1 },
      },
    ],
    anomalies: [
      anomalies as Call,
      {
        ...{
          key: 'a',
          keyType: 'column',
          time: 'time',
          shape: 'auto',
          names: ['a'],
          ignore: [],
          every: '1m',
        },
        ...{ alarms: 1, per: 'week', learn: 300, timezone: 'UTC', onNote: () => 1, onChange: () => 1 },
      },
    ],
    ServiceClient: [
      (options) => new ServiceClient(options as never),
      { ...NOWHERE, concurrency: 1, free: true },
    ],
    EndpointClient: [(options) => new EndpointClient(options as never), { ...NOWHERE, concurrency: 1 }],
    Watch: [
      (...all) => new Watch(...(all as [never])),
      { name: 'm', id: ID, task: 'regression' },
      { honest: true, worse: 0.1, recovered: 0.1, alarm: {}, keep: 300, perKey: true, timezone: 'UTC' },
    ],
    watchedModel: [watchedModel as Call, { name: 'm', fitted_train_set_id: ID, task: 'regression' }],
    openTable: [openTable as Call, ROWS, { signal: undefined }],
    openTableFile: [openTableFile as Call, path.join(folder, 'none.csv'), { signal: undefined }],
    fileColumns: [table.fileColumns as Call, path.join(folder, 'none.csv')],
    profileTable: [
      withTable(profileTable as Call),
      ROWS,
      { target: 'y', ignore: [], types: {}, signal: undefined },
    ],
    readRows: [withTable(readRows as Call), ROWS, { signal: undefined }],
    readBatches: [
      withTable((...all) => (readBatches as Call)(...all)),
      ...[ROWS, columns, { signal: undefined }],
    ],
    encodeBatches: [
      async (first, second, third) =>
        (table.encodeBatches as Call)(
          first,
          second === ROWS ? readBatches(await rows(), columns as never) : second,
          third,
        ),
      ...[columns, ROWS, { format: 'csv', compress: true, signal: undefined, onProgress: () => 1 }],
    ],
    encodeTrainSet: [
      withTable(table.encodeTrainSet as Call),
      ...[
        ROWS,
        { columns: [...columns, { name: 'y', type: 'number' }], rows: 30 },
        { target: 'y', signal: undefined },
      ],
    ],
    crc32c: [table.crc32c as Call, Buffer.from('a')],
    crc32cToBase64: [table.crc32cToBase64 as Call, 5],
    trainModel: [learner.trainModel as Call, { features: FEATURES, target: TARGET, options: QUICK }],
    predict: [learner.predict as Call, model, FEATURES, 30, {}],
    explain: [learner.explain as Call, model, FEATURES, learner.predict(model, FEATURES as never, 30), {}],
    saveModel: [learner.saveModel as Call, model],
    loadModel: [learner.loadModel as Call, learner.saveModel(model)],
  };
}

/** Ends well, or with an error of a code of the table that says more than that something went wrong. */
async function endsClearly(what: string, work: () => unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error('it does not end')), 20_000);
  });
  try {
    const result = (await Promise.race([work(), late])) as { close?: () => Promise<void> } | undefined;
    await result?.close?.();
  } catch (error) {
    const { code, stack } = error as { code: root.ErrorCode; stack: string };
    assert.ok(root.ERROR_CODES.includes(code) && code !== 'internal', `${what}: ${code} ${stack}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Leaves out all that a function takes, and then gives each argument, and each of its options, wrongly. */
async function tryAll(name: string, call: Call, given: readonly unknown[]): Promise<void> {
  await endsClearly(`${name}()`, () => call());
  for (const [at, right] of given.entries()) {
    // What another function answered is passed on as it is.
    const isOptions =
      isObject(right) &&
      Object.getPrototypeOf(right) === Object.prototype &&
      !('members' in right) &&
      !('mean' in right);
    for (const [kind, wrong] of WRONG) {
      await endsClearly(`${name}: argument ${at + 1} is ${kind}`, () => call(...given.with(at, wrong)));
      for (const option of isOptions ? Object.keys(right) : []) {
        const options = { ...(right as object), [option]: wrong };
        await endsClearly(`${name}: ${option} is ${kind}`, () => call(...given.with(at, options)));
      }
    }
  }
}

/** All methods of something that is open, by name, each with arguments that are right. */
async function tryMethods(of: object, methods: Record<string, unknown[]>): Promise<void> {
  for (const [name, given] of Object.entries(methods)) {
    const method = (of as Record<string, Call>)[name]!.bind(of);
    await tryAll(`${of.constructor.name}.${name}`, method, given);
  }
}

describe('what programs give', function () {
  this.timeout(180_000);

  // Where a text may be a path, a file of that name is made.
  const before = process.cwd();
  beforeEach(() => process.chdir(folder));
  afterEach(() => process.chdir(before));

  it('is tried of every function that the package exports', () => {
    const load = createRequire(require.resolve('../../package.json'));
    const { exports: doors } = load('./package.json') as { exports: Record<string, string> };
    const known = [...Object.keys(functions()), ...NOT_TRIED];
    for (const door of Object.keys(doors).filter((name) => name !== './package.json')) {
      const all = Object.entries(load(NAME + door.slice(1)) as object);
      const untried = all.flatMap(([name, value]) =>
        typeof value === 'function' && !known.includes(name) ? [name] : [],
      );
      assert.deepEqual(untried, [], door);
    }
  });

  for (const [name, [call, ...given]] of Object.entries(functions())) {
    it(`${name} answers, or says which argument or option is wrong`, () => tryAll(name, call, given));
  }

  it('so do the methods of a client', async () => {
    const client = new ServiceClient(NOWHERE);
    const upload = { x: FILE, y: FILE, description: 'a', force: false, chunks: false };
    await tryMethods(client, {
      ...{ getModelLimits: [CALL], getSettings: [CALL], getUsage: [CALL] },
      ...{ deleteDataset: [ID, CALL], exportModel: [ID, CALL], importModel: [Buffer.from('a'), CALL] },
      ...{ uploadTrainSet: [upload, CALL], uploadTestSet: [{ fitted_train_set_id: ID, x: FILE }, CALL] },
      fit: [
        { train_set_upload_id: ID, task: 'regression', svc_systems: ['text'], thinking_timeout_s: 1 },
        CALL,
      ],
      // One that is right waits for hours.
      resumeFit: [ID],
      ...{ fitProgress: [ID, CALL], predict: [{ ...SET, rows: 1 }, CALL] },
      ...{ estimateCost: [{ operation: 'predict' }, CALL], whenBusy: ['fit'] },
      predictLegacy: [{ data: { model_id: 'm', task: 'regression' }, file: FILE }, CALL],
    });
    await client.close();
    const endpoint = new EndpointClient(NOWHERE);
    const asked = { task: 'regression', test: FILE, train: { x: FILE, y: FILE }, rows: 1 };
    await tryMethods(endpoint, { predictRows: [asked, CALL], overhead: [asked] });
    await endpoint.close();
  });

  it('so do the methods of readings, which take none once they are closed', async () => {
    const motor = await series({ column: 'y', ahead: '1m' });
    await tryMethods(motor, {
      push: [ROWS[0], { topic: 'a', key: 'a', time: 1 }],
      backfill: [{ table: ROWS, key: 'a', signal: undefined, path: undefined }],
      outcome: [{ id: 'a', key: 'a', time: 1, value: 1 }],
      ...{ train: [], reset: ['a'] },
    });
    await motor.close();
    const pumps = await anomalies();
    await tryMethods(pumps, {
      push: [ROWS[0], { topic: 'a', key: 'a', time: 1 }],
      backfill: [{ table: ROWS, key: 'a', signal: undefined, path: undefined }],
      ...{ confirm: ['real', 'a', 'a'], odd: ['usual', 'a'], reset: ['a'] },
    });
    await pumps.close();
    for (const { push, backfill } of [motor, pumps].map((of) => ({
      push: of.push.bind(of),
      backfill: of.backfill.bind(of),
    }))) {
      await assert.rejects(push(ROWS[0]), { code: 'closed' });
      await assert.rejects(backfill({ table: ROWS }), { code: 'closed' });
    }
    await assert.rejects(motor.outcome({ id: 'a', value: 1 }), { code: 'closed' });
  });

  it('so do the methods of a watch', async () => {
    const model = { name: 'm', id: ID, task: 'regression' } as const;
    const seen = { series: { id: 'a', key: 'a', time: 1, ahead: 1 }, prediction: 1, truth: 1, row: {} };
    const watch = new Watch(model);
    await tryMethods(watch, { predicted: [seen], truth: [seen], modelChanged: [model], report: [] });
    await tryAll('Watch.from', (state) => Watch.from(state as never), [
      JSON.parse(JSON.stringify(new Watch(model))),
    ]);
  });

  it('so do the methods of a connection', async () => {
    const tabular = await connect({ dataDir: own() });
    const training = { table: ROWS, target: 'y', model: 'm', options: QUICK };
    await tabular.train(training);
    const options = { format: 'csv', description: 'a', trainedUntil: '2024-01-01', path: undefined };
    await tryMethods(tabular, {
      train: [{ ...training, ...options }],
      predict: [
        { table: ROWS, model: 'm', path: undefined, outputType: 'mean', quantiles: [0.5], property: 'p' },
      ],
      advise: [
        {
          row: ROWS[0],
          model: 'm',
          vary: [{ column: 'a', from: 0, to: 6 }],
          goal: 'highest',
          candidates: 100,
        },
      ],
      ...{ rollBack: ['none', 1], chooseThreshold: ['none', null], rename: ['m', 'm'], delete: ['none'] },
      ...{ exportModel: ['m', path.join(folder, 'm')], importModel: [path.join(folder, 'm'), 'other'] },
      ...{ publishModel: ['m'], takeModel: [Buffer.from('a')] },
    });
    await tabular.close();
  });
});
