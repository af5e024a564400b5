import assert from 'node:assert/strict';

import fc from 'fast-check';

import { addTreeSums, findLeaf, LeafFinder, memberScores, Random, TreeBuilder } from '../../doors/learner';
import { someTrees, TREE_COLUMNS } from './some-trees';

describe('learner: many rows through a tree', () => {
  it('come to the leaves that each comes to alone, by numbers and categories, missing or not', () => {
    const random = new Random(2);
    const columns = Array.from({ length: TREE_COLUMNS }, () =>
      Uint8Array.from({ length: 90 }, () => random.below(3) * random.below(128)),
    );
    const options = fc.record({ seed: fc.nat(1e6), count: fc.integer({ min: 0, max: 90 }) });
    fc.assert(
      fc.property(options, ({ seed, count }) => {
        const trees = someTrees({ seed, width: 1, onGrid: true, shares: false });
        const rows = new Random(seed).sample(90, count);
        const finder = new LeafFinder(trees, columns, rows);
        trees.roots.forEach((root, tree) => {
          const leaves = new Int32Array(count);
          finder.findLeaves(tree, leaves);
          const alone = rows.map((row) => findLeaf(trees, root, columns, row));
          assert.deepEqual(leaves, alone);
          // The values of all leaves differ.
          const only = {
            ...trees,
            roots: Int32Array.of(root),
            feature: trees.feature.slice(0, trees.roots[tree + 1]),
            values: trees.values.map((_, at) => at),
          };
          const found = new Float64Array(count);
          const unused = () => assert.fail('no tree is large');
          addTreeSums(only, columns, rows, 1, found, unused);
          assert.deepEqual([...found], [...alone]);
        });
      }),
      { numRuns: 300, seed: 6 },
    );
  });

  it('of 32 leaves are looked up by sets of them, of more are not', () => {
    const columns = [Uint8Array.from({ length: 256 }, (_, bin) => bin)];
    const rows = Int32Array.from({ length: 256 }, (_, row) => row);
    for (const leaves of [1, 2, 31, 32, 33]) {
      for (const rightmost of [true, false]) {
        const builder = new TreeBuilder(1);
        let last = builder.addRoot();
        for (let border = 1; border < leaves; border++) {
          const split = { column: 0, bin: rightmost ? border * 7 : 255 - border * 7, set: undefined };
          const left = builder.split(last, { ...split, missingLeft: border % 2 === 0 });
          builder.setLeaf(rightmost ? left : left + 1, [border]);
          last = rightmost ? left + 1 : left;
        }
        builder.setLeaf(last, [leaves]);
        const trees = builder.finish();
        const found = new Float64Array(rows.length);
        let walked = 0;
        const walk = (tree: number, to: Int32Array) => {
          walked++;
          to.set(rows.map((row) => findLeaf(trees, tree, columns, row)));
        };
        addTreeSums(trees, columns, rows, 1, found, walk);
        assert.equal(walked, leaves > 32 ? 1 : 0);
        const alone = Array.from(rows, (row) => trees.values[findLeaf(trees, 0, columns, row)]!);
        assert.deepEqual([...found], alone);
      }
    }
  });

  it('add one value a tree to the same bits, many rows and trees together or few rows at a time', () => {
    const random = new Random(5);
    const rows = 250;
    const columns = Array.from({ length: 40 }, () =>
      Uint8Array.from({ length: rows }, () => random.below(3) * random.below(128)),
    );
    for (const width of [1, 3]) {
      for (const used of [1, 6, 40]) {
        const builder = new TreeBuilder(1);
        // Up to 40 leaves: of more than 32 they are walked to. Then many of few leaves, which are taken together.
        for (let tree = 0; tree < 130; tree++) {
          const leaves = [builder.addRoot()];
          for (let splits = tree < 42 ? tree - 2 : random.below(10); splits > 0; splits--) {
            const node = leaves.splice(random.below(leaves.length), 1)[0]!;
            const set = Int32Array.from({ length: 8 }, () => random.uint32());
            const left = builder.split(node, {
              column: random.below(used),
              bin: random.below(256),
              missingLeft: random.below(2) === 1,
              set: random.below(3) === 0 ? set : undefined,
            });
            leaves.push(left, left + 1);
          }
          leaves.forEach((leaf) => builder.setLeaf(leaf, [random.uniform() - 0.5]));
        }
        const base = Float64Array.from({ length: width }, () => random.uniform());
        const trees = builder.finish();
        const member = { weight: 1, width, parts: [{ kind: 'trees' as const, weight: 0.7, base, trees }] };
        const table = { columns, numbers: [] };
        const all = Int32Array.from({ length: rows }, (_, row) => (row * 7) % rows);
        const few = Array.from({ length: rows / 5 }, (_, i) => [
          ...memberScores(member, table, all.subarray(5 * i, 5 * i + 5)),
        ]);
        assert.deepEqual([...memberScores(member, table, all)], few.flat());
      }
    }
  });

  it('add their values for each class to the same bits, many rows together or few at a time', () => {
    const random = new Random(4);
    const rows = 150;
    const columns = Array.from({ length: 3 }, () =>
      Uint8Array.from({ length: rows }, () => random.below(256)),
    );
    // Classes are added two at a time, up to eight pairs together, and the last; trees sixteen at a time.
    for (const width of [2, 3, 8, 13, 16, 17, 18, 33, 51]) {
      const builder = new TreeBuilder(width);
      for (let tree = 0; tree < 37; tree++) {
        const leaves = [builder.addRoot()];
        // Some have too many leaves to be looked up.
        for (let split = 0; split < (tree % 5 === 3 ? 40 : 7); split++) {
          const node = leaves.splice(random.below(leaves.length), 1)[0]!;
          const border = { column: random.below(3), bin: random.below(256), set: undefined };
          const left = builder.split(node, { ...border, missingLeft: split % 2 === 0 });
          leaves.push(left, left + 1);
        }
        leaves.forEach((leaf) =>
          builder.setLeaf(
            leaf,
            Array.from({ length: width }, () => random.uniform() - 0.5),
          ),
        );
      }
      const base = Float64Array.from({ length: width }, () => random.uniform());
      const member = {
        ...{ weight: 1, width },
        parts: [{ kind: 'trees' as const, weight: 0.7, base, trees: builder.finish() }],
      };
      const scoresOf = (from: number, to: number) =>
        memberScores(
          member,
          { columns, numbers: [] },
          Int32Array.from({ length: to - from }, (_, i) => from + i),
        );
      const few = Array.from({ length: 15 }, (_, i) => [...scoresOf(10 * i, 10 * i + 10)]);
      assert.deepEqual([...scoresOf(0, rows)], few.flat());
    }
  });

  it('add lines and the scores of bins for each class to the same bits, many rows together or few at a time', () => {
    const random = new Random(8);
    const rows = 600;
    const columns = Array.from({ length: 4 }, () =>
      Uint8Array.from({ length: rows }, () => random.below(20)),
    );
    const numbers = columns.map(() =>
      Float64Array.from({ length: rows }, () => (random.below(9) === 0 ? NaN : 20 * random.uniform() - 10)),
    );
    const some = (length: number) => Float64Array.from({ length }, () => random.uniform() - 0.5);
    for (const width of [1, 2, 3, 19, 26, 51]) {
      const lines = {
        ...{ columns: Uint16Array.of(3, 1), means: some(2), scales: Float64Array.of(1, 3) },
        ...{ lows: Float64Array.of(-2, -1), highs: Float64Array.of(2, 1), weights: some(2 * width) },
      };
      for (const own of [undefined, lines]) {
        const at = Int32Array.of(-1, 20 * width, 0, -1);
        const base = some(width);
        const tables = { base, at, scores: Float32Array.from(some(40 * width)), lines: own };
        const member = { weight: 1, width, parts: [{ kind: 'linear' as const, weight: 0.3, base, tables }] };
        const all = Int32Array.from({ length: rows }, (_, row) => (row * 7) % rows);
        const few = Array.from({ length: rows / 5 }, (_, i) => [
          ...memberScores(member, { columns, numbers }, all.subarray(5 * i, 5 * i + 5)),
        ]);
        assert.deepEqual([...memberScores(member, { columns, numbers }, all)], few.flat());
      }
    }
  });
});
