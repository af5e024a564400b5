import assert from 'node:assert/strict';

import { type Anything, type Bench, server, startBench, stopBench } from './bench';

/** Each tenth row is a fault, and `heat` says so more often than not. */
const ROWS = Array.from({ length: 300 }, (_, i) => ({
  heat: ((i * i * 31 + i * 17) % 97) + (i % 10 === 0 ? 40 : 0),
  state: i % 10 === 0 ? 'fault' : 'fine',
}));

/** Enough members of a model whose loss does not matter. */
const FEW = { options: '{"n_estimators": 2}' };

describe('a threshold in nodes and the admin route', function () {
  this.timeout(60_000);
  let bench: Bench;

  before(() => server.start());
  after(() => server.stop());
  afterEach(stopBench);

  const give = async (id: string, msg: object): Promise<Anything> => {
    const before = bench.out(id).all.length;
    bench.send(id, msg);
    return (await bench.out(id).first(before + 1)).at(-1);
  };

  it('is chosen once, and is what predict answers by and watch raises its alarm at', async () => {
    bench = await startBench({
      nodes: [
        {
          id: 'fit',
          type: 'tabular-fit',
          config: '',
          target: 'state',
          model: 'faults',
          ...FEW,
          costs: '{"fault": {"fine": 9}}',
        },
        { id: 'p', type: 'tabular-predict', config: '', model: 'faults' },
        {
          ...{ id: 'w', type: 'tabular-watch', config: '', model: 'faults' },
          ...{ alarmOn: 'probability', alarmLabel: 'fault', raise: '', alarmFor: 1 },
        },
      ],
    });
    const { model } = await give('fit', { payload: ROWS });
    assert.equal(model.threshold, undefined);
    assert.equal(model.costs.fault.fine, 9);
    const post = (body: object) =>
      bench
        .request()
        .post('/tabular-prediction/models/none/threshold')
        .send({ model: 'faults', ...body });
    for (const threshold of [2, 'best', undefined, [0.5]]) {
      await post({ threshold }).expect(400);
    }
    assert.deepEqual((await post({ threshold: 'costs' }).expect(200)).body.threshold, {
      ...{ label: 'fault', at: model.thresholds.costs.at },
      by: 'costs',
    });
    // A row whose probability lies between two thresholds.
    const { payload } = await give('p', { payload: [{ heat: 100 }], output_type: 'probas' });
    const p = payload[0].prediction_probabilities.fault as number;
    const answered = async (threshold: number, more: object = {}) => {
      await post({ threshold }).expect(200);
      return (await give('p', { payload: { heat: 100 }, ...more })).payload.prediction;
    };
    assert.equal(await answered(p - 1e-6), 'fault');
    assert.equal(await answered(p + 1e-6), 'fine');
    assert.equal(await answered(p + 1e-6, { threshold: p / 2 }), 'fault', 'msg.threshold is for one message');
    const raised = async (threshold: number, at: number) => {
      await post({ threshold }).expect(200);
      const msg = await give('p', { payload: { heat: 100 }, output_type: 'probas' });
      await give('w', { ...msg, series: { time: at } });
      return bench.out('w', 1).all.map(({ change }) => [change.what, change.limit]);
    };
    assert.deepEqual(await raised(p + 1e-6, 1), []);
    await raised(p / 2, 2);
    const [{ change }] = (await bench.out('w', 1).first()) as [Anything];
    assert.deepEqual([change.what, change.limit, change.value], ['alarm', p / 2, p]);
    const again = await give('fit', { payload: ROWS.slice(20), threshold: 'f1' });
    assert.deepEqual(again.model.threshold.by, 'f1');
    assert.ok(!('threshold' in again), 'it does not steer a predict node behind');
    assert.deepEqual((await post({ threshold: null }).expect(200)).body.threshold, undefined);
  });

  it('changes what the fit node shows of its model, at once', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({
      heat: (i * 31) % 97,
      state: (i * 31) % 97 > 60 ? 'fault' : 'fine',
    }));
    bench = await startBench({
      nodes: [{ id: 'fit', type: 'tabular-fit', config: '', target: 'state', model: 'faults', ...FEW }],
    });
    const choose = (threshold: number | null) =>
      bench
        .request()
        .post('/tabular-prediction/models/none/threshold')
        .send({ model: 'faults', threshold })
        .expect(200);
    await give('fit', { payload: rows });
    await bench.shows('fit', /accuracy/);
    await choose(0.2);
    await bench.shows('fit', /rocAuc/);
    await choose(null);
    await bench.shows('fit', /accuracy/);
  });

  it('takes costs of two fields, of the JSON that an older flow has, and of the sidebar', async () => {
    const fit = { type: 'tabular-fit', config: '', target: 'state', model: 'faults', ...FEW };
    bench = await startBench({
      nodes: [
        { ...fit, id: 'plain' },
        { ...fit, id: 'fields', costMissed: '20', costFalseAlarm: 2 },
        { ...fit, id: 'one', costMissed: '20' },
        { ...fit, id: 'older', costMissed: '20', costs: '{"fault": {"fine": 9}}' },
      ],
    });
    const costs = async (id: string, more: object = {}) =>
      (await give(id, { payload: ROWS, ...more })).model.costs as unknown;
    assert.deepEqual(await costs('plain'), undefined);
    assert.deepEqual(await costs('fields', { costs: { missed: 1 } }), { missed: 20, false_alarm: 2 });
    assert.deepEqual(await costs('one'), { missed: 20 });
    assert.deepEqual(await costs('older'), { fault: { fine: 9 } });
    assert.deepEqual(await costs('plain', { costs: { missed: 4 } }), { missed: 4 });
    const post = (body: object) =>
      bench
        .request()
        .post('/tabular-prediction/models/none/costs')
        .send({ model: 'faults', ...body });
    for (const wrong of [{ missed: -1 }, { missed: 'much' }, {}, 7]) {
      await post({ costs: wrong }).expect(400);
    }
    await post({ costs: { missed: 50, false_alarm: 2 } }).expect(200);
    assert.deepEqual(await costs('plain'), { missed: 50, false_alarm: 2 }, 'the next fit keeps them');
    await post({ costs: null }).expect(200);
    assert.deepEqual(await costs('plain'), undefined);
  });

  it('makes each row that it answers as the rarer class say why, also below Only above', async () => {
    bench = await startBench({
      nodes: [
        { id: 'fit', type: 'tabular-fit', config: '', target: 'state', model: 'faults', ...FEW },
        { id: 'p', type: 'tabular-predict', config: '', model: 'faults', explain: 'on', explainAbove: '0.9' },
      ],
    });
    await give('fit', { payload: ROWS });
    const rows = Array.from({ length: 40 }, (_, i) => ({ heat: i * 3.5 }));
    const explained = async (more: object = {}) => {
      const { payload } = await give('p', { payload: rows, output_type: 'probas', ...more });
      return (payload as Anything[]).map((row) => ({
        ...{ p: row.prediction_probabilities.fault as number, answer: row.prediction as string },
        why: row.prediction_why !== null,
      }));
    };
    const before = await explained();
    assert.ok(before.every(({ p, why }) => why === p > 0.9));
    // The probability of one of the rows itself: from there on the answer is a fault.
    const at = [...before]
      .map(({ p }) => p)
      .sort((a, b) => b - a)
      .find((p) => p < 0.5)!;
    const above = before.filter(({ p }) => p > 0.9).length;
    assert.ok(at < 0.9 && at > 0);
    for (const threshold of [at, 0]) {
      const after = await explained({ threshold });
      assert.ok(after.filter(({ why }) => why).length > above);
      assert.ok(after.every(({ answer, why }) => why === (answer === 'fault')));
    }
    // Above the threshold nothing is left out that was asked for.
    assert.deepEqual(
      (await explained({ threshold: 0.95 })).map(({ why }) => why),
      before.map(({ why }) => why),
    );
    const labels = await give('p', { payload: rows, output_type: 'preds', threshold: at });
    assert.ok(
      (labels.payload as Anything[]).every(
        (row) => (row.prediction_why !== null) === (row.prediction === 'fault'),
      ),
    );
  });
});
