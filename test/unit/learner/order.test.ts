import assert from 'node:assert/strict';

import fc from 'fast-check';

import { argsort, findBin, sorted } from '../../doors/learner';

const value = fc.oneof(
  fc.double({ noNaN: true }),
  fc.integer({ min: -3, max: 3 }),
  fc.constantFrom(0, -0, Infinity, -Infinity, Number.MIN_VALUE, -Number.MIN_VALUE, 1 + Number.EPSILON),
);

describe('learner: numbers in order', () => {
  it('is the order that comparisons find, equal numbers by their places', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 300 }), (values) => {
        const compared = values.map((_, i) => i).sort((a, b) => below(values[a]!, values[b]!) || a - b);
        assert.deepEqual(Array.from(argsort(Float64Array.from(values))), compared);
        assert.deepEqual(
          sorted(Float64Array.from(values)),
          Float64Array.from(compared, (i) => values[i]!),
        );
      }),
      { numRuns: 300, seed: 23 },
    );
  });

  it('finds the bin of a value: one more than there are borders below it', () => {
    const cases = fc.record({ borders: fc.array(value, { maxLength: 260 }), value });
    fc.assert(
      fc.property(cases, ({ borders, value }) => {
        const ascending = Float64Array.from(borders).sort();
        assert.equal(findBin(value, ascending), 1 + ascending.filter((border) => border < value).length);
      }),
      { numRuns: 300, seed: 24 },
    );
    assert.equal(findBin(NaN, Float64Array.of(1)), 0);
  });
});

function below(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
