import { strict as assert } from 'node:assert';

import {
  Connection,
  HostedService,
  type ModelCard,
  type PredictOutcome,
  type PredictRequest,
} from '../../../dist/src/connection';
import { ServiceClient } from '../../doors/client';
import { ask, benchWithModel, probability } from './predict-bench';
import { type Bench, bench, codeOf, history, row, settled } from './stand-in';

describe('Predictor', () => {
  let at: Bench;
  const start = async (...options: Parameters<typeof benchWithModel>): Promise<void> => {
    at = await benchWithModel(...options);
  };
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
      code: 'validation.failed',
      message: /it lacks columns/,
    });
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

  it('messages that ask for something else do not share a predict; those that only show it otherwise do', async () => {
    await start();
    const predictor = at.connection.predictor({ batchMs: 1 });
    const predicts = async (more: PredictRequest): Promise<number> => {
      const before = at.service.seen('predict').length;
      await Promise.all([{}, {}, more].map((one, id) => predictor.predict(ask(row(id), one))));
      return at.service.seen('predict').length - before;
    };
    const apart: PredictRequest[] = [
      { outputType: 'preds' },
      { task: 'classification' },
      { missingColumns: 'fill' },
      { missingWords: ['gone'] },
      { unreadable: 'missing' },
      { timezone: 'Asia/Tokyo' },
      { threshold: 0.3 },
      { options: { softmax_temperature: 2 } },
      { forceRefit: true },
    ];
    for (const more of apart) {
      assert.equal(await predicts(more), 2, JSON.stringify(more));
    }
    for (const more of [{ property: 'guess' }, { flat: true }, { explain: false }, { evaluate: false }]) {
      assert.equal(await predicts(more), 1, JSON.stringify(more));
    }
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

  it('a bare id needs a task; then columns go unchecked', async () => {
    await start();
    const { fitted_train_set_id: fittedTrainSetId } = at.cards.get('pets')!;
    const other = await bench();
    try {
      // The cards of another place know nothing of the model.
      const connection = new Connection({
        service: new HostedService({
          key: at.service.url,
          open: () =>
            Promise.resolve(new ServiceClient({ baseUrl: at.service.url, token: at.service.token })),
        }),
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
      'validation.failed',
    );
    for (const broken of [null, { ...card, task: 'guess' }, { ...card, columns: undefined }]) {
      const request = { table: { value: row(2) }, model: broken as never };
      assert.equal(await codeOf(at.connection.predict(request)), 'validation.failed');
    }
    assert.equal(await codeOf(at.connection.predict({ table: { value: row(2) } })), 'model.unknown');
  });

  it('the deprecated route', async () => {
    at = await bench();
    const value = [{ id: 1 }, { id: 2 }];
    const outcome = await at.connection.predict({
      api: 'v1',
      modelId: 'legacy',
      task: 'classification',
      outputType: 'preds',
      table: { value },
    });
    assert.deepEqual(value, [{ id: 1 }, { id: 2 }], 'the rows of the message are not ours to change');
    assert.deepEqual(outcome.prediction, ['yes', 'no']);
    assert.deepEqual(outcome.table, [
      { id: 1, prediction: 'yes' },
      { id: 2, prediction: 'no' },
    ]);
    assert.equal(outcome.modelName, 'legacy');
    assert.deepEqual(at.service.breaches, []);
  });
});
