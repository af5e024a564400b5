import assert from 'node:assert/strict';

import { Random, type SplitCandidate, tryOrdered } from '../../doors/learner';

/** The best split of random sums of so many gradients, in whole numbers; the third one is always 0. */
function found(seed: number, width: 2 | 3): SplitCandidate {
  const random = new Random(seed);
  const bins = 2 + random.below(30);
  const sums = new Float64Array(bins * (width + 1));
  const totals = new Float64Array(width + 1);
  const add = (bin: number, which: number, value: number) => {
    sums[bin * (width + 1) + which]! += value;
    totals[which]! += value;
  };
  // Every second node has no missing values, which are in bin 0.
  for (let bin = seed % 2; bin < bins; bin++) {
    const rows = random.below(3) * random.below(9);
    for (let row = 0; row < rows; row++) {
      add(bin, 0, random.below(19) - 9);
      add(bin, 1, random.below(19) - 9);
      add(bin, width, 1);
    }
  }
  const rules = {
    ...{ lambda: seed % 3, minHessian: seed % 5, minGain: seed % 7 },
    ...{ categorySmooth: 1, categoryLambda: 1 },
  };
  const best = { gain: seed % 11, column: 0, bin: 0, missingLeft: false, set: undefined };
  tryOrdered({ sums, offset: 0, bins, totals, width }, 4, rules, best);
  return best;
}

describe('learner: splits by two gradients', () => {
  it('are those that the loops for any number of gradients find, to the bit', () => {
    let splits = 0;
    for (let seed = 0; seed < 3000; seed++) {
      const best = found(seed, 2);
      assert.deepEqual(best, found(seed, 3));
      splits += best.column === 4 ? 1 : 0;
    }
    assert.ok(splits > 1000, `${splits} splits`);
  });
});
