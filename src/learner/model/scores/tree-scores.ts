import { leafOf, type Trees } from '../../trees/trees';
import { addTreeSums } from '../quick-scorer/tree-sums';
import { leavesOf, type RowMajor, rowMajor, type Walk, walkOf } from './walk';

/** Below this many rows trees are walked row by row: preparing them would take longer. */
const MIN_BATCH = 8;
/** From this many rows on QuickScorer is faster. */
const MIN_LOOK_UP = 100;
/** Rows that are scored together: what they take of memory is bounded. */
const STRETCH = 1 << 16;

/** Adds the trees' scores of `rows` to `scores`: rows × width. */
export function addTreeScores(
  trees: Trees,
  columns: Uint8Array[],
  rows: Int32Array,
  width: number,
  scores: Float64Array,
): void {
  for (let from = 0; from < rows.length; from += STRETCH) {
    const some = rows.subarray(from, from + STRETCH);
    addStretch(trees, columns, some, width, scores.subarray(from * width, (from + some.length) * width));
  }
}

function addStretch(
  trees: Trees,
  columns: Uint8Array[],
  rows: Int32Array,
  width: number,
  scores: Float64Array,
): void {
  const finder = new LeafFinder(trees, columns, rows);
  const leaves = new Int32Array(rows.length);
  const walk = (tree: number, own: Int32Array) => finder.leavesOf(tree, own);
  if (rows.length >= MIN_LOOK_UP) {
    addTreeSums(trees, columns, rows, width, scores, walk);
    return;
  }
  for (let tree = 0; tree < trees.roots.length; tree++) {
    finder.leavesOf(tree, leaves);
    addValues(trees, leaves, width, tree % width, scores);
  }
}

/** Finds the leaves of rows by walking, by the fastest method for their number. */
class LeafFinder {
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
    this.walk ??= walkOf(trees);
    this.bins ??= rowMajor(columns, rows);
    leavesOf(trees, this.walk, tree, columns, rows, this.bins, leaves);
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
