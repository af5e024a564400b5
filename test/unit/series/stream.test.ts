import assert from 'node:assert/strict';

import { watchLoop } from '../../helpers/loop-holds';
import { open, SECOND, START } from './support';

describe('a stream of readings', () => {
  it('of 1,000 keys never holds the event loop, and is bounded in memory', async () => {
    const { series } = await open({ key: 'k', column: 'a', ahead: '1m', windows: '1m, 5m', train: 'never' });
    const perSecond = 5000;
    const holds = watchLoop();
    const before = process.cpuUsage();
    let outcomes = 0;
    // Each key speaks every fifth of a second of its own time, in bursts of half a second.
    for (let burst = 0; burst < 16; burst++) {
      const steps = [];
      for (let i = 0; i < perSecond / 2; i++) {
        const at = burst * 2500 + i;
        const time = START + Math.floor(at / 1000) * 20 * SECOND;
        steps.push(series.push({ k: at % 1000, time, a: at % 97, b: at % 13, c: at % 7 > 3 }));
      }
      for (const step of await Promise.all(steps)) {
        outcomes += step.outcomes.length;
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    const held = holds().percentile(99);
    const seconds = process.cpuUsage(before).user / 1e6;
    assert.equal(series.progress.readings, 40_000);
    assert.ok(outcomes > 30_000, `${outcomes}`);
    assert.ok(seconds < 16, `${seconds} s of work for 8 s of readings`);
    assert.ok(held < 200, `held for ${held} ms`);
  }).timeout(120_000);
});
