import assert from 'node:assert/strict';

import fc from 'fast-check';

import { readStateLines, stateLines, Watch, type WatchOptions } from '../../doors/watch';
import { DAY, MINUTE, noise, NUMBERS, quantilesAbout, START } from './support';

const OPTIONS: WatchOptions = { perKey: true, keep: 300, alarm: { on: 'upper', raise: 2, for: 2 } };
const MODEL = {
  ...NUMBERS,
  relativeTo: 'now',
  drift: [{ column: 'now', reference: { edges: [0], shares: [0.5, 0.5, 0] }, threshold: 0.01 }],
};

/** What one step of a stream of two machines does and answers, with truths late, early, twice and never. */
function step(watch: Watch, i: number, error: number): unknown[] {
  const series = (at: number) => ({
    ...{ id: `r${at}`, key: `p${at % 2}`, time: START + at * 20 * MINUTE },
    ahead: ((at % 3) + 1) * 20 * MINUTE,
  });
  const spread = i > 700 ? 2 : 1;
  const answers: unknown[] = [
    watch.predicted({ series: series(i), prediction: quantilesAbout(0), row: { now: error } }),
  ];
  if (i >= 6 && i % 11 !== 0) {
    answers.push(watch.truth({ series: series(i - 6), truth: error * spread }));
  }
  if (i % 13 === 0) {
    answers.push(watch.truth({ series: series(i + 2), truth: error * spread }));
  }
  if (i === 500) {
    answers.push(watch.modelChanged({ ...MODEL, id: 'fit-2' }));
  }
  return answers;
}

describe('the state of a watch', () => {
  it('continues bit for bit after a restart at any moment', () => {
    const errors = Array.from({ length: 1300 }, noise(12, 0.5));
    const whole = new Watch(MODEL, OPTIONS);
    const expected = errors.map((error, i) => JSON.stringify(step(whole, i, error)));
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1299), { minLength: 1, maxLength: 3 }), (restarts) => {
        let watch = new Watch(MODEL, OPTIONS);
        errors.forEach((error, i) => {
          if (restarts.includes(i)) {
            const lines = [...stateLines(watch.toJSON())];
            watch = Watch.from(readStateLines(lines)!, OPTIONS);
            assert.deepEqual([...stateLines(watch.toJSON())], lines);
          }
          assert.equal(JSON.stringify(step(watch, i, error)), expected[i], `step ${i}`);
        });
        assert.equal(JSON.stringify(watch.report()), JSON.stringify(whole.report()));
      }),
      { numRuns: 4 },
    );
  });

  it('counts the same truths whatever their order', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray(
          Array.from({ length: 40 }, (_, i) => i),
          { minLength: 40 },
        ),
        (order) => {
          const watch = new Watch(NUMBERS);
          for (let i = 0; i < 40; i++) {
            watch.predicted({ series: { key: 'p', time: START + i }, prediction: 0 });
          }
          for (const i of [...order, ...order.slice(20)]) {
            watch.truth({ series: { key: 'p', time: START + i }, truth: i });
          }
          const { live, counts } = watch.report();
          assert.deepEqual([live.rows, live.loss, counts.again, counts.open], [40, 19.5, 20, 0]);
        },
      ),
      { numRuns: 20 },
    );
  });

  it('is as it was when it is written while the watch goes on', () => {
    const watch = new Watch(NUMBERS);
    for (let i = 0; i < 1000; i++) {
      watch.predicted({ series: { id: `${i}`, time: START + i * DAY }, prediction: i });
    }
    const lines = stateLines(watch.toJSON());
    const written = [lines.next().value as string];
    for (let i = 0; i < 1000; i++) {
      watch.truth({ series: { id: `${i}` }, truth: i });
    }
    written.push(...lines);
    const restored = Watch.from(readStateLines(written)!);
    assert.deepEqual([restored.report().counts.open, restored.report().live.rows], [1000, 0]);
    assert.equal(readStateLines(written.slice(0, -1)), undefined);
    assert.equal(readStateLines([]), undefined);
    assert.equal(readStateLines(['{"v":2}']), undefined);
  });

  it('takes fewer truths where fewer are to be kept', () => {
    const watch = new Watch(NUMBERS);
    for (let i = 0; i < 100; i++) {
      watch.predicted({ series: { id: `${i}` }, prediction: 0 });
      watch.truth({ series: { id: `${i}` }, truth: i });
    }
    const { live } = Watch.from(watch.toJSON(), { keep: 10 }).report();
    assert.deepEqual([live.rows, live.loss], [10, 94.5]);
  });
});
