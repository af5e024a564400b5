import assert from 'node:assert/strict';

import { type Bench, row, startBench, stopBench, trainRows } from './bench';

/** Models in an ensemble: one is enough where the ensemble is not what is tested. */
const FEW = { options: '{"n_estimators":1}' };

describe('all six nodes on the embedded service', () => {
  let bench: Bench;

  before(async function () {
    this.timeout(60_000);
    bench = await startBench({
      config: { service: 'embedded' },
      nodes: [
        { id: 'limits', type: 'tabular-limits', check: true },
        { id: 'cost', type: 'tabular-cost' },
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm', ...FEW },
        { id: 'upload', type: 'tabular-upload', set: 'test', model: 'm' },
        { id: 'predict', type: 'tabular-predict', model: 'm' },
        { id: 'quantiles', type: 'tabular-predict', model: 'n', outputType: 'quantiles' },
        { id: 'fitNested', type: 'tabular-fit', target: 'y', model: 'nested', ...FEW },
        { id: 'predictNested', type: 'tabular-predict', model: 'nested' },
        { id: 'fitHeld', type: 'tabular-fit', target: 'y', model: 'held', holdout: '25', ...FEW },
        { id: 'fitWrong', type: 'tabular-fit', target: 'y', model: 'wrong', holdout: '80' },
        { id: 'fitNumber', type: 'tabular-fit', target: 'z', task: 'regression', model: 'n', ...FEW },
      ],
    });
  });

  after(() => stopBench());

  it('starts by itself with the first message, fits, and predicts each row', async function () {
    this.timeout(60_000);
    bench.send('fit', { payload: trainRows(200) });
    const [fitted] = await bench.out('fit').first(1, 50_000);
    assert.equal(fitted?.model.service, 'embedded');
    assert.deepEqual(fitted?.model.classes, ['no', 'yes']);
    bench.send('predict', { payload: [0, 1, 2, 3, 4, 5, 6].map(row) });
    const [msg] = await bench.out('predict').first();
    assert.deepEqual(
      msg?.payload.map(({ prediction }: { prediction: string }) => prediction),
      ['no', 'no', 'no', 'no', 'yes', 'yes', 'yes'],
    );
    for (const { prediction_probabilities: p } of msg?.payload ?? []) {
      assert.ok(Math.abs(Number(p.no) + Number(p.yes) - 1) < 1e-6);
    }
    assert.equal(msg?.metadata.test_set_num_rows, 7);
  });

  it('says how good a model is and what it rests on', async function () {
    this.timeout(60_000);
    const [fitted] = await bench.out('fit').first();
    assert.equal(fitted?.model.scores.from, 'out-of-fold');
    assert.equal(typeof fitted?.model.importance[0].permutation, 'number');
    bench.send('fitHeld', { payload: trainRows(200) });
    const [held] = await bench.out('fitHeld').first(1, 50_000);
    assert.deepEqual(
      [held?.model.scores.from, held?.model.scores.rows, held?.model.rows],
      ['holdout', 50, 150],
    );
    bench.send('fitWrong', { payload: trainRows(20) });
    const [caught] = await bench.caught.first();
    assert.equal(caught?.error?.code, 'config.invalid');
    assert.match(caught?.error?.message, /"holdout" must be a number of at least 0 and at most 50/);
    bench.caught.all.length = 0;
  });

  it('learns from nested messages, and predicts from such, with columns named by their paths', async function () {
    this.timeout(60_000);
    const nested = ({ id, x, y, colour }: Record<string, unknown>) => ({
      ...{ id, y },
      ENERGY: { Power: x, Colour: { value: colour, unit: 'RGB' } },
      by_minute: [1, 2],
      _id: { bytes: Buffer.from('id') },
    });
    bench.send('fitNested', { payload: trainRows(200).map(nested) });
    const [fitted] = await bench.out('fitNested').first(1, 50_000);
    const { importance } = fitted!.model as { importance: { column: string }[] };
    assert.ok(importance.some(({ column }) => column === 'ENERGY.Power'));
    bench.send('predictNested', { payload: JSON.stringify(nested({ ...row(6), y: undefined })) });
    bench.send('predictNested', { payload: [row(5), row(6)].map(nested) });
    const [msg, rows] = await bench.out('predictNested').first(2);
    assert.equal(msg?.payload.prediction, 'yes');
    assert.equal(msg?.payload['ENERGY.Power'], row(6).x);
    // What is no value of a column goes on as it came: the id that a database knows the row by.
    assert.deepEqual(msg?.payload.by_minute, [1, 2]);
    assert.equal(rows?.payload[1].prediction, 'yes');
    assert.deepEqual(rows?.payload[1]._id, nested(row(6))._id);
    assert.deepEqual(rows?.payload[1].by_minute, [1, 2]);
  });

  it('gives quantiles in order', async function () {
    this.timeout(60_000);
    bench.send('fitNumber', {
      payload: trainRows(200).map(({ id, x, colour }, i) => ({ id, x, colour, z: i % 7 })),
    });
    await bench.out('fitNumber').first(1, 50_000);
    bench.send('quantiles', { payload: row(3) });
    const [msg] = await bench.out('quantiles').first();
    const { prediction } = msg?.payload ?? {};
    assert.deepEqual(Object.keys(prediction), ['0.1', '0.5', '0.9']);
    assert.ok(prediction['0.1'] <= prediction['0.5'] && prediction['0.5'] <= prediction['0.9']);
  });

  it('takes an uploaded test set', async () => {
    bench.send('upload', { payload: [row(1), row(5)] });
    const [uploaded] = await bench.out('upload').first();
    const { length } = bench.out('predict').all;
    bench.send('predict', { ...uploaded });
    const all = await bench.out('predict').first(length + 1);
    assert.equal((all[length]!.prediction as unknown[]).length, 2);
  });

  it('reports limits, and that it costs nothing', async () => {
    bench.send('limits', { payload: trainRows(3) });
    const [within] = await bench.out('limits').first();
    assert.ok(within?.limits.max_model_limit.train_set_max_rows > 1000);
    bench.send('cost', { payload: trainRows(3) });
    const [cost] = await bench.out('cost').first();
    assert.equal(cost?.estimated_cost, 0);
    assert.deepEqual(bench.caught.all, []);
  });

  it('remembers its models over a redeploy', async function () {
    this.timeout(60_000);
    await bench.redeploy();
    const { length } = bench.out('predict').all;
    bench.send('predict', { payload: row(5) });
    const all = await bench.out('predict').first(length + 1, 30_000);
    assert.equal(all[length]?.payload.prediction, 'yes');
  });
});
