import type { ColumnSpec } from '../features/encode';
import { argsort } from '../math/order';
import type { Random } from '../math/random';
import { Grower, type GrowRules } from '../trees/grow';
import { GrowSpace, quantise } from '../trees/grow-space';
import { TreeBuilder, type Trees } from '../trees/trees';
import { RESIDUALS } from '../tuned';

interface Grown {
  trees: Trees;
  /** Per leaf, its rows. */
  leafRows: Int32Array[];
  /** Per tree and row, 1 if the tree learned from it. */
  inSample: Uint8Array[];
  work: number;
}

/** Trees that split by the sign and the size of residuals, both as ranks, so that outliers do not dominate. */
export function growTrees(
  columns: Uint8Array[],
  specs: ColumnSpec[],
  residuals: Float64Array,
  sampleRows: (random: Random) => Int32Array,
  random: Random,
): Grown {
  const count = residuals.length;
  const leaf = Math.max(10, Math.min(100, Math.floor(count / 25)));
  const rules: GrowRules = {
    lambda: 0,
    minHessian: leaf,
    minGain: 1e-6,
    categorySmooth: 10,
    categoryLambda: 10,
    maxLeaves: 64,
    maxDepth: 10,
    nodeColumns: 0.5,
  };
  const picked = Math.min(specs.length, RESIDUALS.columns);
  const all = Int32Array.from({ length: count }, (_, row) => row);
  const size = {
    columns,
    specs,
    tableRows: count,
    width: 2,
    outputs: 0,
    rows: count,
    outOfSample: 0,
    all: new Int32Array(0),
    picked,
  };
  const space = new GrowSpace(size);
  const { gradHess } = space;
  try {
    ranks(residuals).forEach((rank, row) => (gradHess[row * 3] = -rank));
    ranks(residuals.map(Math.abs)).forEach((rank, row) => (gradHess[row * 3 + 1] = -rank));
    for (let row = 0; row < count; row++) {
      gradHess[row * 3 + 2] = 1;
    }
    quantise(gradHess, all, 3);
    const treeCount = count < 2 * leaf ? 0 : RESIDUALS.trees;
    return growIn(space, specs, rules, { treeCount, picked, sampleRows, random });
  } finally {
    space.close();
  }
}

interface Forest {
  treeCount: number;
  /** Columns that a tree may split on. */
  picked: number;
  sampleRows: (random: Random) => Int32Array;
  random: Random;
}

function growIn(
  space: GrowSpace,
  specs: ColumnSpec[],
  rules: GrowRules,
  { treeCount, picked, sampleRows, random }: Forest,
): Grown {
  const count = space.sample.length;
  const grower = new Grower(specs, 2, space);
  const builder = new TreeBuilder(1);
  const inSample: Uint8Array[] = [];
  const leafRows: Int32Array[] = [];
  const gains = new Float64Array(specs.length);
  for (let tree = 0; tree < treeCount; tree++) {
    const sample = sampleRows(random);
    if (sample.length === 0) {
      continue;
    }
    const mark = new Uint8Array(count);
    for (const row of sample) {
      mark[row] = 1;
    }
    inSample.push(mark);
    const rows = space.sample.subarray(0, sample.length);
    rows.set(sample);
    const columnsOfTree = random.sample(specs.length, picked);
    const growth = { rows, outOfSample: space.outOfSample, picked: columnsOfTree, rules, random };
    for (const grown of grower.grow(growth, builder, gains)) {
      builder.setLeaf(grown.node, [0]);
      leafRows.push(rows.slice(grown.start, grown.end));
    }
  }
  return { trees: builder.finish(), leafRows, inSample, work: grower.work };
}

/** Ranks from -1 to 1. */
function ranks(values: Float64Array): Float64Array {
  const order = argsort(values);
  const out = new Float64Array(values.length);
  order.forEach((row, rank) => (out[row] = ((rank + 0.5) / values.length) * 2 - 1));
  return out;
}
