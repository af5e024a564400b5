import assert from 'node:assert/strict';

import fc from 'fast-check';

import { Watch } from '../../doors/watch';
import { isInside, meanOf, MINUTE, noise, NUMBERS, quantilesAbout, replay, START } from './support';

/** Runs of a change after 600 calm truths: what share of truths is inside, from one truth to another after it. */
function coverageAfter(
  change: { spread?: number; level?: number },
  options: { likeness?: number; delay: number; from: number; to: number },
): number {
  const held: number[] = [];
  for (let run = 0; run < 16; run++) {
    const error = noise(run * 31 + 3, options.likeness);
    const steps = Array.from({ length: 600 + options.to }, (_, i) => ({
      prediction: quantilesAbout(0),
      truth: i < 600 ? error() : error() * (change.spread ?? 1) + (change.level ?? 0),
    }));
    const { left } = replay(steps, options);
    for (let i = 600 + options.from; i < 600 + options.to; i++) {
      held.push(Number(isInside(left[i]!, steps[i]!.truth)));
    }
  }
  return meanOf(held);
}

describe('bands', () => {
  for (const [name, change, options, low, high] of [
    ['noise doubled', { spread: 2 }, { delay: 1, from: 100, to: 400 }, 0.77, 0.85],
    ['a level 1.5 sd higher', { level: 1.5 }, { delay: 1, from: 100, to: 400 }, 0.77, 0.87],
    [
      'noise doubled, truths 30 rows late',
      { spread: 2 },
      { delay: 30, likeness: 0.8, from: 100, to: 400 },
      0.72,
      0.9,
    ],
  ] as const) {
    it(`hold what they say again after ${name}`, () => {
      const coverage = coverageAfter(change, options);
      assert.ok(coverage > low && coverage < high, `${coverage}`);
    });
  }

  for (const delay of [1, 12, 24, 100]) {
    it(`never grow beyond three times their calm mean with truths ${delay} rows late`, () => {
      for (let run = 0; run < 3; run++) {
        const error = noise(run * 17 + 2, delay === 1 ? 0 : 0.9);
        const steps = Array.from({ length: 2000 }, () => ({
          prediction: quantilesAbout(0),
          truth: error(),
        }));
        const widths = replay(steps, { delay }).left.map((one) => one['0.9']! - one['0.1']!);
        assert.ok(Math.max(...widths) <= 3 * meanOf(widths), `${Math.max(...widths)} of ${meanOf(widths)}`);
      }
    });
  }

  it('are corrected in every form; numbers alone are left as they are', () => {
    const watch = new Watch(NUMBERS);
    for (let i = 0; i < 200; i++) {
      watch.predicted({ series: { id: `${i}` }, prediction: quantilesAbout(0) });
      watch.truth({ series: { id: `${i}` }, truth: 2 + (i % 5) / 10 });
    }
    const ask = (prediction: unknown) => watch.predicted({ series: {}, prediction });
    assert.equal(ask(5).prediction, 5);
    assert.equal(ask(null).prediction, null);
    const middleOnly = { '0.5': 1 };
    assert.deepEqual(ask(middleOnly).prediction, middleOnly);
    const { prediction, numbers } = ask({ mean: 0.1, median: 0, mode: null, quantiles: quantilesAbout(0) });
    const full = prediction as {
      mean: number;
      median: number;
      mode: null;
      quantiles: Record<string, number>;
    };
    assert.ok(full.median > 1.5 && full.median === full.quantiles['0.5']);
    assert.ok(Math.abs(full.mean - full.median - 0.1) < 1e-9);
    assert.equal(full.mode, null);
    assert.ok(Math.abs(numbers.shift! - full.median) < 1e-9);
    assert.ok(numbers.widen! < 1, 'a band that is far too wide for what comes becomes narrower');
  });

  it('are not touched where honest is off', () => {
    const steps = Array.from({ length: 100 }, () => ({ prediction: quantilesAbout(0), truth: 9 }));
    const { left, watch } = replay(steps, { honest: false });
    assert.deepEqual(left.at(-1), quantilesAbout(0));
    assert.deepEqual(watch.report().coverage, { told: 0.8, held: 0, rows: 99 });
  });

  it('of a key follow its own truths once it has 200, and those of each step ahead their own', () => {
    const watch = new Watch(NUMBERS);
    const offsets = { p1: 3, p2: -3 };
    let id = 0;
    const shiftOf = (key: string, ahead: number): number =>
      watch.predicted({ series: { key, ahead, time: START }, prediction: quantilesAbout(0) }).numbers.shift!;
    const teach = (ahead: number, rounds: number): void => {
      for (let i = 0; i < rounds; i++) {
        for (const [key, offset] of Object.entries(offsets)) {
          const series = { id: `${id++}`, key, ahead, time: START };
          watch.predicted({ series, prediction: quantilesAbout(0) });
          watch.truth({ series, truth: offset + (i % 7) / 10 });
        }
      }
    };
    teach(MINUTE, 150);
    assert.ok(Math.abs(shiftOf('p1', MINUTE) - shiftOf('p2', MINUTE)) < 1e-9);
    teach(MINUTE, 100);
    assert.ok(shiftOf('p1', MINUTE) > 2.5 && shiftOf('p2', MINUTE) < -2);
    assert.equal(shiftOf('p1', 2 * MINUTE), 0);
  });

  it('start again with a new model', () => {
    const steps = Array.from({ length: 100 }, () => ({ prediction: quantilesAbout(0), truth: 2 }));
    const { watch } = replay(steps);
    watch.modelChanged({ ...NUMBERS, id: 'fit-2' });
    const { prediction, numbers } = watch.predicted({ series: {}, prediction: quantilesAbout(0) });
    assert.deepEqual(prediction, quantilesAbout(0));
    assert.equal(numbers.shift, 0);
  });

  it('never cross, whatever comes', () => {
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    const quantiles = fc.array(value, { minLength: 9, maxLength: 9 }).map((all) => {
      const sorted = [...all].sort((a, b) => a - b);
      return Object.fromEntries(sorted.map((one, k) => [`0.${k + 1}`, one]));
    });
    const same = value.map((one) =>
      Object.fromEntries(Array.from({ length: 9 }, (_, k) => [`0.${k + 1}`, one])),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.oneof(quantiles, same), value), { minLength: 25, maxLength: 60 }),
        (steps) => {
          const { left } = replay(steps.map(([prediction, truth]) => ({ prediction, truth })));
          for (const one of left) {
            const values = Object.keys(one)
              .sort()
              .map((name) => one[name]!);
            assert.ok(
              values.every((each, k) => Number.isFinite(each) && (k === 0 || values[k - 1]! <= each)),
            );
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});
