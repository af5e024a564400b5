import assert from 'node:assert/strict';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { type Bench, row, type Setup, startBench, stopBench, trainRows } from './bench';

/** Each wrong input: one error with its code at the Catch node, and the flow goes on. */
describe('bad input', () => {
  let service: StrictService;

  before(async () => {
    service = await startStrictService({
      limits: { max_model_limit: { train_set_max_rows: 100, max_cols: 10 }, model_limits: {} },
    });
  });

  afterEach(() => stopBench());

  after(() => service.close());

  const start = (more: Partial<Setup> = {}) =>
    startBench({
      config: { service: 'hosted', baseUrl: service.url, retries: 0 },
      token: service.token,
      ...more,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm', ...(more.nodes?.[0] ?? {}) },
        { id: 'p', type: 'tabular-predict', model: 'm' },
      ],
    });

  async function refused(
    bench: Bench,
    id: string,
    msg: object,
    code: string,
    message: RegExp,
  ): Promise<void> {
    const before = bench.caught.all.length;
    const done = bench.completed.all.length;
    bench.send(id, { topic: 'mine', ...msg });
    const caught = (await bench.caught.first(before + 1))[before]!;
    assert.equal(caught.error?.code, code, caught.error?.message);
    assert.match(caught.error?.message ?? '', message);
    assert.equal(caught.error?.source.id, id);
    assert.equal(caught.topic, 'mine');
    assert.ok(!JSON.stringify(caught.error).includes(service.token));
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(bench.caught.all.length, before + 1, 'once');
    assert.equal(bench.completed.all.length, done, 'not done as well');
    assert.ok(!bench.warnings().some((line) => line.includes(service.token)));
  }

  it('typed arrays come to the Catch node as they are, not copied value by value', async () => {
    const bench = await start();
    const columns = {
      x: new Float64Array(500_000),
      id: Uint32Array.from({ length: 500_000 }, (_, at) => at),
    };
    const bytes = new Uint8Array(2_000_000).fill(1);
    bench.send('fit', { payload: columns });
    bench.send('fit', { payload: bytes });
    const caught = await bench.caught.first(2);
    assert.deepEqual(caught.map(({ error }) => error?.code).sort(), ['table.invalid', 'target.missing']);
    const payloads = caught.map(({ payload }) => payload as unknown);
    assert.ok(payloads.includes(bytes));
    const copied = payloads.find((payload) => payload !== bytes) as typeof columns;
    assert.notEqual(copied, columns);
    assert.equal(copied.x, columns.x);
    assert.equal(copied.id, columns.id);
  });

  it('a service that there is none of', async () => {
    const bench = await start({ config: { service: 'Hosted', baseUrl: service.url } });
    await refused(
      bench,
      'fit',
      { payload: trainRows() },
      'config.invalid',
      /"service" must be one of embedded, hosted/,
    );
  });

  it('no address for a hosted service', async () => {
    const bench = await start({ config: { service: 'hosted' } });
    await refused(bench, 'fit', { payload: trainRows() }, 'config.invalid', /base URL/);
  });

  it('no token for a hosted service', async () => {
    const bench = await start({ token: '' });
    await refused(bench, 'fit', { payload: trainRows() }, 'auth.unauthorized', /token/);
  });

  it('a wrong token', async () => {
    const bench = await start({ token: 'wrong-token-hush' });
    await refused(bench, 'fit', { payload: trainRows() }, 'auth.unauthorized', /./);
    assert.ok(!JSON.stringify(bench.caught.all).includes('wrong-token-hush'));
  });

  it('an unreachable service', async () => {
    const bench = await start({ config: { service: 'hosted', baseUrl: 'http://127.0.0.1:9', retries: 0 } });
    await refused(
      bench,
      'fit',
      { payload: trainRows() },
      'service.unavailable',
      /127\.0\.0\.1:9|refused|reach/,
    );
  });

  it('a service node that is disabled or gone', async () => {
    const bench = await start({ nodes: [{ id: 'fit', type: 'tabular-fit', config: 'gone' }] });
    await refused(bench, 'fit', { payload: trainRows() }, 'config.invalid', /missing or disabled/);
  });

  it('tables, targets, models, columns and types; the next good message goes through', async () => {
    const bench = await start();
    await refused(bench, 'p', { payload: row(1) }, 'model.unknown', /m/);
    await refused(bench, 'fit', {}, 'table.empty', /msg\.payload/);
    await refused(bench, 'fit', { payload: [] }, 'table.empty', /./);
    await refused(bench, 'fit', { payload: 'x,y\n' }, 'table.empty', /./);
    await refused(bench, 'fit', { payload: 17 }, 'table.invalid', /./);
    await refused(bench, 'fit', { payload: [{ x: 1 }, { x: 2 }] }, 'target.missing', /y/);
    await refused(bench, 'fit', { payload: [{ x: [1], y: 'a' }] }, 'table.invalid', /x/);
    await refused(bench, 'fit', { payload: trainRows(101) }, 'limit.exceeded', /100/);
    await refused(
      bench,
      'fit',
      { payload: trainRows(), options: 'no json' },
      'validation.failed',
      /msg\.options/,
    );

    await refused(
      bench,
      'fit',
      { payload: trainRows(), group: 'x', folds: 'years' },
      'validation.failed',
      /msg\.folds/,
    );

    bench.send('fit', { payload: trainRows() });
    await bench.completed.first();

    await refused(bench, 'p', { payload: { id: 1 } }, 'columns.missing', /x.*colour|colour.*x/);
    const { x, ...others } = row(1);
    await refused(bench, 'p', { payload: { ...others, X: x } }, 'columns.missing', /"X" is not "x"/);
    await refused(bench, 'p', { payload: others }, 'columns.missing', /It has [^.]*\.$/);
    await refused(bench, 'p', { payload: { ...row(1), x: 'seven' } }, 'table.invalid', /x/);
    await refused(bench, 'p', { payload: { ...row(1), x: [1] } }, 'table.invalid', /x/);
    await refused(bench, 'p', { payload: row(1), output_type: 'median' }, 'config.invalid', /./);
    await refused(bench, 'p', { payload: row(1), task: 'guess' }, 'validation.failed', /msg\.task/);

    bench.send('p', { payload: row(5) });
    const [msg] = await bench.out('p').first();
    assert.equal(msg?.payload.prediction, 'yes');
  });

  it('no target at all', async () => {
    const bench = await start({ nodes: [{ id: 'fit', type: 'tabular-fit', target: '' }] });
    await refused(bench, 'fit', { payload: trainRows() }, 'target.missing', /msg\.target/);
  });

  it('fields of the dialog that make no sense', async () => {
    const bench = await start({
      nodes: [{ id: 'fit', type: 'tabular-fit', target: 'y', types: '{"x":"float"}' }],
    });
    await refused(bench, 'fit', { payload: trainRows() }, 'config.invalid', /"float"/);
  });

  it('an object of too many properties, whose names are gathered once, and a Map', async () => {
    const names = Array.from({ length: 17_000 }, (_, i) => `c${i}`);
    const wide = Object.fromEntries(names.map((name) => [name, 1]));
    const nodes = ['fit', 'upload', 'predict', 'series', 'watch', 'cost'].map((type) => ({
      ...{ id: type, type: `tabular-${type}`, target: 'y', column: 'c1', model: 'm' },
    }));
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url, retries: 0 },
      token: service.token,
      nodes,
    });
    bench.send('fit', { payload: trainRows() });
    await bench.completed.first();
    for (const { id } of nodes) {
      for (const make of [(row: object) => row, (row: object) => [row]]) {
        let gathered = 0;
        const ownKeys = (target: object): (string | symbol)[] => {
          gathered++;
          return Reflect.ownKeys(target);
        };
        // Without a truth or a prediction a watch node has no need of any name.
        if (id !== 'watch' || make(wide) === wide) {
          const before = bench.caught.all.length;
          bench.send(id, { payload: make(new Proxy(wide, { ownKeys })) });
          const { error, payload } = (await bench.caught.first(before + 1)).at(-1)!;
          assert.deepEqual([error?.code, gathered], ['limit.exceeded', 1], id);
          assert.match(payload as string, /an object of very many properties/);
        }
      }
      if (id !== 'watch') {
        const many = new Map(names.map((name) => [name, 1]));
        const before = bench.caught.all.length;
        bench.send(id, { payload: many });
        const { error, payload } = (await bench.caught.first(before + 1)).at(-1)!;
        assert.equal(error?.code, 'table.invalid', id);
        assert.match(payload as string, /a Map of 17000 values/);
      }
    }
  });

  it('a file that is not there', async () => {
    const bench = await start({
      nodes: [
        {
          id: 'fit',
          type: 'tabular-fit',
          target: 'y',
          source: 'file',
          table: '/no/such/file.csv',
          tableType: 'str',
        },
      ],
    });
    await refused(bench, 'fit', {}, 'file.unreadable', /file\.csv/);
  });
});
