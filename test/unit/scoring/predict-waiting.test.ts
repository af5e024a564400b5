import { strict as assert } from 'node:assert';

import type { Predictor } from '../../../dist/src/connection';
import { waitFor } from '../../helpers/wait';
import { ask, benchWithModel, probability, REFUSED } from './predict-bench';
import { type Bench, bench, codeOf, history, row, settled } from './stand-in';

describe('Predictor, what waits', () => {
  let at: Bench;
  const start = async (...options: Parameters<typeof benchWithModel>): Promise<void> => {
    at = await benchWithModel(...options);
  };
  afterEach(() => at.close());

  it('results keep the order of arrival, however long a table takes to read; unordered ones do not wait', async () => {
    await start();
    const lines = Array.from({ length: 15_000 }, (_, id) => `${id},n${id % 3},${id % 2 === 0},${id}.5`);
    const long = `id,name,ok,size\n${lines.join('\n')}\n`;
    for (const ordered of [true, false]) {
      const predictor = at.connection.predictor({ ordered });
      const order: string[] = [];
      await Promise.all([
        predictor.predict(ask(long)).then(() => order.push('long')),
        predictor.predict(ask(row(1))).then(() => order.push('short')),
        predictor.predict(ask(row(2))).then(() => order.push('short')),
      ]);
      assert.deepEqual(order, ordered ? ['long', 'short', 'short'] : ['short', 'short', 'long']);
    }
  });

  it('messages for a model whose fit is under way wait for it', async () => {
    at = await bench({ fitMs: 150 });
    const predictor = at.connection.predictor();
    assert.equal(await codeOf(predictor.predict(ask(row(1)))), 'model.unknown');
    const fit = at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
    const waiting = Array.from({ length: 50 }, (_, id) => predictor.predict(ask(row(id))));
    assert.equal(predictor.load().waiting, 50);
    for (const [id, outcome] of (await Promise.all(waiting)).entries()) {
      assert.deepEqual((outcome.prediction as number[][])[0]![0], probability(id));
    }
    await fit;
    assert.deepEqual(at.service.breaches, []);
  });

  it('they fill the queue meanwhile, and may be dropped from it', async () => {
    at = await bench({ fitMs: 150 });
    const fit = at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
    const full = at.connection.predictor({ queueRows: 3 });
    const oldest = at.connection.predictor({ queueRows: 3, overflow: 'dropOldest' });
    const reset = at.connection.predictor();
    const send = (predictor: Predictor) =>
      [0, 1, 2, 3, 4].map((id) => settled(predictor.predict(ask(row(id)))));
    const all = [send(full), send(oldest), send(reset)];
    assert.equal(reset.reset(), 5);
    const codes = await Promise.all(
      all.map(async (results) =>
        (await Promise.all(results)).map((result) => (typeof result === 'string' ? result : 'ok')),
      ),
    );
    assert.deepEqual(codes, [
      ['ok', 'ok', 'ok', 'queue.full', 'queue.full'],
      ['queue.full', 'queue.full', 'ok', 'ok', 'ok'],
      ['closed', 'closed', 'closed', 'closed', 'closed'],
    ]);
    await fit;
  });

  it('messages that are dropped no longer wait for a model that never comes', async () => {
    at = await bench();
    const predictor = at.connection.predictor({ noModel: 'wait', queueRows: 3, overflow: 'dropOldest' });
    const results = [0, 1, 2, 3, 4].map((id) => settled(predictor.predict(ask(row(id), { model: 'none' }))));
    await Promise.all(results.slice(0, 2));
    assert.equal(predictor.load().forModel, 3);
    predictor.reset();
    assert.deepEqual(new Set(await Promise.all(results)), new Set(['queue.full', 'closed']));
    assert.equal(predictor.load().forModel, 0);
    // A later message for the same name begins to wait again, and is predicted once the model is there.
    const later = predictor.predict(ask(row(7), { model: 'none' }));
    await at.connection.train({ table: { value: history() }, target: 'species', model: 'none' });
    assert.deepEqual(((await later).prediction as number[][])[0]![0], probability(7));
  });

  it('a test set for a model whose fit is under way waits for it too', async () => {
    at = await bench({ fitMs: 100 });
    const fit = at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
    const upload = await at.connection.upload({ set: 'test', table: { value: [row(1)] }, model: 'pets' });
    assert.equal(upload.fitted_train_set_id, (await fit).card.fitted_train_set_id);
    const unknown = at.connection.upload({ set: 'test', table: { value: [row(1)] }, model: 'nope' });
    assert.equal(await codeOf(unknown), 'model.unknown');
  });

  it('they are settled if it fails', async () => {
    at = await bench();
    at.service.fault('fit', () => ({ ...REFUSED }));
    const fit = codeOf(
      at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' }),
    );
    const predictor = at.connection.predictor();
    const waiting = [1, 2].map((id) => settled(predictor.predict(ask(row(id)))));
    assert.deepEqual(await Promise.all(waiting), ['model.unknown', 'model.unknown']);
    assert.equal(await fit, 'validation.failed');
    await assert.rejects(
      predictor.predict(ask(row(1))),
      /its fit failed\. The fit was refused \(422\): no\. Fit a model under that name first\.$/,
    );
  });

  it('a new fit under the same name takes over between batches, with other columns too', async () => {
    await start({ predictMs: 40 });
    const predictor = at.connection.predictor({ batchRows: 5 });
    const before = Array.from({ length: 40 }, (_, id) => predictor.predict(ask(row(id))));
    const { card } = await at.connection.train({
      table: { value: history(30) },
      target: 'species',
      ignore: ['ok', 'size'],
      model: 'pets',
    });
    const after = Array.from({ length: 10 }, (_, id) => predictor.predict(ask(row(id + 40))));
    for (const [id, outcome] of (await Promise.all([...before, ...after])).entries()) {
      assert.deepEqual((outcome.prediction as number[][])[0]![0], probability(id));
    }
    const models = at.service
      .seen('predict')
      .map((seen) => (seen.body as { fitted_train_set_id: string }).fitted_train_set_id);
    assert.equal(new Set(models).size, 2);
    assert.deepEqual(
      [...models].sort((a) => (a === card.fitted_train_set_id ? 1 : -1)),
      models,
    );
    assert.deepEqual(at.service.breaches, []);
  });

  it('close settles what waits and what flies', async () => {
    await start({ predictMs: 600_000 });
    const predictor = at.connection.predictor();
    const results = Array.from({ length: 20 }, (_, id) => settled(predictor.predict(ask(row(id)))));
    await waitFor('predicts under way', () => at.service.seen('predict').length > 0);
    await at.connection.close();
    assert.deepEqual(new Set(await Promise.all(results)), new Set(['closed']));
    assert.equal(await codeOf(predictor.predict(ask(row(1)))), 'closed');
  });
});
