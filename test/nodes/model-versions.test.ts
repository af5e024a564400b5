import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Anything, type Bench, row, server, startBench, stopBench, trainRows } from './bench';

const MODEL = 'Pümpe 1/2 & "@"';

describe('versions of a model in nodes and admin routes', function () {
  this.timeout(60_000);
  let bench: Bench;

  before(() => server.start());
  after(() => server.stop());
  afterEach(() => stopBench());

  const fit = async (labels: [string, string], more: object = {}): Promise<Anything> => {
    const payload = trainRows().map((one) => ({ ...one, y: one.y === 'yes' ? labels[0] : labels[1] }));
    const before = bench.out('fit').all.length;
    bench.send('fit', { payload, ...more });
    return (await bench.out('fit').first(before + 1)).at(-1);
  };
  const ask = async (more: object = {}): Promise<Anything> => {
    const before = bench.out('p').all.length;
    bench.send('p', { payload: row(5), model: MODEL, ...more });
    return (await bench.out('p').first(before + 1)).at(-1);
  };
  const rollBack = async (rollback: unknown): Promise<Anything> => {
    const before = bench.out('fit').all.length;
    bench.send('fit', { rollback, topic: 'kept' });
    return (await bench.out('fit').first(before + 1)).at(-1);
  };
  /** Statuses are shown four times a second at most. */
  const shows = async (status: RegExp): Promise<void> => {
    for (const end = Date.now() + 5000; !status.test(bench.status('fit')) && Date.now() < end;) {
      await sleep(20);
    }
    assert.match(bench.status('fit'), status);
  };
  const start = async (): Promise<void> => {
    bench = await startBench({
      nodes: [
        {
          id: 'fit',
          type: 'tabular-fit',
          config: '',
          target: 'y',
          model: MODEL,
          options: '{"n_estimators": 1}',
        },
        { id: 'p', type: 'tabular-predict', config: '' },
      ],
    });
  };

  it('msg.rollback puts the version before in charge, over a redeploy too; wrong ones are errors', async () => {
    await start();
    const first = await fit(['a', 'b']);
    assert.deepEqual([first.model.version, first.model.versions.length], [1, 1]);
    await fit(['c', 'd']);
    assert.equal((await ask()).payload.prediction, 'c');
    assert.equal((await ask({ model: `${MODEL}@1` })).payload.prediction, 'a');
    const msg = await rollBack(true);
    assert.equal(msg.topic, 'kept');
    assert.ok(!('rollback' in msg));
    assert.equal(msg.fitted_train_set_id, first.fitted_train_set_id);
    assert.equal(msg.model.version, 1);
    await shows(/fitted\.version/);
    assert.equal((await ask()).payload.prediction, 'a');
    await bench.redeploy();
    assert.equal((await ask()).payload.prediction, 'a');
    const again = await fit(['c', 'd']);
    assert.equal(
      again.model.version,
      1,
      'an unchanged train set does not bring back what was rolled back from',
    );
    await shows(/fitted\.stays/);
    assert.equal((await rollBack('2')).model.version, 2);
    for (const [rollback, code] of [
      [7, 'rollback.impossible'],
      [-1, 'validation.failed'],
      ['before', 'validation.failed'],
    ] as const) {
      const before = bench.caught.all.length;
      bench.send('fit', { rollback });
      assert.equal((await bench.caught.first(before + 1)).at(-1)?.error?.code, code);
    }
    assert.equal((await ask()).payload.prediction, 'c');
  });

  it('shows at once which version was put in charge elsewhere, and that the model is gone', async () => {
    await start();
    await fit(['a', 'b']);
    await fit(['c', 'd']);
    await shows(/fitted\.(?!version)/);
    const post = (what: string, body: object) =>
      bench.request().post(`/tabular-prediction/models/none/${what}`).send(body).expect(200);
    await post('rollback', { model: MODEL });
    await shows(/fitted\.version/);
    await bench.redeploy();
    await shows(/fitted\.version/);
    await post('rollback', { model: MODEL, version: 2 });
    await bench.redeploy();
    await shows(/fitted\.(?!version)/);
    await post('rename', { model: MODEL, name: 'fan' });
    await shows(/fitted\.gone/);
    await post('rename', { model: 'fan', name: MODEL });
    await shows(/fitted\.version/);
    await post('delete', { model: MODEL });
    await shows(/fitted\.gone/);
    await fit(['a', 'b']);
    await shows(/fitted\.(?!version|gone)/);
  });

  it('admin routes list, show, roll back, rename and delete, whatever the name', async () => {
    await start();
    const root = '/tabular-prediction/models';
    await fit(['a', 'b']);
    await fit(['c', 'd']);
    const all = (await bench.request().get(root).expect(200)).body as Anything[];
    assert.deepEqual(
      all.map(({ id, service, models }) => [id, service, models.map((one: Anything) => one.name)]),
      [['c', 'embedded', [MODEL]]],
    );
    const [model] = (await bench.request().get(`${root}/none`).expect(200)).body as Anything[];
    assert.equal(model.version, 2);
    assert.deepEqual(
      model.versions.map((one: Anything) => [one.version, one.why]),
      [
        [2, 'refit'],
        [1, 'first'],
      ],
    );
    assert.ok(!('columns' in model));
    const post = (what: string, body: object) => bench.request().post(`${root}/none/${what}`).send(body);
    assert.equal((await post('rollback', { model: MODEL }).expect(200)).body.version, 1);
    assert.equal((await ask()).payload.prediction, 'a');
    assert.equal((await post('rollback', { model: MODEL }).expect(409)).body.code, 'rollback.impossible');
    assert.equal((await post('rollback', { model: MODEL, version: 2 }).expect(200)).body.version, 2);
    await post('rollback', { model: MODEL, version: 'x' }).expect(400);
    await post('rollback', { model: 'none' }).expect(404);
    await post('rename', { model: MODEL }).expect(400);
    assert.equal((await post('rename', { model: MODEL, name: 'fan' }).expect(200)).body.name, 'fan');
    const card = (await bench.request().get(`${root}/none/card`).query({ model: 'fan@1' }).expect(200)).body;
    assert.deepEqual([card.version, card.columns.length, card.classes], [1, 3, ['a', 'b']]);
    await bench.request().get(`${root}/nowhere`).expect(404);
    await bench.request().post(`${root}/none/delete`).type('form').send({ model: 'fan' }).expect(400);
    const file = (
      await bench
        .request()
        .get(`${root}/none/export`)
        .query({ model: 'fan@1' })
        .buffer()
        .parse((response: Readable, done: (error: null, body: Buffer) => void) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () => done(null, Buffer.concat(pieces)));
        })
        .expect('content-disposition', /filename="fan-1\.tabular-model\.zip"/)
        .expect(200)
    ).body as Buffer;
    await bench.request().get(`${root}/none/export`).query({ model: 'none' }).expect(404);
    const send = (body: Buffer, type = 'application/octet-stream') =>
      bench.request().post(`${root}/none/import`).query({ name: 'ä b' }).type(type).send(body);
    await send(file, 'text/plain').expect(400);
    assert.equal((await send(file.subarray(9)).expect(400)).body.code, 'file.unreadable');
    assert.equal((await send(file).expect(200)).body.versions[0].why, 'imported');
    assert.equal((await ask({ model: 'ä b' })).payload.prediction, 'a');
    await bench
      .request()
      .get(`${root}/none/export`)
      .query({ model: 'ä b' })
      .expect('content-disposition', /filename="a-b-1\.tabular-model\.zip"/);
    await post('delete', { model: 'ä b' }).expect(200);
    await post('delete', { model: 'fan' }).expect(200);
    assert.deepEqual((await bench.request().get(`${root}/none`).expect(200)).body, []);
  });
});
