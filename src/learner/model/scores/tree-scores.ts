import { leafOf, type Trees } from '../../trees/trees';
import { LeafSets } from '../quick-scorer/leaf-sets';
import { ValueSums } from '../quick-scorer/value-sums';
import { ClassSums } from './class-sums';
import { leavesOf, type RowMajor, rowMajor, type Walk, walkOf } from './walk';

/** Below this many rows trees are walked row by row: preparing them would take longer. */
const MIN_BATCH = 8;
/** From this many rows on QuickScorer is faster; in JavaScript only for trees this deep, or with categories. */
const MIN_LOOK_UP = 200;
const MIN_DEPTH = 8;

/** Adds the trees' scores of `rows` to `scores`: rows × width. */
export function addTreeScores(
  trees: Trees,
  columns: Uint8Array[],
  rows: Int32Array,
  width: number,
  scores: Float64Array,
): void {
  const sums =
    trees.width === 1 && rows.length >= MIN_LOOK_UP
      ? ValueSums.open(columns, rows, width, scores)
      : undefined;
  if (!sums) {
    addOneByOne(trees, columns, rows, width, scores);
    return;
  }
  const finder = new LeafFinder(trees, columns, rows);
  const leaves = new Int32Array(rows.length);
  for (let output = 0; output < width; output++) {
    for (let tree = output; tree < trees.roots.length; tree += width) {
      if (!sums.take(trees, tree, output)) {
        sums.addTo(output);
        finder.leavesOf(tree, leaves);
        addValues(trees, leaves, width, output, sums.scores);
      }
    }
    sums.addTo(output);
  }
  scores.set(sums.scores);
  sums.close();
  finder.close();
}

function addOneByOne(
  trees: Trees,
  columns: Uint8Array[],
  rows: Int32Array,
  width: number,
  scores: Float64Array,
): void {
  const finder = new LeafFinder(trees, columns, rows);
  const sums = ClassSums.open(trees, rows.length, scores);
  const own = new Int32Array(rows.length);
  for (let tree = 0; tree < trees.roots.length; tree++) {
    finder.leavesOf(tree, sums?.next ?? own);
    if (sums) {
      sums.added();
    } else {
      addValues(trees, own, width, tree % width, scores);
    }
  }
  sums?.close();
  finder.close();
}

/** Finds the leaves of rows by the fastest method for their number. Must be closed. */
class LeafFinder {
  private sets: LeafSets | undefined;
  private walk: Walk | undefined;
  private bins: RowMajor | undefined;

  constructor(
    private readonly trees: Trees,
    private readonly columns: Uint8Array[],
    private readonly rows: Int32Array,
  ) {}

  /** Writes to `leaves` where the values of each row's leaf begin. */
  leavesOf(tree: number, leaves: Int32Array): void {
    const { trees, columns, rows } = this;
    if (rows.length < MIN_BATCH) {
      for (let i = 0; i < leaves.length; i++) {
        leaves[i] = leafOf(trees, trees.roots[tree], columns, rows[i]);
      }
      return;
    }
    if (rows.length >= MIN_LOOK_UP) {
      this.sets ??= new LeafSets(columns, rows);
      if ((this.sets.isQuick || this.isDeep(tree)) && this.sets.leavesOf(trees, tree, leaves)) {
        return;
      }
    }
    this.walk ??= walkOf(trees);
    this.bins ??= rowMajor(columns, rows);
    leavesOf(trees, this.walk, tree, columns, rows, this.bins, leaves);
  }

  private isDeep(tree: number): boolean {
    this.walk ??= walkOf(this.trees);
    const depth = this.walk.depths[tree];
    // 0 for a tree with categories.
    return depth >= MIN_DEPTH || depth === 0;
  }

  close(): void {
    this.sets?.close();
  }
}

/** Adds the values of each row's leaf: one value to this output, or one to each output. */
function addValues(
  { values, width: perLeaf }: Trees,
  leaves: Int32Array,
  width: number,
  output: number,
  scores: Float64Array,
): void {
  if (perLeaf === 1) {
    for (let i = 0; i < leaves.length; i++) {
      scores[i * width + output] += values[leaves[i]];
    }
    return;
  }
  for (let i = 0; i < leaves.length; i++) {
    const from = leaves[i];
    const to = i * width;
    for (let k = 0; k < perLeaf; k++) {
      scores[to + k] += values[from + k];
    }
  }
}
