import { strict as assert } from 'node:assert';

import { Connection, HostedService, ModelCards } from '../../../dist/src/connection';
import type { ServiceClient } from '../../doors/client';
import { type Bench, bench, codeOf, history, row } from './stand-in';

async function within<Result>(ms: number, promise: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not settled within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

describe('Connection.close', () => {
  let at: Bench | undefined;
  afterEach(async () => {
    await at?.close();
    at = undefined;
  });

  it('settles everything while the client is still being made, and closes it when it is there', async () => {
    let closed = 0;
    let made: (client: ServiceClient) => void = () => undefined;
    const connection = new Connection({
      service: new HostedService({ key: 'slow', open: () => new Promise((resolve) => (made = resolve)) }),
      cards: ModelCards.open({ service: 'slow' }),
    });
    const fit = codeOf(connection.train({ table: { value: history() }, target: 'species', model: 'm' }));
    const waiting = codeOf(connection.predict({ table: { value: row(1) }, model: 'm' }));
    const limits = codeOf(connection.limits());
    await new Promise((resolve) => setTimeout(resolve, 50));
    const closing = connection.close();
    assert.deepEqual(await within(500, Promise.all([fit, waiting, limits])), ['closed', 'closed', 'closed']);
    await within(3000, closing);
    made({ close: () => Promise.resolve(closed++).then(() => undefined) } as unknown as ServiceClient);
    await new Promise(setImmediate);
    assert.equal(closed, 1);
  });

  it('does not wait for a service that never answers', async () => {
    for (const route of ['get_model_limits', 'prepare_test_set_upload', 'put', 'predict', 'fit'] as const) {
      at = await bench();
      await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
      const other = at.connect();
      at.service.fault(route, () => ({ silent: true }));
      const asked = [
        codeOf(other.predict({ table: { value: row(1) }, model: 'pets' })),
        codeOf(other.train({ table: { value: history(30) }, target: 'species', model: 'new' })),
      ];
      await new Promise((resolve) => setTimeout(resolve, 150));
      await within(1500, other.close());
      for (const code of await within(500, Promise.all(asked))) {
        assert.ok(code === 'closed' || code === 'none', `${route}: ${code}`);
      }
      await at.close();
      at = undefined;
    }
  });

  it('many pieces of work at a time are no leak to Node', async () => {
    at = await bench();
    const warnings: Error[] = [];
    const note = (warning: Error): void => void warnings.push(warning);
    process.on('warning', note);
    try {
      await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
      const { connection } = at;
      const predictor = connection.predictor({ batchRows: 3 });
      const signal = new AbortController().signal;
      await Promise.all(
        Array.from({ length: 40 }, (_, testRows) => [
          connection.estimateCost({ model: 'pets', testRows }),
          predictor.predict({ table: { value: row(testRows) }, model: 'pets' }, { signal }),
          predictor.predict(
            { table: { value: `id,name,ok,size\n${testRows},a,true,1\n` }, model: 'pets' },
            { signal },
          ),
        ]).flat(),
      );
      await new Promise(setImmediate);
    } finally {
      process.off('warning', note);
    }
    assert.deepEqual(
      warnings.map((warning) => warning.message),
      [],
    );
  });

  it('an aborted message leaves the others of its batch alone', async () => {
    at = await bench({ predictMs: 100 });
    await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
    const predictor = at.connection.predictor({ batchMs: 20 });
    const controller = new AbortController();
    const table = { value: row(1) };
    const aborted = codeOf(predictor.predict({ table, model: 'pets' }, { signal: controller.signal }));
    const other = predictor.predict({ table, model: 'pets' });
    setTimeout(() => controller.abort(), 60);
    assert.equal(await aborted, 'closed');
    assert.equal((await other).modelName, 'pets');
    assert.equal(at.service.seen('predict').length, 1);
    assert.equal(
      await codeOf(predictor.predict({ table, model: 'pets' }, { signal: controller.signal })),
      'closed',
    );
  });

  it('a message aborted alone aborts its request', async () => {
    at = await bench({ predictMs: 600_000 });
    await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
    const controller = new AbortController();
    const request = { table: { value: row(1) }, model: 'pets' };
    const aborted = codeOf(at.connection.predict(request, { signal: controller.signal }));
    while (at.service.seen('predict').length === 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    controller.abort();
    assert.equal(await aborted, 'closed');
    await at.connection.close();
  });
});

describe('a model found dead', () => {
  it('is asked for again after a minute, in case the 404 came from something on the way', async () => {
    const at = await bench();
    const realNow = Date.now;
    try {
      await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
      at.service.fault('prepare_test_set_upload', () => ({
        status: 404,
        body: { message: 'gone', error_code: 'NOT_FOUND', trace_id: 'x' },
      }));
      const request = { table: { value: row(1) }, model: 'pets' };
      assert.equal(await codeOf(at.connection.predict(request)), 'model.unknown');
      const asked = at.service.requests.length;
      assert.equal(await codeOf(at.connection.predict(request)), 'model.unknown');
      assert.equal(at.service.requests.length, asked);
      at.service.fault('prepare_test_set_upload', undefined);
      Date.now = () => realNow() + 61_000;
      assert.equal(await codeOf(at.connection.predict(request)), 'none');
      assert.equal(at.cards.list()[0]!.dead, undefined);
    } finally {
      Date.now = realNow;
      await at.close();
    }
  });

  it('an answer of something else on the way marks nothing', async () => {
    const at = await bench();
    try {
      await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
      at.service.fault('prepare_test_set_upload', () => ({ status: 404, body: '<html>nginx</html>' }));
      const request = { table: { value: row(1) }, model: 'pets' };
      assert.equal(await codeOf(at.connection.predict(request)), 'not_found');
      at.service.fault('prepare_test_set_upload', undefined);
      assert.equal(await codeOf(at.connection.predict(request)), 'none');
    } finally {
      await at.close();
    }
  });
});
