import { strict as assert } from 'node:assert';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  Connection,
  type ModelCard,
  type Predictor,
  type PredictOutcome,
  type PredictRequest,
  type StatusEvent,
} from '../../../dist/src/scoring';
import { ServiceClient } from '../../doors/client';
import type { ServiceError } from '../../doors/wire';
import { inTurn, type StrictOptions } from '../../helpers/strict-service';
import { type Bench, bench, codeOf, history, row, settled } from './stand-in';

const probability = (id: number): number => 1 / (id + 2);
const REFUSED = {
  status: 422,
  body: { code: 'validation.failed', detail: 'no', retryable: false, support: '' },
};
const NOT_FOUND = { status: 404, body: { message: 'gone', error_code: 'NOT_FOUND', trace_id: 'x' } };

describe('Predictor', () => {
  let at: Bench;
  const start = async (options: StrictOptions = {}, target = 'species'): Promise<void> => {
    at = await bench(options);
    await at.connection.train({ table: { value: history() }, target, model: 'pets' });
  };
  const ask = (value: unknown, more: PredictRequest = {}): PredictRequest => ({
    table: { value },
    model: 'pets',
    ...more,
  });
  /** The test sets that were predicted, by their sizes. */
  const sizes = (): Promise<number[]> =>
    Promise.all(
      at.service.seen('predict').map(async ({ body }) => {
        const rows = await at.service.rowsOf((body as { test_set_upload_id: string }).test_set_upload_id);
        return rows.length;
      }),
    );
  afterEach(() => at.close());

  it('repeats the options of the fit with each predict, but for its lists of rows', async () => {
    at = await bench({});
    const fitted = async (inference_config: object) => {
      const options = { n_estimators: 2, inference_config };
      await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets', options });
      await at.connection.predictor().predict(ask(row(1)));
      const body = at.service.seen('predict').at(-1)!.body as { task_config: Record<string, unknown> };
      return body.task_config.svc_config;
    };
    assert.deepEqual(await fitted({ SUBSAMPLE_SAMPLES: [[0, 1, 2], [3]], OTHER: 1 }), {
      n_estimators: 2,
      inference_config: { OTHER: 1 },
    });
    assert.deepEqual(await fitted({ subsample_samples: [[0, 1, 2]] }), { n_estimators: 2 });
    const short = { SUBSAMPLE_SAMPLES: 100 };
    assert.deepEqual(await fitted(short), { n_estimators: 2, inference_config: short });
  });

  it('each message gets its own prediction, metadata and rows, in order', async () => {
    await start({ predictMs: 20 });
    const predictor = at.connection.predictor();
    const order: number[] = [];
    const ids = Array.from({ length: 300 }, (_, id) => id);
    const outcomes = await Promise.all(
      ids.map(async (id) => {
        const outcome = await predictor.predict(ask(row(id)));
        order.push(id);
        return outcome;
      }),
    );
    assert.deepEqual(order, ids);
    const metadata = new Set<object>();
    for (const [id, outcome] of outcomes.entries()) {
      const p = probability(id);
      assert.deepEqual(outcome.prediction, [[p, 1 - p]]);
      assert.deepEqual(outcome.table, {
        ...row(id),
        prediction: p >= 0.5 ? 'cat' : 'dog',
        prediction_probabilities: { cat: p, dog: 1 - p },
      });
      assert.equal(outcome.metadata.test_set_num_rows, 1);
      assert.equal(outcome.metadata.package_version, 'strict-1.0.0');
      assert.equal(outcome.modelName, 'pets');
      metadata.add(outcome.metadata).add(outcome.metadata.svc_config as object);
    }
    assert.equal(metadata.size, 600);
    assert.ok(at.service.seen('predict').length <= 10, `${at.service.seen('predict').length} predicts`);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a card that came by way of JSON: what it may lack is filled in, what is wrong in it is named', async () => {
    await start();
    const { options, rows, ...card } = at.cards.get('pets')!;
    assert.deepEqual([options, rows], [{}, 20]);
    const { prediction } = await at.connection.predict(ask(row(3), { model: card as ModelCard }));
    assert.equal((prediction as unknown[]).length, 1);
    const wrong = async (columns: unknown, says: RegExp) => {
      const model = { ...card, columns } as unknown as ModelCard;
      await assert.rejects(at.connection.predict(ask(row(3), { model })), says);
      assert.equal(await settled(at.connection.predict(ask(row(3), { model }))), 'validation.failed');
    };
    await wrong(
      [card.columns[0], { name: 'id', type: 'zork' }],
      /Column 2 of the model card .* number, integer/,
    );
    await wrong([null], /Column 1 of the model card/);
    await assert.rejects(at.connection.estimateCost({ model: { ...card, columns: 3 } as never }), {
      code: 'model.unknown',
      message: /it lacks columns/,
    });
  });

  it('limits are a copy: what a flow does to them changes no check', async () => {
    at = await bench({});
    const limits = await at.connection.limits();
    limits.max_model_limit = { train_set_max_rows: 1 };
    limits.model_limits = {};
    await at.connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
  });

  it('a message keeps the values that it came with', async () => {
    await start({ predictMs: 20 });
    const predictor = at.connection.predictor();
    const state = row(0);
    const outcomes: Promise<PredictOutcome>[] = [];
    for (let id = 0; id < 20; id++) {
      state.id = id;
      outcomes.push(predictor.predict(ask(state)));
    }
    state.id = 99;
    for (const [id, outcome] of (await Promise.all(outcomes)).entries()) {
      assert.equal((outcome.table as { id: number }).id, id);
      assert.deepEqual((outcome.prediction as number[][])[0]![0], probability(id));
    }
  });

  it('every form of table gets its predictions where they belong', async () => {
    await start();
    const rows = [row(1), row(2)];
    const tables: [unknown, (table: never) => unknown[]][] = [
      [rows, (table: Record<string, unknown>[]) => table.map((one) => one.p)],
      [
        { id: [1, 2], name: ['a', 'b'], ok: [true, false], size: [1, 2] },
        (table: Record<string, unknown[]>) => table.p!,
      ],
      [
        [['id', 'name', 'ok', 'size'], ...rows.map((one) => [one.id, one.name, one.ok, one.size])],
        (table: unknown[][]) => table.slice(1).map((one) => one[4]),
      ],
      [
        'size,id,name,ok\n1,1,a,true\n2,2,b,false\n',
        (table: Record<string, unknown>[]) => table.map((one) => one.p),
      ],
      [JSON.stringify(rows), (table: Record<string, unknown>[]) => table.map((one) => one.p)],
    ];
    for (const [value, predictions] of tables) {
      const outcome = await at.connection.predict(ask(value, { outputType: 'preds', property: 'p' }));
      assert.deepEqual(outcome.prediction, ['dog', 'cat'], JSON.stringify(value));
      assert.deepEqual(predictions(outcome.table as never), ['dog', 'cat'], JSON.stringify(value));
      assert.equal(outcome.metadata.test_set_num_rows, 2);
    }
    assert.deepEqual(at.service.breaches, []);
  });

  it('Arrow and Parquet become rows', async () => {
    await start();
    const { tableFromJSON, tableToIPC } = await import('apache-arrow');
    const arrow = tableFromJSON([row(1), row(2)]);
    const upload = await at.connection.upload({ set: 'test', table: { value: arrow }, model: 'pets' });
    for (const value of [arrow, Buffer.from(tableToIPC(arrow, 'file')), at.service.bytesOf(upload.id)]) {
      const outcome = await at.connection.predict(ask(value, { outputType: 'preds' }));
      assert.deepEqual(outcome.prediction, ['dog', 'cat']);
      assert.deepEqual(outcome.table, [
        { ...row(1), prediction: 'dog' },
        { ...row(2), prediction: 'cat' },
      ]);
    }
    assert.deepEqual(at.service.breaches, []);
  });

  it('messages of many forms share a test set', async () => {
    await start({ predictMs: 150 });
    const predictor = at.connection.predictor();
    const values: unknown[] = [];
    for (let id = 0; id < 40; id++) {
      const one = row(id);
      values.push(
        [
          one,
          [one, row(id + 100)],
          { id: [id], name: ['x'], ok: [true], size: [1] },
          `id,name,ok,size\n${id},x,true,1\n`,
        ][id % 4],
      );
    }
    const outcomes = await Promise.all(values.map((value) => predictor.predict(ask(value))));
    for (const [id, { prediction }] of outcomes.entries()) {
      const ids = id % 4 === 1 ? [id, id + 100] : [id];
      assert.deepEqual(
        (prediction as number[][]).map(([first]) => first),
        ids.map(probability),
      );
    }
    assert.ok(at.service.seen('predict').length < 20);
    assert.deepEqual(at.service.breaches, []);
  });

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

  it('a missing column may be filled; a target in the row is ignored, and other columns are dropped', async () => {
    await start();
    const { id, name } = row(4);
    const outcome = await at.connection.predict(ask({ id, name }, { missingColumns: 'fill' }));
    assert.deepEqual(outcome.prediction, [[probability(4), 1 - probability(4)]]);
    const more = await at.connection.predict(ask({ ...row(5), species: 7, extra: { deep: 1 } }));
    assert.deepEqual((more.prediction as number[][])[0]![0], probability(5));
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
    await assert.rejects(predictor.predict(ask(row(1))), /its fit failed/);
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

  it('a model that the service does not have any more: model.unknown, and the card is dead until it is fitted anew', async () => {
    await start();
    const old = at.cards.get('pets')!;
    at.service.deleteModel(old.fitted_train_set_id);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.deepEqual(
      at.cards.list().map(({ dead }) => dead),
      [true],
    );
    const { card, reused } = await at.connection.train({
      table: { value: history() },
      target: 'species',
      model: 'pets',
    });
    assert.equal(reused, false);
    assert.notEqual(card.fitted_train_set_id, old.fitted_train_set_id);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'none');
  });

  it('a reused test set that predict refuses is sent again, once', async () => {
    await start({ testDuplicates: true });
    await at.connection.predict(ask(row(1)));
    at.service.fault('predict', inTurn(NOT_FOUND));
    const { prediction } = await at.connection.predict(ask(row(1)));
    assert.deepEqual((prediction as number[][])[0]![0], probability(1));
    assert.equal(at.service.seen('put').length, 2 + 2);
    at.service.fault('predict', () => NOT_FOUND);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.equal(at.service.seen('predict').length, 1 + 2 + 2);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a test set that was lost before predict is sent again, once and without hash, and no model is blamed', async () => {
    await start();
    at.service.fault('predict', ({ n }) => {
      if (n === 0) {
        at.service.deleteTestSets();
      }
      return undefined;
    });
    const { prediction } = await at.connection.predict(ask(row(1)));
    assert.deepEqual((prediction as number[][])[0]![0], probability(1));
    const hashes = at.service
      .seen('prepare_test_set_upload')
      .map(({ body }) => typeof (body as { x_test_info: { hash?: string } }).x_test_info.hash);
    assert.deepEqual(hashes, ['string', 'undefined']);
    at.service.fault('predict', () => {
      at.service.deleteTestSets();
      return undefined;
    });
    assert.equal(await codeOf(at.connection.predict(ask(row(2)))), 'not_found');
    assert.equal(at.service.seen('predict').length, 2 + 2);
    assert.deepEqual(
      at.cards.list().map(({ dead }) => dead),
      [undefined],
    );
    assert.deepEqual(at.service.breaches, []);
  });

  it('a model that was lost before predict is named at once: nothing is sent again', async () => {
    await start();
    const { fitted_train_set_id: id } = at.cards.get('pets')!;
    at.service.fault('predict', () => {
      at.service.deleteModel(id);
      return undefined;
    });
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.equal(at.service.seen('predict').length, 1);
    assert.equal(at.service.seen('put').length, 2 + 1);
    assert.deepEqual(
      at.cards.list().map(({ dead }) => dead),
      [true],
    );
  });

  it('a 404 that does not say what is missing: the test set is sent again before the model is suspected', async () => {
    await start();
    at.service.fault('predict', inTurn(NOT_FOUND));
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'none');
    assert.equal(at.cards.list()[0]!.dead, undefined);
    at.service.fault('predict', () => NOT_FOUND);
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'model.unknown');
    assert.equal(at.cards.list()[0]!.dead, true);
    assert.equal(at.service.seen('predict').length, 2 + 2);
  });

  it('a 404 of something on the way is not answered by sending again', async () => {
    await start();
    at.service.fault('predict', () => ({ status: 404, body: '<html>nginx</html>' }));
    assert.equal(await codeOf(at.connection.predict(ask(row(1)))), 'not_found');
    assert.equal(at.service.seen('predict').length, 1);
    assert.equal(at.cards.list()[0]!.dead, undefined);
  });

  it('an upload id: the model is dead only where the service says that it is the model that is gone', async () => {
    await start();
    const { id } = await at.connection.upload({ set: 'test', table: { value: [row(5)] }, model: 'pets' });
    at.service.deleteTestSets();
    assert.equal(await codeOf(at.connection.predict({ testSetUploadId: id })), 'not_found');
    assert.equal(at.cards.list()[0]!.dead, undefined);
    at.service.deleteModel(at.cards.get('pets')!.fitted_train_set_id);
    assert.equal(await codeOf(at.connection.predict({ testSetUploadId: id })), 'model.unknown');
    assert.equal(at.cards.list()[0]!.dead, true);
  });

  it('a table over the limits is split and joined again, in order', async () => {
    const values = Array.from({ length: 100 }, (_, id) => row(id));
    for (const [limits, most] of [
      [{ test_set_max_rows: 30 }, 30],
      [{ predict_row_pairs_budget: 20 * 17 }, 17],
      [{ test_set_max_cells: 4 * 45 }, 45],
      [{ test_set_max_rows_w_full_regression_output: 10 }, 100],
    ] as const) {
      await start({ limits: { max_model_limit: limits } });
      const outcome = await at.connection.predict(ask(values));
      assert.deepEqual(
        (outcome.prediction as number[][]).map(([first]) => first),
        values.map(({ id }) => probability(id)),
      );
      assert.equal(outcome.metadata.test_set_num_rows, 100);
      assert.equal((outcome.table as unknown[]).length, 100);
      assert.deepEqual(await sizes(), [
        ...Array.from({ length: Math.floor(100 / most) }, () => most),
        ...(100 % most > 0 ? [100 % most] : []),
      ]);
      assert.deepEqual(at.service.breaches, []);
      await at.close();
    }
  });

  it('a large table tells how far it is: the bytes of the first part, then the rows scored', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 10_000 } } });
    const values = Array.from({ length: 25_000 }, (_, id) => row(id));
    const seen: StatusEvent[] = [];
    await at.connection.predict(ask(values), { onStatus: (event) => seen.push(event) });
    const done = seen.flatMap((event) => (event.key === 'predicting' ? [event.done!] : []));
    assert.deepEqual(
      done,
      [...done].sort((a, b) => a - b),
    );
    assert.equal(done.at(-1), 25_000);
    assert.ok(done.includes(10_000) || done.includes(5_000), 'told after a part');
    assert.ok(
      seen.every(
        (event) => event.key !== 'predicting' || event.total === undefined || event.total === 25_000,
      ),
    );
  });

  it('the percentage of an upload in several parts never falls', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 5000 } } });
    const values = Array.from({ length: 25_000 }, (_, id) => row(id));
    const client = new ServiceClient({ baseUrl: at.service.url, token: at.service.token });
    const real = client.uploadTestSet.bind(client);
    let uploads = 0;
    let bothBegun!: () => void;
    const both = new Promise<void>((resolve) => (bothBegun = resolve));
    // The uploads of two parts tell of themselves by turns, the first being ahead.
    client.uploadTestSet = async (request, options) => {
      const nth = uploads++;
      const tell = (share: number): void => options?.onProgress?.(request.x.bytes * share, request.x.bytes);
      if (nth < 2) {
        tell(nth === 0 ? 0.9 : 0.1);
        if (nth === 1) {
          bothBegun();
        }
        await both;
        tell(nth === 0 ? 0.95 : 0.2);
      }
      return real(request, { ...options, onProgress: undefined });
    };
    const connection = new Connection({
      key: at.service.url,
      client: () => Promise.resolve(client),
      cards: at.cards,
    });
    try {
      const seen: StatusEvent[] = [];
      await connection.predict(ask(values), { onStatus: (event) => seen.push(event) });
      const shares = seen.flatMap((event) => (event.key === 'uploading' ? [event.sent / event.total] : []));
      assert.ok(shares.length >= 3, `${shares.length} told`);
      assert.deepEqual(
        shares,
        [...shares].sort((a, b) => a - b),
      );
      // Two parts of five, not wholly sent.
      assert.ok(shares.at(-1)! < 0.4, `${shares.at(-1)}`);
    } finally {
      await connection.close();
    }
  });

  it('messages that gather stay within the limits of one test set', async () => {
    await start({ predictMs: 30, limits: { max_model_limit: { test_set_max_rows: 7 } } });
    const predictor = at.connection.predictor();
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, id) => predictor.predict(ask(row(id)))),
    );
    for (const [id, { prediction }] of outcomes.entries()) {
      assert.deepEqual((prediction as number[][])[0]![0], probability(id));
    }
    assert.ok((await sizes()).every((size) => size <= 7));
  });

  it('full distributions: within their own limit, and joined', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows_w_full_regression_output: 40 } } }, 'size');
    const values = Array.from({ length: 100 }, (_, id) => ({ id, name: 'a', ok: true, species: 'cat' }));
    const outcome = await at.connection.predict(ask(values, { outputType: 'full' }));
    const full = outcome.prediction as { mean: number[]; logits: (number | null)[][]; quantiles: number[][] };
    assert.deepEqual(
      full.mean,
      values.map(({ id }) => id),
    );
    assert.deepEqual(full.logits[99], [99, null]);
    assert.deepEqual(full.quantiles[0]!.length, 100);
    assert.equal((outcome.table as { prediction: { mode: number } }[])[99]!.prediction.mode, 99.5);
    assert.ok((await sizes()).every((size) => size <= 40));
    assert.deepEqual(at.service.breaches, []);
  });

  it('regression outputs', async () => {
    await start({}, 'size');
    const value = { id: 3, name: 'a', ok: true, species: 'cat' };
    const get = async (more: PredictRequest) =>
      (await at.connection.predict(ask(value, more))) as {
        prediction: unknown;
        table: { prediction: unknown };
      };
    assert.deepEqual((await get({})).prediction, [3]);
    assert.deepEqual((await get({ outputType: 'median' })).table.prediction, 3.25);
    const quantiles = await get({ outputType: 'quantiles', quantiles: [0.1, 0.9] });
    assert.deepEqual(quantiles.prediction, [[3.1], [3.9]]);
    assert.deepEqual(quantiles.table.prediction, { '0.1': 3.1, '0.9': 3.9 });
    assert.equal(await codeOf(at.connection.predict(ask(value, { outputType: 'probas' }))), 'config.invalid');
    assert.equal(
      await codeOf(at.connection.predict(ask(value, { outputType: 'quantiles', quantiles: [10] }))),
      'config.invalid',
    );
    assert.deepEqual(at.service.breaches, []);
  });

  it('a file on disk is read while it is sent', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 400 } } });
    const folder = mkdtempSync(path.join(tmpdir(), 'predict-'));
    try {
      const file = path.join(folder, 'rows.csv');
      const lines = Array.from({ length: 1000 }, (_, id) => `${id},n${id % 3},${id % 2 === 0},${id}.5`);
      writeFileSync(file, `id,name,ok,size\n${lines.join('\n')}\n`);
      const outcome = await at.connection.predict({ table: { path: file }, model: 'pets' });
      assert.deepEqual(
        (outcome.prediction as number[][]).map(([first]) => first),
        lines.map((_, id) => probability(id)),
      );
      assert.deepEqual((outcome.table as { id: number }[])[999]!.id, 999);
      assert.deepEqual(await sizes(), [400, 400, 200]);
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('files and texts that are read while the queue is full are not kept, but read when they are sent', async () => {
    await start({ predictMs: 100 });
    const folder = mkdtempSync(path.join(tmpdir(), 'predict-'));
    const connection = at.connect({ concurrency: 1 });
    try {
      const file = path.join(folder, 'rows.csv');
      const lines = Array.from({ length: 400 }, (_, id) => `${id},n${id % 3},${id % 2 === 0},${id}.5`);
      const text = `id,name,ok,size\n${lines.join('\n')}\n`;
      writeFileSync(file, text);
      let most = 0;
      const predictor = connection.predictor({
        queueRows: 1000,
        // Results that wait for an earlier one would hold rows too.
        ordered: false,
        onLoad: ({ rows }) => (most = Math.max(most, rows)),
      });
      const all = Array.from({ length: 8 }, (_, n) =>
        predictor.predict(n % 2 === 0 ? { table: { path: file }, model: 'pets' } : ask(text)),
      );
      const timer = setInterval(() => (most = Math.max(most, predictor.load().rows)), 5);
      const outcomes = await Promise.all(all);
      clearInterval(timer);
      for (const { prediction } of outcomes) {
        assert.deepEqual(
          (prediction as number[][]).map(([first]) => first),
          lines.map((_, id) => probability(id)),
        );
      }
      assert.ok(most > 0 && most <= 1000, `${most} rows held`);
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a predict that would cost too much is not sent; a batch is made smaller until it is cheap enough', async () => {
    await start({ predictMs: 20 });
    const predictor = at.connection.predictor({ maxCost: 30 });
    assert.equal(
      await codeOf(predictor.predict(ask(Array.from({ length: 11 }, (_, id) => row(id))))),
      'cost.exceeded',
    );
    assert.equal(at.service.seen('prepare_test_set_upload').length, 0);
    const results = await Promise.all(
      Array.from({ length: 60 }, (_, id) => settled(predictor.predict(ask(row(id))))),
    );
    assert.ok(results.every((result) => typeof result !== 'string'));
    assert.ok((await sizes()).every((size) => size <= 10));
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

  it('an upload id is predicted as it is', async () => {
    await start();
    const upload = await at.connection.upload({
      set: 'test',
      table: { value: [row(5), row(6)] },
      model: 'pets',
      format: 'csv',
    });
    assert.deepEqual([upload.rows, upload.format, upload.set], [2, 'csv', 'test']);
    const outcome = await at.connection.predict({ testSetUploadId: upload.id });
    assert.deepEqual(
      (outcome.prediction as number[][]).map(([first]) => first),
      [5, 6].map(probability),
    );
    assert.equal(outcome.modelName, 'pets');
    assert.equal(outcome.table, undefined);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a Parquet file that has the columns already goes up as it is; another one is encoded anew', async () => {
    await start();
    const folder = mkdtempSync(path.join(tmpdir(), 'upload-'));
    try {
      const first = await at.connection.upload({
        set: 'test',
        table: { value: [row(1), row(2), row(3)] },
        model: 'pets',
      });
      const file = path.join(folder, 'rows.parquet');
      const bytes = at.service.bytesOf(first.id);
      writeFileSync(file, bytes);
      const upload = await at.connection.upload({ set: 'test', table: { path: file }, model: 'pets' });
      assert.deepEqual(at.service.bytesOf(upload.id), bytes);
      assert.deepEqual([upload.rows, upload.bytes, upload.hash], [3, bytes.length, first.hash]);
      assert.ok(existsSync(file));
      await at.connection.train({
        table: { value: history() },
        target: 'species',
        ignore: ['ok'],
        model: 'fewer',
      });
      const anew = await at.connection.upload({ set: 'test', table: { path: file }, model: 'fewer' });
      assert.deepEqual(
        anew.columns.map(({ name }) => name),
        ['id', 'name', 'size'],
      );
      const { prediction } = await at.connection.predict({ testSetUploadId: anew.id, outputType: 'preds' });
      assert.deepEqual(prediction, ['dog', 'cat', 'dog']);
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a Parquet file is predicted as it is where its columns fit the model and it need not be split', async () => {
    await start();
    const folder = mkdtempSync(path.join(tmpdir(), 'predict-'));
    try {
      const rows = Array.from({ length: 40 }, (_, id) => row(id));
      const first = await at.connection.upload({ set: 'test', table: { value: rows }, model: 'pets' });
      const file = path.join(folder, 'rows.parquet');
      const bytes = at.service.bytesOf(first.id);
      writeFileSync(file, bytes);
      const asRead = () =>
        at.connection.predict({ table: { path: file }, model: 'pets', outputType: 'preds' });
      const sent = () => at.service.seen('prepare_test_set_upload').map(({ body }) => body);
      const labels = rows.map(({ id }) => (id % 2 === 0 ? 'cat' : 'dog'));
      await at.close();
      await start();
      const outcome = await asRead();
      const { x_test_info: info } = sent()[0] as { x_test_info: { hash: string; size_bytes: number } };
      assert.deepEqual([info.hash, info.size_bytes], [first.hash, bytes.length]);
      const [asked] = at.service.seen('predict').map(({ body }) => body as { test_set_upload_id: string });
      assert.deepEqual(at.service.bytesOf(asked!.test_set_upload_id), bytes);
      assert.deepEqual(outcome.prediction, labels);
      assert.deepEqual(
        outcome.table,
        rows.map((one, i) => ({ ...one, prediction: labels[i] })),
      );

      // Over a limit it is split, and so encoded anew.
      for (const limits of [
        { max_model_limit: { test_set_max_rows: 30 } },
        { max_model_limit: { test_set_max_cells: 30 * 4 } },
      ]) {
        await at.close();
        await start({ limits });
        assert.deepEqual((await asRead()).prediction, labels);
        const hashes = sent().map((body) => (body as { x_test_info: { hash: string } }).x_test_info.hash);
        assert.equal(hashes.length, 2);
        assert.ok(!hashes.includes(first.hash));
      }
      assert.ok(existsSync(file));
      assert.deepEqual(at.service.breaches, []);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('a test set of too many bytes is refused before anything is sent, by predict as by upload', async () => {
    await start();
    const rows = Array.from({ length: 300 }, (_, id) => ({
      ...row(id),
      name: `${Math.sin(id)} ${Math.cos(id)}`,
    }));
    const { bytes } = await at.connection.upload({ set: 'test', table: { value: rows }, model: 'pets' });
    await at.close();
    await start({ limits: { dataset_max_size_bytes: bytes - 1 } });
    const sent = at.service.requests.length;
    const table = { value: rows };
    for (const work of [
      at.connection.predict({ table, model: 'pets' }),
      at.connection.upload({ set: 'test', table, model: 'pets' }),
    ]) {
      await assert.rejects(work, (error: ServiceError) => {
        assert.equal(error.code, 'limit.exceeded');
        assert.match(error.message, /dataset_max_size_bytes/);
        return true;
      });
    }
    assert.equal(at.service.requests.length, sent);
  });

  it('an upload beyond the limits of a test set is not sent', async () => {
    await start({ limits: { max_model_limit: { test_set_max_rows: 2 } } });
    const upload = at.connection.upload({
      set: 'test',
      table: { value: [row(1), row(2), row(3)] },
      model: 'pets',
    });
    assert.equal(await codeOf(upload), 'limit.exceeded');
    assert.equal(at.service.seen('prepare_test_set_upload').length, 0);
  });

  it('an upload stays with the model that it was made for, also when its name stands for a newer one', async () => {
    await start();
    const table = { value: [row(5), row(6)] };
    const upload = await at.connection.upload({ set: 'test', table, model: 'pets' });
    await at.connection.train({ table: { value: history(25) }, target: 'species', model: 'pets' });
    for (const model of ['pets', undefined]) {
      const outcome = await at.connection.predict({ testSetUploadId: upload.id, model, outputType: 'preds' });
      assert.deepEqual(outcome.prediction, ['dog', 'cat']);
    }
    assert.equal(
      await codeOf(at.connection.predict({ testSetUploadId: 'nope', model: 'pets' })),
      'validation.failed',
    );
    const unknown = '00000000-0000-4000-8000-000000000000';
    assert.equal(
      await codeOf(at.connection.predict({ testSetUploadId: unknown, model: 'pets' })),
      'not_found',
    );
    assert.equal(at.cards.list()[0]!.dead, undefined);
  });

  it('a bare id needs a task; then columns go unchecked', async () => {
    await start();
    const { fitted_train_set_id: fittedTrainSetId } = at.cards.get('pets')!;
    const other = await bench();
    try {
      // The cards of another place know nothing of the model.
      const connection = new Connection({
        key: at.service.url,
        client: () =>
          Promise.resolve(new ServiceClient({ baseUrl: at.service.url, token: at.service.token })),
        cards: other.cards,
      });
      const predictor = connection.predictor();
      assert.equal(
        await codeOf(predictor.predict({ table: { value: row(1) }, fittedTrainSetId })),
        'config.invalid',
      );
      const request: PredictRequest = { fittedTrainSetId, task: 'classification' };
      const outcomes = await Promise.all(
        [1, 2, 3, 4, 5, 6].map((id) => predictor.predict({ ...request, table: { value: row(id) } })),
      );
      for (const [index, outcome] of outcomes.entries()) {
        const p = probability(index + 1);
        assert.deepEqual(outcome.prediction, [[p, 1 - p]]);
        assert.equal(outcome.modelName, fittedTrainSetId);
        assert.deepEqual((outcome.table as { prediction: number }).prediction, 1);
      }
      await connection.close();
    } finally {
      await other.close();
    }
    assert.deepEqual(at.service.breaches, []);
  });

  it('a card handed over in the message is enough', async () => {
    await start();
    const card = structuredClone(at.cards.get('pets')!);
    const outcome = await at.connection.predict({ table: { value: row(2) }, model: card });
    assert.equal((outcome.table as { prediction: string }).prediction, 'dog');
    assert.equal(
      await codeOf(at.connection.predict({ table: { value: row(2) }, model: {} as never })),
      'model.unknown',
    );
    for (const broken of [null, { ...card, task: 'guess' }, { ...card, columns: undefined }]) {
      const request = { table: { value: row(2) }, model: broken as never };
      assert.equal(await codeOf(at.connection.predict(request)), 'model.unknown');
    }
    assert.equal(await codeOf(at.connection.predict({ table: { value: row(2) } })), 'model.unknown');
  });

  it('the deprecated route', async () => {
    at = await bench();
    const outcome = await at.connection.predict({
      api: 'v1',
      modelId: 'legacy',
      task: 'classification',
      outputType: 'preds',
      table: { value: [{ id: 1 }, { id: 2 }] },
    });
    assert.deepEqual(outcome.prediction, ['yes', 'no']);
    assert.deepEqual(outcome.table, [
      { id: 1, prediction: 'yes' },
      { id: 2, prediction: 'no' },
    ]);
    assert.equal(outcome.modelName, 'legacy');
    assert.deepEqual(at.service.breaches, []);
  });

  it('close settles what waits and what flies', async () => {
    await start({ predictMs: 3000 });
    const predictor = at.connection.predictor();
    const results = Array.from({ length: 20 }, (_, id) => settled(predictor.predict(ask(row(id)))));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const began = Date.now();
    await at.connection.close();
    assert.deepEqual(new Set(await Promise.all(results)), new Set(['closed']));
    assert.ok(Date.now() - began < 1000);
    assert.equal(await codeOf(predictor.predict(ask(row(1)))), 'closed');
  });
});
