import assert from 'node:assert/strict';

import fc from 'fast-check';

import { leafOf, leavesOf, Random, rowMajor, walkOf } from '../../doors/learner';
import { someTrees, TREE_COLUMNS } from './some-trees';

describe('learner: many rows through a tree', () => {
  it('come to the leaves that each comes to alone, by numbers and categories, missing or not', () => {
    const random = new Random(2);
    const columns = Array.from({ length: TREE_COLUMNS }, () =>
      Uint8Array.from({ length: 90 }, () => random.below(3) * random.below(128)),
    );
    const options = fc.record({ seed: fc.nat(1e6), count: fc.integer({ min: 0, max: 50 }) });
    fc.assert(
      fc.property(options, ({ seed, count }) => {
        const trees = someTrees({ seed, width: 1, onGrid: true, shares: false });
        const rows = new Random(seed).sample(90, count);
        const bins = rowMajor(columns, rows);
        trees.roots.forEach((root, tree) => {
          const leaves = new Int32Array(count);
          leavesOf(trees, walkOf(trees), tree, columns, rows, bins, leaves);
          assert.deepEqual(
            leaves,
            rows.map((row) => leafOf(trees, root, columns, row)),
          );
        });
      }),
      { numRuns: 300, seed: 6 },
    );
  });
});
