import assert from 'node:assert/strict';

import { type Anything, type Bench, server, startBench, stopBench } from './bench';

/** Each tenth row is a fault, and `heat` says so more often than not. */
const ROWS = Array.from({ length: 300 }, (_, i) => ({
  heat: ((i * i * 31 + i * 17) % 97) + (i % 10 === 0 ? 40 : 0),
  state: i % 10 === 0 ? 'fault' : 'fine',
}));

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
});
