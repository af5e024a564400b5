import assert from 'node:assert/strict';

import { waitFor } from '../helpers/wait';
import { startBench, stopBench } from './bench';

const MINUTE = 60_000;
const START = Date.UTC(2026, 2, 2);

/** One estimator that learns from few rows: it is quick. */
const QUICK = JSON.stringify({ n_estimators: 1, inference_config: { SUBSAMPLE_SAMPLES: 40 } });

/** Readings of a machine a minute apart; from `shiftAt` on it runs 6 degrees hotter. */
function readings(from: number, to: number, shiftAt = Infinity): object[] {
  return Array.from({ length: to - from }, (_, i) => {
    const at = from + i;
    const load = (at * 7919) % 13;
    const heat = 40 + load + (at >= shiftAt ? 6 : 0) + 0.1 * ((at * 104729) % 17);
    return { time: START + at * MINUTE, load, heat };
  });
}

describe('series, then fit: the model takes over when it is better', () => {
  afterEach(stopBench);

  it('the series asks for it; msg.challenger and the status say what was done; always in the dialog switches it off', async () => {
    const bench = await startBench({
      nodes: [
        {
          id: 's',
          type: 'tabular-series',
          column: 'heat',
          ahead: '1m',
          windows: '2m',
          train: '150 rows',
          relative: false,
          wires: [[], [], ['f', 'g']],
        },
        { id: 'f', type: 'tabular-fit', model: 'heat', options: QUICK },
        { id: 'g', type: 'tabular-fit', model: 'always', replace: 'always', options: QUICK },
      ],
    });
    bench.send('s', { payload: readings(0, 400) });
    const [first] = await bench.out('f').first(1);
    assert.deepEqual(
      [first!.challenger.taken, first!.challenger.why, first!.model.version],
      [true, 'first', 1],
    );
    bench.send('s', { payload: readings(400, 700, 400) });
    const [, second] = await bench.out('f').first(2);
    const { taken, why, text, scores } = second!.challenger;
    assert.deepEqual([taken, why, second!.model.version], [true, 'better', 2]);
    assert.ok(scores.difference > scores.standard_error && text.includes('pinball loss'), text);
    assert.ok(second!.model.versions.some((version: { why: string }) => version.why === 'better'));
    // The same readings once more are nothing new.
    bench.send('s', { train: true });
    const [, , third] = await bench.out('f').first(3);
    assert.deepEqual([third!.challenger.taken, third!.challenger.why], [false, 'unchanged']);
    const always = await bench.out('g').first(2);
    assert.ok(always.every((msg) => msg.challenger === undefined));
    assert.deepEqual(bench.caught.all, []);
  });

  it('too few new rows: the model stays, and the status says so', async () => {
    const bench = await startBench({
      nodes: [
        {
          id: 'f',
          type: 'tabular-fit',
          target: 'heat',
          model: 'heat',
          replace: 'better',
          options: QUICK,
        },
      ],
    });
    bench.send('f', { payload: readings(0, 300) });
    await bench.out('f').first(1);
    bench.send('f', { payload: readings(0, 320) });
    const [, second] = await bench.out('f').first(2);
    assert.deepEqual(
      [second!.challenger.why, second!.model.version, second!.model.rows],
      ['too_few_rows', 1, 300],
    );
    await waitFor('the status', () => bench.status('f').includes('stays.too_few_rows') || undefined);
    // A decay that is told needs no proof where none can be had.
    bench.send('f', { payload: readings(0, 320), train: { reason: 'decay' } });
    const [, , third] = await bench.out('f').first(3);
    assert.deepEqual(
      [third!.challenger.taken, third!.challenger.why, third!.model.version],
      [true, 'decayed', 2],
    );
  });
});
