import { strict as assert } from 'node:assert';

import type { PredictOutcome } from '../../../dist/src/connection';
import { ask, benchWithModel, probability, REFUSED } from './predict-bench';
import { type Bench, codeOf, history, row, settled } from './stand-in';

describe('Predictor, what is refused', () => {
  let at: Bench;
  const start = async (...options: Parameters<typeof benchWithModel>): Promise<void> => {
    at = await benchWithModel(...options);
  };
  afterEach(() => at.close());

  it('options that cannot be JSON are named, in predict, in fit and on a card', async () => {
    await start();
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    const { card } = await at.connection.train({
      table: { value: history() },
      target: 'species',
      model: 'pets',
    });
    for (const options of [cyclic, { n_estimators: 1n }]) {
      const asked = [
        at.connection.predict(ask(row(1), { options })),
        at.connection.predict(ask(row(1), { model: { ...card, options } })),
        at.connection.train({ table: { value: history() }, target: 'species', model: 'm', options }),
      ];
      for (const one of asked) {
        await assert.rejects(one, { code: 'validation.failed', message: /cannot be written as JSON/ });
      }
    }
  });

  it('a bad row never fails its neighbours, and is named by its own row', async () => {
    await start({ predictMs: 20 });
    const predictor = at.connection.predictor();
    const bad: Record<number, [unknown, string]> = {
      3: [{ ...row(3), size: 'wide' }, 'table.invalid'],
      7: [{ id: 7 }, 'columns.missing'],
      8: [{ ...row(8), name: { nested: true } }, 'table.invalid'],
      9: [[row(9), { ...row(9), ok: 'perhaps' }], 'table.invalid'],
      10: ['', 'table.empty'],
      11: [undefined, 'table.invalid'],
    };
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, id) => settled(predictor.predict(ask(bad[id]?.[0] ?? row(id))))),
    );
    for (const [id, result] of results.entries()) {
      if (bad[id] !== undefined && id !== 11) {
        assert.equal(result, bad[id][1], String(id));
      } else if (id !== 11) {
        assert.deepEqual((result as PredictOutcome).prediction, [[probability(id), 1 - probability(id)]]);
      }
    }
    await assert.rejects(predictor.predict(ask(bad[9]![0])), /"ok".*row 2|row 2.*"ok"/i);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a row with none of the columns is refused where missing ones are filled, alone or in company', async () => {
    await start({ predictMs: 30 });
    const predictor = at.connection.predictor();
    const fill = (value: unknown) => settled(predictor.predict(ask(value, { missingColumns: 'fill' })));
    assert.equal(await fill({ strange: 1 }), 'columns.missing');
    const busy = Array.from({ length: 8 }, () => fill(row(1)));
    const strange = fill({ strange: 1 });
    const known = fill({ id: 4 });
    assert.equal(await strange, 'columns.missing');
    assert.deepEqual(((await known) as PredictOutcome).prediction, [[probability(4), 1 - probability(4)]]);
    await Promise.all(busy);
  });

  it('a batch that is refused is halved until the culprits are alone', async () => {
    await start({
      predictMs: 20,
      rowValue: ({ id }) => {
        if (id === 13 || id === 60) {
          throw new Error('unlucky');
        }
        return Number(id);
      },
    });
    const predictor = at.connection.predictor();
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, id) => settled(predictor.predict(ask(row(id))))),
    );
    for (const [id, result] of results.entries()) {
      if (id === 13 || id === 60) {
        assert.equal(result, 'validation.failed');
      } else {
        assert.deepEqual((result as PredictOutcome).prediction, [[probability(id), 1 - probability(id)]]);
      }
    }
    assert.ok(at.service.seen('predict').length < 4 + 32);
  });

  it('a batch that is always refused takes 32 predicts and no more', async () => {
    await start();
    at.service.fault('predict', () => REFUSED);
    const predictor = at.connection.predictor({ batchMs: 50 });
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, id) => settled(predictor.predict(ask(row(id))))),
    );
    assert.ok(results.every((result) => result === 'validation.failed'));
    assert.equal(at.service.seen('predict').length, 32);
  });

  it('32 predicts hold also where the service reuses uploads, or the batch goes in groups', async () => {
    await start({ testDuplicates: true });
    at.service.fault('predict', () => REFUSED);
    const send = async (): Promise<void> => {
      const predictor = at.connection.predictor({ batchMs: 50 });
      const results = Array.from({ length: 100 }, (_, id) => settled(predictor.predict(ask(row(id)))));
      assert.ok((await Promise.all(results)).every((result) => result === 'validation.failed'));
    };
    await send();
    await send();
    assert.equal(at.service.seen('predict').length, 2 * 32);
    await at.close();
    await start({ limits: { max_model_limit: { test_set_max_rows: 25 } } });
    at.service.fault('predict', () => REFUSED);
    await send();
    assert.equal(at.service.seen('predict').length, 3 + 32);
  });

  it('an answer with another number of rows is refused', async () => {
    await start();
    at.service.fault('predict', () => ({
      patch: {
        prediction: [
          [0.1, 0.9],
          [0.2, 0.8],
        ],
      },
    }));
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'response.invalid');
  });
});
