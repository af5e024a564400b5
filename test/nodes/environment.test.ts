import assert from 'node:assert/strict';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Anything, type Bench, row, startBench, stopBench, trainRows } from './bench';

describe('environment variables in the fields', () => {
  let service: StrictService;

  before(async () => {
    service = await startStrictService();
  });

  afterEach(() => stopBench());

  after(() => service.close());

  const start = (config: object, fit: object = {}) =>
    startBench({
      config: { service: 'hosted', baseUrl: service.url, ...config },
      token: service.token,
      nodes: [{ id: 'fit', type: 'tabular-fit', target: 'y', model: 'm', ...fit }],
    });

  async function refusal(bench: Bench): Promise<string> {
    service.requests.length = 0;
    bench.send('fit', { payload: trainRows() });
    const [caught] = await bench.caught.first();
    assert.equal(caught?.error?.code, 'config.invalid', caught?.error?.message);
    assert.equal(service.requests.length, 0, 'nothing was sent');
    return caught.error.message;
  }

  const unset: [string, (host: string) => object, object?][] = [
    // With empty text in its place the first part of the path would be the host.
    ['a base URL with the host in it', (host) => ({ baseUrl: `http://\${TABULAR_NOT_SET}/${host}` })],
    ['the whole base URL', () => ({ baseUrl: '${TABULAR_NOT_SET}' })],
    ['the API name', () => ({ apiName: '${TABULAR_NOT_SET}' })],
    ['the service', () => ({ service: '${TABULAR_NOT_SET}' })],
    ['a number', () => ({ timeout: '${TABULAR_NOT_SET}' })],
    ['a target', () => ({}), { target: '${TABULAR_NOT_SET}' }],
    ['a model name', () => ({}), { model: 'm-${TABULAR_NOT_SET}' }],
  ];
  for (const [name, config, fit] of unset) {
    it(`one that is not set is named, and nothing is sent: ${name}`, async () => {
      const bench = await start(config(service.url.replace(/^http:\/\//, '')), fit);
      assert.match(await refusal(bench), /The environment variable TABULAR_NOT_SET is not set/);
    });
  }

  it('one that is not set is named: the token', async () => {
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: '${TABULAR_NOT_SET}',
      nodes: [{ id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' }],
    });
    assert.match(await refusal(bench), /TABULAR_NOT_SET/);
  });

  it('one that is empty on purpose leaves its field empty, but a base URL has a host', async () => {
    process.env.TABULAR_EMPTY = '';
    try {
      const bench = await start({ apiName: '${TABULAR_EMPTY}' }, { target: '${TABULAR_EMPTY}' });
      bench.send('fit', { payload: trainRows(), target: 'y' });
      await bench.out('fit').first();
      const host = service.url.replace(/^http:\/\//, '');
      assert.match(await refusal(await start({ baseUrl: `http://\${TABULAR_EMPTY}/${host}` })), /no host/);
    } finally {
      delete process.env.TABULAR_EMPTY;
    }
  });

  it('one that is empty is named where its field must not be', async () => {
    process.env.TABULAR_EMPTY = '';
    try {
      const bench = await startBench({
        config: { service: 'hosted', baseUrl: service.url },
        token: service.token,
        nodes: [
          { id: 'fit', type: 'tabular-fit', target: '${TABULAR_EMPTY}', model: 'm' },
          { id: 'upload', type: 'tabular-upload', target: '${TABULAR_EMPTY}' },
          { id: 'predict', type: 'tabular-predict', model: '${TABULAR_EMPTY}' },
        ],
      });
      for (const [place, label] of [
        ['fit', 'target'],
        ['upload', 'target'],
        ['predict', 'model'],
      ] as const) {
        const { length } = bench.caught.all;
        bench.send(place, { payload: trainRows() });
        const error = (await bench.caught.first(length + 1))[length]!.error!;
        assert.equal(
          error.message,
          `No ${label} is named: the field "${label}" is \${TABULAR_EMPTY}, which is empty. Set the environment variable, or msg.${label}.`,
        );
      }
    } finally {
      delete process.env.TABULAR_EMPTY;
    }
  });

  describe('in each text field', () => {
    const SET = {
      ...{
        TT_X: 'x',
        TT_Y: 'y',
        TT_ID: 'id',
        TT_NAME: 'm',
        TT_TASK: 'classification',
        TT_TRAIN: 'train',
        TT_TEST: 'test',
      },
      ...{
        TT_TYPE: 'number',
        TT_FORMAT: 'csv',
        TT_NOTE: 'note',
        TT_SYSTEM: 'text',
        TT_EFFORT: 'high',
        TT_SECONDS: '70',
      },
      ...{
        TT_METRIC: 'log_loss',
        TT_N: '8',
        TT_PREDS: 'preds',
        TT_FILL: 'fill',
        TT_VERSION: 'v3.5',
        TT_OP: 'thinking_fit',
      },
    };
    before(() => Object.assign(process.env, SET));
    after(() => Object.keys(SET).forEach((name) => Reflect.deleteProperty(process.env, name)));

    const hosted = (...nodes: { id: string; type: string }[]) =>
      startBench({ config: { service: 'hosted', baseUrl: service.url }, token: service.token, nodes });
    const body = (route: 'fit' | 'estimate_cost' | 'prepare_train_set_upload') =>
      service.seen(route).at(-1)!.body as Anything;

    it('fit', async () => {
      const fields = {
        ...{
          target: '${TT_Y}',
          ignore: 'none,${TT_ID}',
          types: '{"${TT_X}": "${TT_TYPE}"}',
          task: '${TT_TASK}',
        },
        ...{ model: '${TT_NAME}-1', systems: ['${TT_SYSTEM}'], options: '{"n_estimators": "${TT_N}"}' },
        ...{
          thinkingEffort: '${TT_EFFORT}',
          thinkingTimeout: '${TT_SECONDS}',
          thinkingMetric: '${TT_METRIC}',
        },
      };
      const bench = await hosted(Object.assign({ id: 'fit', type: 'tabular-fit' }, fields));
      bench.send('fit', { payload: trainRows().map((row) => ({ ...row, x: String(row.x) })) });
      const [msg] = await bench.out('fit').first();
      const { target, columns, task, name } = msg!.model;
      assert.deepEqual([target, task, name], ['y', 'classification', 'm-1']);
      assert.deepEqual(columns, [
        { name: 'x', type: 'number' },
        { name: 'colour', type: 'text' },
      ]);
      const sent = JSON.stringify(body('fit'));
      for (const part of [/"n_estimators":8/, /\["text","thinking"\]/, /"high"/, /70/, /"log_loss"/]) {
        assert.match(sent, part);
      }
    });

    it('upload', async () => {
      const fields = {
        ...{
          set: '${TT_TRAIN}',
          target: '${TT_Y}',
          ignore: '["${TT_ID}"]',
          types: '{"${TT_X}": "${TT_TYPE}"}',
        },
        ...{ format: '${TT_FORMAT}', description: 'a ${TT_NOTE}' },
      };
      const bench = await hosted(
        Object.assign({ id: 'train', type: 'tabular-upload' }, fields),
        { id: 'fit', type: 'tabular-fit', ...{ target: 'y', model: 'm' } },
        { id: 'test', type: 'tabular-upload', ...{ set: '${TT_TEST}', model: '${TT_NAME}' } },
      );
      bench.send('train', { payload: trainRows().map((row) => ({ ...row, x: String(row.x) })) });
      const [msg] = await bench.out('train').first();
      assert.deepEqual([msg?.upload.set, msg?.upload.format, msg?.upload.target], ['train', 'csv', 'y']);
      assert.deepEqual(msg?.upload.columns[0], { name: 'x', type: 'number' });
      assert.match(JSON.stringify(body('prepare_train_set_upload')), /"a note"/);
      bench.send('fit', { payload: trainRows() });
      await bench.out('fit').first();
      bench.send('test', { payload: [row(1)] });
      assert.equal((await bench.out('test').first())[0]?.upload.set, 'test');
    });

    it('predict', async () => {
      const more = {
        ...{ model: '${TT_NAME}', task: '${TT_TASK}', outputType: '${TT_PREDS}', property: 'my-${TT_NOTE}' },
        ...{ missingColumns: '${TT_FILL}', batchRows: '${TT_N}', api: 'svc' },
      };
      const bench = await hosted(
        { id: 'fit', type: 'tabular-fit', ...{ target: 'y', model: 'm' } },
        { id: 'fitR', type: 'tabular-fit', ...{ target: 'y', model: 'r' } },
        Object.assign({ id: 'p', type: 'tabular-predict' }, more),
        {
          id: 'q',
          type: 'tabular-predict',
          ...{ model: 'r', outputType: 'quantiles', quantiles: '0.2,0.${TT_N}' },
        },
        { id: 'v', type: 'tabular-predict', ...{ model: 'm', api: 'V1' } },
      );
      bench.send('fit', { payload: trainRows() });
      await bench.out('fit').first();
      bench.send('p', { payload: { id: 1, x: 2 } });
      const [msg] = await bench.out('p').first();
      assert.ok(['yes', 'no'].includes(msg?.payload['my-note']));
      bench.send('fitR', { payload: trainRows().map(({ id, x }, i) => ({ id, x, y: i * 1.5 })) });
      await bench.out('fitR').first();
      bench.send('q', { payload: { id: 1, x: 2 } });
      const [spread] = await bench.out('q').first();
      assert.deepEqual(Object.keys(spread?.payload.prediction), ['0.2', '0.8']);
      bench.send('v', { payload: row(1) });
      const [refused] = await bench.caught.first();
      assert.match(refused?.error?.message ?? '', /The field "api" must be one of svc, v1/);
    });

    it('limits and cost', async () => {
      const bench = await hosted(
        Object.assign(
          { id: 'l', type: 'tabular-limits' },
          { check: true, set: '${TT_TEST}', modelVersion: '${TT_VERSION}' },
        ),
        Object.assign(
          { id: 'c1', type: 'tabular-cost' },
          { operation: '${TT_OP}', modelVersion: '${TT_VERSION}', nEstimators: '${TT_N}' },
        ),
      );
      bench.send('l', { payload: [row(1)] });
      await bench.out('l').first();
      bench.send('c1', { payload: [row(1)] });
      await bench.out('c1').first();
      const { operation, model_version, n_estimators } = body('estimate_cost');
      assert.deepEqual([operation, model_version, n_estimators], ['thinking_fit', 'v3.5', 8]);
    });
  });

  it('a subflow has those of its instance', async () => {
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [{ id: 'in', type: 'subflow:sf', env: [{ name: 'TARGET', type: 'str', value: 'y' }] }],
      extra: [
        {
          id: 'sf',
          type: 'subflow',
          name: 'train',
          in: [{ x: 1, y: 1, wires: [{ id: 'inner' }] }],
          out: [{ x: 2, y: 1, wires: [{ id: 'inner', port: 0 }] }],
          env: [
            { name: 'TARGET', type: 'str', value: '' },
            { name: 'WHERE', type: 'str', value: '' },
          ],
        },
        {
          ...{ id: 'inner', type: 'tabular-fit', z: 'sf', x: 1, y: 1, config: 'c', wires: [[]] },
          ...{ target: '${TARGET}', model: 'm${WHERE}-${NR_SUBFLOW_NAME}' },
        },
      ],
    });
    bench.send('in', { payload: trainRows() });
    const [msg] = await bench.out('in').first();
    assert.deepEqual([msg?.model.target, msg?.model.name], ['y', 'm-']);
  });
});
