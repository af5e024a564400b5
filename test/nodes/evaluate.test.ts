import assert from 'node:assert/strict';

import { type Bench, startBench, stopBench } from './bench';

const readings = Array.from({ length: 120 }, (_, i) => ({
  heat: (i * 37) % 100,
  shift: ['early', 'late'][i % 2],
  fault: (i * 37) % 100 > 60 !== (i % 23 === 0) ? 'yes' : 'no',
}));

describe('tabular-predict scores against the target', () => {
  let bench: Bench;

  before(async function () {
    this.timeout(60_000);
    bench = await startBench({
      config: { service: 'embedded' },
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'fault', model: 'm', options: '{"n_estimators": 2}' },
        { id: 'on', type: 'tabular-predict', model: 'm', evaluate: 'on', outputType: 'preds' },
        { id: 'off', type: 'tabular-predict', model: 'm' },
      ],
    });
    bench.send('fit', { payload: readings });
    await bench.out('fit').first(1, 50_000);
  });

  after(() => stopBench());

  it('by the dialog or the message, and leaves no evaluation of an earlier node', async () => {
    bench.send('on', { payload: readings });
    const [msg] = await bench.out('on').first();
    const { evaluation, payload } = msg!;
    assert.equal(payload[0].fault, readings[0]!.fault);
    assert.ok(['yes', 'no'].includes(payload[0].prediction));
    assert.deepEqual([evaluation.model, evaluation.target, evaluation.rows], ['m', 'fault', 120]);
    assert.ok(evaluation.scores.accuracy > evaluation.baseline.accuracy);
    assert.ok(evaluation.standard_error.accuracy > 0);
    assert.deepEqual(evaluation.curves.labels, ['no', 'yes']);

    for (const evaluate of [true, 'on', false, undefined]) {
      bench.send('off', { payload: readings, evaluate, evaluation: 'of another node' });
    }
    const asked = await bench.out('off').first(4);
    assert.deepEqual(
      asked.map((one) => one.evaluation?.rows),
      [120, 120, undefined, undefined],
    );
  });

  it('and says what keeps it from doing so', async () => {
    bench.send('on', { payload: { heat: 3, shift: 'late' } });
    const [{ error } = {}] = await bench.caught.first();
    assert.equal(error?.code, 'target.missing');
    assert.match(error.message, /"fault"/);
  });
});
