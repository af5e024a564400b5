import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { connect, type ServiceError, type Tabular } from '../../dist/src';
import { type Endpoint, startEndpoint } from '../helpers/endpoint';
import { withTemporaryFolder } from '../helpers/temporary';
import { sharedService } from './shared';

const history = Array.from({ length: 60 }, (_, i) => ({
  load: i % 20,
  fluid: ['oil', 'wat"er\n', null][i % 3],
  on: i % 2 === 0,
  since: new Date(1_700_000_000_000 + i * 1000),
  state: i % 20 < 10 ? 'low' : 'high',
  heat: (i % 20) * 2 + 0.5,
}));
/** A row of the history without what is predicted. */
const row = (at: number) => ({ ...history[at]!, state: undefined, heat: undefined });
const row3 = row(3);
const row15 = row(15);
const classify = { target: 'state', ignore: ['heat'] };

describe('on-premises: an endpoint of one stateless route', function () {
  this.timeout(60_000);
  let endpoint: Endpoint;
  let folder: string;
  let tabular: Tabular;
  const warnings: string[] = [];
  const open = (more: Partial<Parameters<typeof connect>[0]> = {}): Promise<Tabular> =>
    connect({
      endpoint: endpoint.url,
      models: path.join(folder, 'models.json'),
      trainRows: path.join(folder, 'rows'),
      log: (level, text) => level === 'warn' && warnings.push(text),
      ...more,
    });

  before(async () => {
    endpoint = await startEndpoint();
    folder = await mkdtemp(path.join(tmpdir(), 'on-prem-'));
    tabular = await open();
  });
  beforeEach(() => {
    endpoint.asked.length = 0;
    endpoint.fault = () => undefined;
  });
  after(async () => {
    await tabular.close();
    await endpoint.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('gets train rows and test rows in one request, in the shape of the route', async () => {
    const card = await tabular.train({ table: history, ...classify, options: { n_estimators: 4 } });
    assert.equal(card.keeps_rows, true);
    assert.equal(endpoint.asked.length, 1, 'the fit asks for one prediction');
    assert.equal(endpoint.asked[0]!.body.X_test.length, 1);
    const { table } = await tabular.predict({ table: [row3, row15], model: card });
    const { body, authorization } = endpoint.asked[1]!;
    assert.equal(authorization, undefined);
    assert.deepEqual(body.task_config, {
      task: 'classification',
      svc_config: { n_estimators: 4 },
      predict_params: { output_type: 'probas' },
    });
    assert.deepEqual(Object.keys(body), ['task_config', 'X_train', 'y_train', 'X_test']);
    assert.equal(body.X_train!.length, 60);
    assert.deepEqual(body.X_train![1], [1, 'wat"er\n', false, 1_700_000_001]);
    assert.deepEqual(body.X_train![2], [2, null, true, 1_700_000_002]);
    assert.deepEqual(body.y_train![0], ['low']);
    assert.deepEqual(
      (table as { prediction: string }[]).map(({ prediction }) => prediction),
      ['low', 'high'],
    );
    assert.deepEqual((table as { prediction_probabilities: object }[])[1]!.prediction_probabilities, {
      high: 1,
      low: 0,
    });
  });

  it('predicts numbers, quantiles, and scores rows that are held back', async () => {
    const card = await tabular.train({
      table: history,
      target: 'heat',
      ignore: ['state'],
      task: 'regression',
      holdout: 20,
    });
    assert.equal(card.scores?.from, 'holdout');
    assert.equal(card.rows, 48);
    const asking = { table: [row15], model: card, outputType: 'quantiles' as const, quantiles: [0.1, 0.9] };
    const { table } = await tabular.predict(asking);
    assert.deepEqual((table as { prediction: object }[])[0]!.prediction, { '0.1': 30.5, '0.9': 30.5 });
    assert.deepEqual(endpoint.asked.at(-1)!.body.task_config.predict_params, {
      output_type: 'quantiles',
      quantiles: [0.1, 0.9],
    });
  });

  it('is known again after a restart, and an unchanged train set asks for nothing', async () => {
    await tabular.close();
    tabular = await open();
    const { table } = await tabular.predict({ table: row15, model: 'state' });
    assert.equal((table as { prediction: string }).prediction, 'high');
    endpoint.asked.length = 0;
    await tabular.train({ table: history, ...classify, options: { n_estimators: 4 } });
    assert.deepEqual(endpoint.asked, []);
  });

  it('messages at the same time share a request; a bad one fails alone', async () => {
    const one = (load: unknown) => tabular.predict({ table: { ...row3, load }, model: 'state' });
    const asked = await Promise.allSettled([
      one('much'),
      ...Array.from({ length: 20 }, (_, load) => one(load)),
    ]);
    const [bad, ...good] = asked;
    assert.equal(((bad as PromiseRejectedResult).reason as ServiceError).code, 'table.invalid');
    for (const [load, outcome] of good.entries()) {
      const { value } = outcome as PromiseFulfilledResult<{ table?: unknown }>;
      assert.equal((value.table as { prediction: string }).prediction, load < 10 ? 'low' : 'high');
    }
    assert.ok(endpoint.asked.length < 10, `${endpoint.asked.length} requests`);
  });

  it('test rows that one request has no room for go in several, joined in order', async () => {
    const small = await open({ requestBytes: 4000 });
    try {
      const lean = history.map(({ load, state }) => ({ load, state }));
      const card = await small.train({ table: lean, target: 'state', model: 'small' });
      endpoint.asked.length = 0;
      const rows = Array.from({ length: 1500 }, (_, i) => ({ load: (i * 7) % 20 }));
      const { table, metadata } = await small.predict({ table: rows, model: card });
      assert.ok(endpoint.asked.length > 2, `${endpoint.asked.length} requests`);
      assert.ok(endpoint.asked.every(({ bytes }) => bytes <= 4000));
      assert.deepEqual(
        (table as { prediction: string }[]).map(({ prediction }) => prediction),
        rows.map(({ load }) => (load < 10 ? 'low' : 'high')),
      );
      assert.equal(metadata.test_set_num_rows, 1500);
      const much = Array.from({ length: 2000 }, (_, i) => ({ load: i * Math.E, state: 'a' }));
      endpoint.asked.length = 0;
      await assert.rejects(small.train({ table: much, target: 'state' }), (error: ServiceError) => {
        assert.equal(error.code, 'limit.exceeded');
        return true;
      });
      assert.deepEqual(endpoint.asked, []);
    } finally {
      await small.close();
    }
  });

  it('with fit_with_cache the train rows go once, and again where the endpoint has lost the model', async () => {
    const options = { fit_mode: 'fit_with_cache' };
    const card = await tabular.train({ table: history, ...classify, model: 'cached', options });
    assert.ok(endpoint.asked[0]!.body.X_train !== undefined);
    await tabular.close();
    tabular = await open();
    const ask = async () =>
      (await tabular.predict({ table: row15, model: card })).table as { prediction: string };
    assert.equal((await ask()).prediction, 'high');
    assert.deepEqual(Object.keys(endpoint.asked[1]!.body).sort(), ['X_test', 'context', 'task_config']);
    endpoint.models.clear();
    assert.equal((await ask()).prediction, 'high');
    assert.deepEqual(
      endpoint.asked.slice(2).map(({ body }) => body.X_train?.length),
      [undefined, 60],
    );
    assert.equal((await ask()).prediction, 'high');
    assert.equal(endpoint.asked.at(-1)!.body.X_train, undefined);
  });

  it('a model whose rows are gone says that it has to be fitted again, and a fit makes it whole', async () => {
    await rm(path.join(folder, 'rows'), { recursive: true, force: true });
    await assert.rejects(tabular.predict({ table: row15, model: 'state' }), (error: ServiceError) => {
      assert.equal(error.code, 'model.unknown');
      assert.match(error.message, /Fit it again/);
      return true;
    });
    await tabular.close();
    tabular = await open();
    await tabular.train({ table: history, ...classify, options: { n_estimators: 4 } });
    assert.equal(
      ((await tabular.predict({ table: row15, model: 'state' })).table as { prediction: string }).prediction,
      'high',
    );
  });

  it('is asked again after faults that pass; what it refuses is told with its words', async () => {
    let faults = 2;
    endpoint.fault = () =>
      faults-- > 0
        ? { status: 503, body: { detail: 'warming up' }, headers: { 'retry-after': '0' } }
        : undefined;
    await tabular.predict({ table: row15, model: 'state' });
    assert.equal(endpoint.asked.length, 3);
    endpoint.fault = () => ({ status: 422, body: { detail: 'too many classes' } });
    await assert.rejects(
      tabular.train({ table: history, target: 'load', task: 'classification' }),
      (error: ServiceError) => {
        assert.equal(error.code, 'validation.failed');
        assert.match(error.message, /The fit was refused \(422\): too many classes/);
        return true;
      },
    );
    endpoint.fault = () => ({ status: 200, body: { prediction: [[1, 0]] } });
    await assert.rejects(tabular.predict({ table: [row3, row15], model: 'state' }), {
      code: 'response.invalid',
    });
  });

  it('what it has no way for is refused in words, before anything is sent', async () => {
    const refused = async (work: Promise<unknown>, said: RegExp): Promise<void> => {
      await assert.rejects(work, (error: ServiceError) => {
        assert.equal(error.code, 'config.invalid');
        assert.match(error.message, said);
        return true;
      });
    };
    await refused(
      tabular.train({ table: history, ...classify, thinking: { effort: 'high' } }),
      /no thinking fits/,
    );
    const limited = await open({ settings: { maxCost: 5 } });
    await refused(limited.predict({ table: row15, model: 'state' }), /reports no costs/);
    await limited.close();
    await refused(connect({ endpoint: endpoint.url, dataDir: folder }), /Give one of dataDir/);
    assert.deepEqual(endpoint.asked, []);
    const onWarning = (text: string): void => void warnings.push(text);
    await tabular.train({ table: history, ...classify, model: 'warned', systems: ['text'], onWarning });
    assert.match(warnings.join('\n'), /Systems has no effect/);
  });

  it('keeps train rows in a temporary folder where none is named, until it is closed', async () => {
    const own = await mkdtemp(path.join(folder, 'temporary-'));
    await withTemporaryFolder(own, async () => {
      const client = await connect({ endpoint: endpoint.url });
      await client.train({ table: history, ...classify });
      const kept = async () => (await readdir(own)).filter((name) => name.startsWith('tabular-train-rows-'));
      assert.equal((await kept()).length, 1);
      await client.close();
      assert.deepEqual(await kept(), []);
    });
  });

  it('gets the token where there is one, and a wrong one is auth.unauthorized', async () => {
    const guarded = await startEndpoint({ token: 'key-123456', path: '/v2/predict' });
    try {
      for (const [token, code] of [
        ['key-123456', undefined],
        ['wrong-key', 'auth.unauthorized'],
        ['', 'auth.unauthorized'],
      ] as const) {
        const client = await connect({ endpoint: guarded.url, token, retries: 0 });
        const work = client.train({ table: history, ...classify });
        await (code === undefined ? work : assert.rejects(work, { code }));
        await client.close();
      }
      const away = await connect({ endpoint: guarded.url.replace('/v2', ''), token: 'key-123456' });
      await assert.rejects(away.train({ table: history, ...classify }), { code: 'not_found' });
      await away.close();
    } finally {
      await guarded.close();
    }
  });
});

describe('on-premises: the embedded service as the endpoint', function () {
  this.timeout(60_000);

  it('learns from what it is sent: labels, numbers, text, gaps; and caches where asked', async () => {
    const h = await sharedService();
    const tabular = await connect({ endpoint: h.url('/predict'), token: h.service.token });
    try {
      const rows = Array.from({ length: 200 }, (_, i) => ({
        code: ['007', '12', null][i % 3],
        load: i % 40,
        state: i % 40 < 20 ? 'low' : 'high',
        size: (i % 40) * 3 + (i % 3 === 0 ? 50 : 0),
      }));
      for (const more of [{}, { fit_mode: 'fit_with_cache' }]) {
        const options = { n_estimators: 2, ...more };
        const labels = await tabular.train({ table: rows, target: 'state', ignore: ['size'], options });
        const asked = [
          { code: '12', load: 3 },
          { code: null, load: 35 },
        ];
        const { table } = await tabular.predict({ table: asked, model: labels });
        assert.deepEqual(
          (table as { prediction: string }[]).map(({ prediction }) => prediction),
          ['low', 'high'],
        );
        const size = await tabular.train({
          table: rows,
          target: 'size',
          ignore: ['state'],
          task: 'regression',
          options,
        });
        const { table: sizes } = await tabular.predict({
          table: { code: '007', load: 30 },
          model: size,
          outputType: 'median',
        });
        assert.ok(Math.abs((sizes as { prediction: number }).prediction - 140) < 15, JSON.stringify(sizes));
      }
      assert.equal(
        (await readdir(path.join(h.folder, 'models'))).length,
        2,
        'a model for each that is cached',
      );
      assert.deepEqual(await readdir(path.join(h.folder, 'uploads')), []);
    } finally {
      await tabular.close();
    }
  });
});
