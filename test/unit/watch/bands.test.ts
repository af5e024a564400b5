import assert from 'node:assert/strict';

import fc from 'fast-check';

import { Watch, type WatchState } from '../../doors/watch';
import { isInside, meanOf, MINUTE, noise, NUMBERS, quantilesAbout, replay, START } from './support';

/** Runs of a change after 600 calm truths: what share of truths is inside, from one truth to another after it. */
function coverageAfter(
  change: { spread?: number; level?: number },
  options: { likeness?: number; delay: number; from: number; to: number },
): number {
  const held: number[] = [];
  for (let run = 0; run < 8; run++) {
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

  it('are shifted little by errors that turn before their truths come, and follow a new level all the same', () => {
    const [own, left, level]: number[][] = [[], [], []];
    for (let run = 0; run < 4; run++) {
      const slow = noise(run * 7 + 1, 0.95);
      const turning = Array.from({ length: 2000 }, () => ({ prediction: quantilesAbout(0), truth: slow() }));
      const answered = replay(turning, { delay: 24 }).left;
      turning.forEach(({ truth }, i) => {
        own!.push(Math.abs(truth));
        left!.push(Math.abs(truth - answered[i]!['0.5']!));
      });
      const error = noise(run * 7 + 1);
      const risen = Array.from({ length: 1000 }, (_, i) => ({
        prediction: quantilesAbout(0),
        truth: error() + (i < 600 ? 0 : 1.5),
      }));
      level!.push(
        ...replay(risen)
          .left.slice(800)
          .map((one) => one['0.5']!),
      );
    }
    assert.ok(meanOf(left!) < 1.025 * meanOf(own!), `${meanOf(left!)} after ${meanOf(own!)}`);
    assert.ok(meanOf(level!) > 1, `${meanOf(level!)}`);
  });

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

  /** A model whose bands hold too few, replaced after 300 truths: what left in the 20 rows after, with their truths. */
  function afterTakeOver(
    run: number,
    truthOf: (i: number, error: number) => number,
  ): { left: Record<string, number>[]; truths: number[]; watch: Watch } {
    const [delay, error] = [10, noise(run * 29 + 5)];
    const truths = Array.from({ length: 320 }, (_, i) => truthOf(i, error()));
    let watch = new Watch(NUMBERS);
    const left: Record<string, number>[] = [];
    truths.forEach((_, i) => {
      if (i >= delay) {
        watch.truth({ series: { id: `${i - delay}` }, truth: truths[i - delay]! });
      }
      if (i === 300) {
        watch.modelChanged({ ...NUMBERS, id: 'fit-2' });
        // A restart in between changes nothing.
        watch = Watch.from(JSON.parse(JSON.stringify(watch.toJSON())) as WatchState);
      }
      const { prediction } = watch.predicted({ series: { id: `${i}` }, prediction: quantilesAbout(0) });
      left.push(prediction as Record<string, number>);
    });
    return { left: left.slice(300), truths: truths.slice(300), watch };
  }

  it('of a key go on as it needs them when another model takes over, though none has had 200 truths of it', () => {
    const watch = new Watch(NUMBERS);
    const errors = [noise(3), noise(4)];
    let [inside, after] = [0, 0];
    for (let i = 0; i < 1000; i++) {
      if (i % 100 === 0) {
        watch.modelChanged({ ...NUMBERS, id: `fit-${i}` });
      }
      errors.forEach((error, k) => {
        const series = { key: `${k}`, time: START + i * MINUTE };
        const truth = error() * (k === 0 ? 1 : 2);
        const left = watch.predicted({ series, prediction: quantilesAbout(0) }).prediction as Record<
          string,
          number
        >;
        if (k === 1 && i >= 500) {
          after++;
          inside += left['0.1']! <= truth && truth <= left['0.9']! ? 1 : 0;
        }
        watch.truth({ series, truth });
      });
    }
    assert.ok(inside / after > 0.7 && inside / after < 0.88, `${inside / after}`);
  });

  it('of a new model hold what they say from its first row on, as wide as those of the model before had to be', () => {
    const held: number[] = [];
    for (let run = 0; run < 40; run++) {
      const { left, truths } = afterTakeOver(run, (_, error) => 1.8 * error);
      held.push(...left.map((band, i) => Number(isInside(band, truths[i]!))));
    }
    // As the model gives them they hold 0.52.
    assert.ok(meanOf(held) > 0.74 && meanOf(held) < 0.84, `${meanOf(held)}`);
  });

  it('of a new model are not shifted by the errors of the one before, nor widened without end', () => {
    const { left, watch } = afterTakeOver(1, (i, error) => (i > 200 && i < 300 ? 500 + error : error));
    for (const band of left) {
      assert.equal(band['0.5'], 0);
      const width = band['0.9']! - band['0.1']!;
      assert.ok(width >= 2 * 1.2816 - 1e-9 && width < 2 * 2 * 1.2816 + 1e-9, `${width}`);
    }
    for (let i = 310; i < 319; i++) {
      watch.truth({ series: { id: `${i}` }, truth: 2 });
    }
    assert.equal(watch.predicted({ series: {}, prediction: quantilesAbout(0) }).numbers.shift, 0);
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
