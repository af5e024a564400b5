import { Random, roundToGrid, TreeBuilder, type Trees } from '../../doors/learner';

/** Columns that `someTrees` split by. */
export const TREE_COLUMNS = 40;

/** Trees of random splits, by numbers and by categories; some leaves share their values where that is asked for. */
export function someTrees({
  seed,
  width,
  onGrid,
  shares,
}: {
  seed: number;
  width: number;
  onGrid: boolean;
  shares: boolean;
}): Trees {
  const random = new Random(seed);
  const builder = new TreeBuilder(width);
  for (let tree = 0; tree < 4; tree++) {
    const leaves = [builder.addRoot()];
    for (let split = random.below(9); split > 0; split--) {
      const node = leaves.splice(random.below(leaves.length), 1)[0]!;
      const set = Int32Array.from({ length: 8 }, (_, w) => (w < 2 ? random.uint32() : -1));
      const left = builder.split(node, {
        column: random.below(TREE_COLUMNS),
        bin: random.below(256),
        missingLeft: random.below(2) === 1,
        set: random.below(3) === 0 ? set : undefined,
      });
      leaves.push(left, left + 1);
    }
    const values = leaves.map(() => Float64Array.from({ length: width }, () => random.uniform() - 0.5));
    if (onGrid) {
      roundToGrid(values);
    }
    const first = builder.setLeaf(leaves[0]!, values[0]!);
    leaves.slice(1).forEach((leaf, i) => {
      if (shares && random.below(2) === 0) {
        builder.shareLeaf(leaf, first);
      } else {
        builder.setLeaf(leaf, values[i + 1]!);
      }
    });
  }
  return builder.finish();
}
