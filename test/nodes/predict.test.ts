import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import {
  type Anything,
  type Bench,
  type Msg,
  row,
  type Setup,
  startBench,
  stopBench,
  trainRows,
} from './bench';

const CLASSES = ['no', 'yes'];

describe('tabular-predict on a strict service', () => {
  let service: StrictService;

  beforeEach(async () => {
    service = await startStrictService();
  });

  afterEach(async () => {
    await stopBench();
    await service.close();
    assert.deepEqual(service.breaches, []);
  });

  /** A flow with two models, `class` (of y) and `number` (of x), and the given predict nodes. */
  async function fitted(nodes: Setup['nodes'], more: Partial<Setup> = {}): Promise<Bench> {
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [
        { id: 'fitClass', type: 'tabular-fit', target: 'y', model: 'class' },
        { id: 'fitNumber', type: 'tabular-fit', target: 'z', task: 'regression', model: 'number' },
        ...nodes,
      ],
      ...more,
    });
    bench.send('fitClass', { payload: trainRows() });
    bench.send('fitNumber', {
      payload: trainRows().map(({ id, x, colour }, i) => ({ id, x, colour, z: i * 1.5 })),
    });
    await Promise.all([bench.out('fitClass').first(), bench.out('fitNumber').first()]);
    return bench;
  }

  async function predicted(bench: Bench, msg: object, id = 'p'): Promise<Msg> {
    const { length } = bench.out(id).all;
    bench.send(id, msg);
    return (await bench.out(id).first(length + 1))[length]!;
  }

  const probability = (id: number) => 1 / (id + 2);

  it('one object stays one object, with label and probabilities; prediction and metadata are its own', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'class' }]);
    const payload = row(5);
    const msg = await predicted(bench, { payload, topic: 'kept' });
    assert.equal(msg.topic, 'kept');
    assert.deepEqual(msg.payload, {
      ...row(5),
      prediction: 'yes',
      prediction_probabilities: { no: probability(5), yes: 1 - probability(5) },
    });
    assert.deepEqual(payload, row(5), 'the row of the sender is not changed');
    assert.deepEqual(msg.prediction, service.predictionFor([5], 'probas', { classes: CLASSES }));
    assert.equal(msg.metadata.test_set_num_rows, 1);
    assert.equal(msg.model_name, 'class');
    const { predicted_by: by } = msg;
    assert.deepEqual([by.name, by.version, Object.keys(by).length], ['class', 1, 3]);
    assert.equal(service.seen('predict').length, 1);
    assert.ok(JSON.stringify(service.seen('predict')[0]).includes(by.fitted_train_set_id));
  });

  it('an array stays an array, columns gain a column, CSV becomes rows', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'class', outputType: 'preds', property: 'ripe' },
    ]);
    const labels = service.predictionFor([2, 3], 'preds', { classes: CLASSES });
    const rows = await predicted(bench, { payload: [row(2), row(3)] });
    assert.deepEqual(
      rows.payload.map((one: Anything) => one.ripe),
      labels,
    );
    const columns = await predicted(bench, { payload: { id: [2, 3], x: [1, 2], colour: ['red', 'blue'] } });
    assert.deepEqual(columns.payload, { id: [2, 3], x: [1, 2], colour: ['red', 'blue'], ripe: labels });
    const csv = await predicted(bench, { payload: 'id,x,colour\n2,1,red\n3,2,blue\n' });
    assert.deepEqual(csv.payload, [
      { id: 2, x: 1, colour: 'red', ripe: (labels as string[])[0] },
      { id: 3, x: 2, colour: 'blue', ripe: (labels as string[])[1] },
    ]);
  });

  it('quantiles from the dialog, and from the message where the dialog is empty', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'number', outputType: 'quantiles', quantiles: '0.1, 0.9' },
      { id: 'q', type: 'tabular-predict', model: 'number' },
    ]);
    const msg = await predicted(bench, { payload: row(4), quantiles: [0.5] });
    assert.deepEqual(msg.payload.prediction, { '0.1': 4.1, '0.9': 4.9 });
    const other = await predicted(
      bench,
      { payload: row(4), output_type: 'quantiles', quantiles: [0.25, 0.5] },
      'q',
    );
    assert.deepEqual(other.payload.prediction, { '0.25': 4.25, '0.5': 4.5 });
  });

  it('the full distribution', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'number', outputType: 'full' }]);
    const msg = await predicted(bench, { payload: row(4) });
    assert.equal(msg.payload.prediction.mean, 4);
    assert.equal(msg.payload.prediction.median, 4.25);
    assert.deepEqual(Object.keys(msg.payload.prediction), ['mean', 'median', 'mode', 'quantiles']);
  });

  it('the model from msg.model as card or name, or from msg.fitted_train_set_id; the dialog wins', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict' },
      { id: 'q', type: 'tabular-predict', model: 'class' },
    ]);
    const card = bench.out('fitNumber').all[0]!.model;
    assert.equal((await predicted(bench, { payload: row(1), model: card })).model_name, 'number');
    assert.equal((await predicted(bench, { payload: row(1), model: 'class' })).model_name, 'class');
    const byId = await predicted(bench, { payload: row(1), fitted_train_set_id: card.fitted_train_set_id });
    assert.equal(byId.model_name, 'number');
    assert.equal((await predicted(bench, { payload: row(1), model: card }, 'q')).model_name, 'class');
  });

  it('a bare id without a card is predicted with the task of the message', async () => {
    const first = await fitted([]);
    const id = first.out('fitClass').all[0]!.fitted_train_set_id as string;
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [{ id: 'p', type: 'tabular-predict' }],
    });
    const msg = await predicted(bench, {
      payload: [row(5)],
      fitted_train_set_id: id,
      task: 'classification',
    });
    assert.deepEqual(msg.prediction, service.predictionFor([5], 'probas', { classes: CLASSES }));
    assert.equal(msg.model_name, id);
  });

  it('the table from flow context, with the result in msg.payload', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'class', table: 'readings', tableType: 'flow' },
    ]);
    bench
      .node('p')
      .context()
      .flow.set('readings', [row(3)]);
    const msg = await predicted(bench, { payload: 'before' });
    assert.equal(msg.payload[0].id, 3);
    assert.equal(msg.payload[0].prediction, 'yes');
  });

  it('the table from a nested property, attached there', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'class', table: 'data.row' }]);
    const msg = await predicted(bench, { payload: 'kept', data: { row: row(3) } });
    assert.equal(msg.payload, 'kept');
    assert.equal(msg.data.row.prediction, 'yes');
  });

  it('a file on disk, with the rows in msg.payload', async () => {
    const bench = await fitted([
      {
        id: 'p',
        type: 'tabular-predict',
        model: 'class',
        source: 'file',
        table: 'file',
        outputType: 'preds',
      },
    ]);
    const file = path.join(bench.userDir, 'rows.csv');
    fs.writeFileSync(file, 'id,x,colour\n1,1,red\n2,2,blue\n');
    const msg = await predicted(bench, { file });
    assert.deepEqual(
      msg.payload.map(({ id, prediction }: Anything) => [id, prediction]),
      [
        [1, 'yes'],
        [2, 'no'],
      ],
    );
  });

  it('missing columns are filled where the dialog says so', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'class', missingColumns: 'fill' },
      { id: 'q', type: 'tabular-predict', model: 'class' },
    ]);
    const msg = await predicted(bench, { payload: { id: 6, x: 1 } });
    assert.deepEqual(msg.prediction, service.predictionFor([6], 'probas', { classes: CLASSES }));
    bench.send('q', { payload: { id: 6, x: 1 } });
    const [caught] = await bench.caught.first();
    assert.equal(caught?.error?.code, 'columns.missing');
    assert.match(caught?.error?.message ?? '', /colour/);
  });

  it('two predict nodes in a row, on a matrix: the second replaces the columns of the first', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'class', wires: [['p2']] },
      { id: 'p2', type: 'tabular-predict', model: 'class' },
    ]);
    const matrix = [['id', 'x', 'colour'], ...[4, 5].map((id) => Object.values(row(id)))];
    bench.send('p', { payload: matrix });
    const [out] = await bench.out('p2').first();
    assert.deepEqual(out?.payload[0], ['id', 'x', 'colour', 'prediction', 'prediction_probabilities']);
    assert.deepEqual(
      out.payload.map((line: unknown[]) => line.length),
      [5, 5, 5],
    );
    assert.deepEqual(
      bench.warnings().filter((line) => line.includes('replaced')),
      [],
    );
  });

  it('one warning where the predictions take the place of a column that the model predicts from', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'class', property: 'colour' },
      { id: 'card', type: 'tabular-predict', property: 'colour', outputType: 'preds' },
      { id: 'target', type: 'tabular-predict', model: 'class', property: 'y' },
    ]);
    const about = () => bench.warnings().filter((line) => line.includes('warning.replaced'));
    assert.ok(CLASSES.includes((await predicted(bench, { payload: row(1) })).payload.colour));
    await predicted(bench, { payload: row(2) });
    assert.equal(about().length, 1);
    const { model } = bench.out('fitClass').all[0]!;
    await predicted(bench, { payload: [row(1)], model }, 'card');
    assert.equal(about().length, 2);
    await predicted(bench, { payload: row(1) }, 'target');
    assert.equal(about().length, 2);
  });

  it('waits for the first fit of its model that comes with it, however long that takes to be read', async () => {
    const bench = await startBench({
      config: { service: 'hosted', baseUrl: service.url },
      token: service.token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm', collect: true },
        { id: 'p', type: 'tabular-predict', model: 'm' },
      ],
    });
    const rows = Array.from({ length: 200 }, () => trainRows()).flat();
    bench.send('p', { payload: row(7) });
    bench.send('fit', { payload: rows, parts: { id: 'all', index: 0, count: 1 } });
    const [msg] = await bench.out('p').first();
    assert.equal(msg!.model_name, 'm');
    assert.deepEqual(bench.caught.all, []);
  });

  it('300 messages at once: each leaves once, with its own prediction, in order of arrival', async () => {
    await service.close();
    service = await startStrictService({ predictMs: 20 });
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'number' }]);
    for (let id = 0; id < 300; id++) {
      bench.send('p', { payload: row(id), n: id });
    }
    const all = await bench.out('p').first(300);
    assert.deepEqual(
      all.map(({ n }) => n as number),
      Array.from({ length: 300 }, (_, n) => n),
    );
    for (const msg of all) {
      assert.equal(msg.payload.prediction, msg.n);
      assert.deepEqual(msg.prediction, [msg.n]);
      assert.equal(msg.metadata.test_set_num_rows, 1);
    }
    assert.ok(service.seen('predict').length < 100, 'messages were batched');
    await bench.completed.first(302);
    assert.equal(bench.completed.all.length, 302);
    assert.deepEqual(bench.caught.all, []);
  });

  it('batchRows 1 sends each message by itself', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'number', batchRows: '1' }]);
    for (let id = 0; id < 5; id++) {
      bench.send('p', { payload: row(id) });
    }
    await bench.out('p').first(5);
    assert.equal(service.seen('predict').length, 5);
  });

  it('msg.flush sends what waits, msg.reset drops it with an error each; both are done without an output', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'number', batchMs: '60000' }]);
    const done = bench.completed.all.length;
    bench.send('p', { payload: row(1) });
    bench.send('p', { payload: row(2) });
    bench.send('p', { flush: true });
    await bench.out('p').first(2);
    await bench.completed.first(done + 3);
    bench.send('p', { payload: row(3) });
    bench.send('p', { payload: row(4) });
    bench.send('p', { reset: true });
    await bench.caught.first(2);
    await bench.completed.first(done + 4);
    assert.equal(bench.out('p').all.length, 2);
    assert.equal(bench.caught.all.length, 2);
  });

  it('a full queue refuses the newest, or drops the oldest', async () => {
    const bench = await fitted([
      { id: 'p', type: 'tabular-predict', model: 'number', batchMs: '60000', queue: '2' },
      {
        id: 'q',
        type: 'tabular-predict',
        model: 'number',
        batchMs: '60000',
        queue: '2',
        overflow: 'dropOldest',
      },
    ]);
    for (const id of ['p', 'q']) {
      for (let n = 0; n < 3; n++) {
        bench.send(id, { payload: row(n), n });
      }
    }
    const caught = await bench.caught.first(2);
    const lost = new Map(caught.map((msg) => [msg.error!.source.id, [msg.error!.code, msg.n]]));
    assert.deepEqual(lost.get('p'), ['queue.full', 2]);
    assert.deepEqual(lost.get('q'), ['queue.full', 0]);
    bench.send('p', { flush: true });
    bench.send('q', { flush: true });
    assert.deepEqual(
      (await bench.out('p').first(2)).map(({ n }) => n as number),
      [0, 1],
    );
    assert.deepEqual(
      (await bench.out('q').first(2)).map(({ n }) => n as number),
      [1, 2],
    );
  });

  it('maxCost refuses a dearer call before it is sent', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'number', maxCost: '10' }]);
    bench.send('p', { payload: row(1) });
    const [caught] = await bench.caught.first();
    assert.equal(caught?.error?.code, 'cost.exceeded');
    const { length } = trainRows();
    assert.match(
      caught.error.message,
      new RegExp(`^Predicting 1 rows with a model of ${length} .* Fit .* fewer`),
    );
    bench.send('p', { payload: Array.from({ length: length + 1 }, (_, id) => row(id)) });
    assert.match((await bench.caught.first(2))[1]!.error!.message, /Send fewer rows, or raise the maximum/);
    assert.equal(service.seen('predict').length, 0);
  });

  it('tells as what it was billed, in the metadata and in the status', async () => {
    await service.close();
    const billed = { billing_model_version: 'v3.5-fast', cache_outcome: 'miss' };
    service = await startStrictService({ billed, predictionUri: true });
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', model: 'class' }]);
    const msg = await predicted(bench, { payload: [row(3)] });
    const { billing_model_version, cache_outcome } = msg.metadata;
    assert.deepEqual({ billing_model_version, cache_outcome }, billed);
    assert.equal(service.seen('download').length, 1);
    await bench.shows('p', /billed\.both|v3\.5-fast.*miss/);
  });

  it('the deprecated route takes its model from msg.model_id', async () => {
    const bench = await fitted([{ id: 'p', type: 'tabular-predict', api: 'v1', outputType: 'preds' }]);
    const msg = await predicted(bench, { payload: [row(3)], model_id: 'old', task: 'classification' });
    assert.deepEqual(msg.prediction, ['yes']);
    assert.equal(service.seen('v1/predict').length, 1);
  });
});
