import assert from 'node:assert/strict';

import fc from 'fast-check';

import { answersFrom, cheapestThreshold, classCurves, type ThresholdCurve } from '../../doors/metrics';

const rows = fc.array(fc.record({ code: fc.constantFrom(0, 1), p: fc.integer({ min: 0, max: 9 }) }), {
  minLength: 2,
  maxLength: 60,
});
const cost = fc.integer({ min: 0, max: 9 });

function curveOf(given: { code: number; p: number }[]): ThresholdCurve | undefined {
  return classCurves({
    labels: ['no', 'yes'],
    codes: given.map(({ code }) => code),
    probability: (row, of) => (of === 1 ? given[row]!.p / 9 : 1 - given[row]!.p / 9),
    positive: 1,
  }).by_threshold;
}

describe('the cheapest threshold', () => {
  it('costs what it says, and none costs less', () => {
    fc.assert(
      fc.property(rows, cost, cost, cost, cost, (given, hit, miss, falseAlarm, pass) => {
        const curve = curveOf(given);
        if (curve === undefined) {
          return;
        }
        const meanCost = (at: number): number => {
          const costs = given.map(({ code, p }) =>
            p / 9 >= at ? (code === 1 ? hit : falseAlarm) : code === 1 ? miss : pass,
          );
          return costs.reduce((all, one) => all + one, 0) / given.length;
        };
        const { at, value } = cheapestThreshold(curve, { hit, miss, falseAlarm, pass });
        assert.ok(Math.abs(meanCost(at) - value) < 1e-9, `${meanCost(at)} at ${at}, not ${value}`);
        // Above 1 nothing is ever answered, which no threshold can say where a row has the probability 1.
        const possible = [0, ...given.map(({ p }) => p / 9 - 1e-7), 1];
        assert.ok(possible.every((one) => meanCost(one) >= value - 1e-9));
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  it('is low where a miss costs much, and above every probability where a false alarm does', () => {
    const curve = curveOf([1, 2, 3, 4, 5, 6, 7].map((p) => ({ code: p > 3 && p !== 5 ? 1 : 0, p })))!;
    const wrong = { hit: 0, pass: 0 };
    assert.ok(Math.abs(cheapestThreshold(curve, { ...wrong, miss: 50, falseAlarm: 1 }).at - 4 / 9) < 1e-6);
    assert.ok(Math.abs(cheapestThreshold(curve, { ...wrong, miss: 1, falseAlarm: 50 }).at - 6 / 9) < 1e-6);
    assert.equal(cheapestThreshold(curve, { hit: 9, pass: 0, miss: 1, falseAlarm: 50 }).at, 1);
    assert.deepEqual(answersFrom(curve, 0.5), { hits: 2, false_alarms: 1 });
    assert.deepEqual(answersFrom(curve, 0.99), { hits: 0, false_alarms: 0 });
  });
});
