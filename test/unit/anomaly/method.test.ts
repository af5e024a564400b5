import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  computeRarity,
  fitExpectations,
  fitFromOthers,
  fitTail,
  sumMoments,
  valueOfRarity,
} from '../../doors/anomaly';
import { seededRandom } from '../../doors/util';
import { normal } from '../../helpers/simulated-machine';

describe('how rare a value of a statistic is', () => {
  const sample = (seed: number, rows: number): Float64Array => {
    const random = seededRandom(seed);
    return Float64Array.from({ length: rows }, () => Math.abs(normal(random)));
  };

  it('grows with the value, and leads back to it', () => {
    fc.assert(
      fc.property(
        fc.integer(),
        fc.integer({ min: 50, max: 2000 }),
        fc.double({ min: 0.1, max: 9, noNaN: true }),
        (seed, rows, value) => {
          const tail = fitTail(sample(seed, rows));
          const rarity = computeRarity(tail, value);
          // Nothing is rarer than once in 10^100 rows, and below the least value of the sample all are alike.
          fc.pre(rarity > 0 && rarity < 99);
          assert.ok(computeRarity(tail, value + 0.5) > rarity);
          assert.ok(Math.abs(valueOfRarity(tail, rarity) - value) < 1e-6);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('counts episodes, not rows', () => {
    const random = seededRandom(4);
    // One event in a hundred rows, and each is ten rows long.
    const rows = Float64Array.from({ length: 6000 }, (_, i) => (i % 100 < 10 ? 5 + random() : random()));
    assert.ok(Math.abs(computeRarity(fitTail(rows), 5.5) - 2) < 0.35, `${computeRarity(fitTail(rows), 5.5)}`);
  });

  it('is told of a tail that was hardly seen, of constants and of nothing', () => {
    for (const values of [
      new Float64Array(0),
      new Float64Array(50),
      Float64Array.of(1),
      new Float64Array(9).fill(NaN),
    ]) {
      const tail = fitTail(values);
      assert.ok(Number.isFinite(computeRarity(tail, 1e9)));
      assert.ok(Number.isFinite(computeRarity(tail, 0)));
    }
  });
});

describe('the expectations of each sensor', () => {
  it('are the ridge regressions on its inputs', () => {
    const random = seededRandom(9);
    const width = { sensors: 3, context: 2 };
    const columns = 11;
    const rows = 400;
    const inputs = new Float64Array(rows * columns).map(() => normal(random));
    for (let row = 0; row < rows; row++) {
      inputs[row * columns]! += 2 * inputs[row * columns + 1]! - inputs[row * columns + 3]!;
    }
    const moments = sumMoments(inputs, columns, { from: 0, to: rows }, new Float64Array(rows).fill(1));
    const { means, cross, level, all } = fitExpectations(moments, width);
    const { coefficients } = fitFromOthers(moments, width);
    const check = (
      coefficients: Float64Array,
      size: number,
      sensor: number,
      used: number[],
      from: number,
    ): void => {
      // The normal equations: the gradient of the penalised squares is zero at the coefficients.
      const penalty = (10 + width.sensors) / rows;
      for (const j of used) {
        let gradient = 0;
        let variance = 0;
        for (let row = 0; row < rows; row++) {
          const at = (c: number): number => inputs[row * columns + c]! - means[c]!;
          let missed = at(sensor);
          used.forEach((c) => (missed -= coefficients[sensor * size + c - from]! * at(c)));
          gradient += (missed * at(j)) / rows;
          variance += at(j) ** 2 / rows;
        }
        const wanted = penalty * Math.max(variance, 1e-3) * coefficients[sensor * size + j - from]!;
        assert.ok(Math.abs(gradient - wanted) < 1e-9, `${sensor} ${j}: ${gradient} ${wanted}`);
      }
    };
    for (let sensor = 0; sensor < 3; sensor++) {
      const others = [0, 1, 2, 3, 4].filter((c) => c !== sensor);
      check(level, 2, sensor, [3, 4], 3);
      check(cross, 5, sensor, others, 0);
      check(all, columns, sensor, [...others, 5, 6, 7, 8, 9, 10], 0);
      const past = [5, 6, 7, 8, 9, 10].filter((c) => (c - 5) % 3 !== sensor);
      check(coefficients, columns, sensor, [...others, ...past], 0);
      for (const own of [sensor, 5 + sensor, 8 + sensor]) {
        assert.ok(coefficients[sensor * columns + own] === 0);
      }
      assert.equal(cross[sensor * 5 + sensor], 0);
    }
  });
});
