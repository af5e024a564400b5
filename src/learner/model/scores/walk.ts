import { goesMissingLeft, isCategoryNode, LEAF, leafOf, type Trees } from '../../trees/trees';

/*
 * Walks many rows through a tree, four at a time. Each takes as many steps as the tree is deep and then stays at its
 * leaf, so that there is no branch to mispredict and the four chains of loads overlap.
 */

/** Trees prepared for this walk, one element per node. */
export interface Walk {
  /** feature · 512 + (missing values go right ? 256 : 0) + the last bin that goes left, less the first known one. */
  words: Int32Array;
  /** The left child, or the leaf itself. */
  next: Int32Array;
  /** Per tree its depth, or 0 if it has categories and is walked row by row. */
  depths: Uint16Array;
}

/** Bins of all columns, row by row. */
export interface RowMajor {
  bins: Uint8Array;
  columns: number;
}

const walks = new WeakMap<Trees, Walk>();
/** A leaf sends every bin left, and its left child is itself. */
const STAY = 255;
const MISSING_RIGHT = 256;
const FEATURE = 512;

/** The bins of some rows of the table, in their order. */
export function rowMajor(columns: Uint8Array[], rows: Int32Array): RowMajor {
  const bins = new Uint8Array(rows.length * columns.length);
  for (let column = 0; column < columns.length; column++) {
    const from = columns[column];
    for (let i = 0, at = column; i < rows.length; i++, at += columns.length) {
      bins[at] = from[rows[i]];
    }
  }
  return { bins, columns: columns.length };
}

/** Prepares trees; the result is cached. */
export function walkOf(trees: Trees): Walk {
  let walk = walks.get(trees);
  if (!walk) {
    walk = prepareWalk(trees);
    walks.set(trees, walk);
  }
  return walk;
}

/** Writes to `leaves` where the values of each row's leaf begin in `Trees.values`. */
export function leavesOf(
  trees: Trees,
  { words, next, depths }: Walk,
  tree: number,
  columns: Uint8Array[],
  rows: Int32Array,
  { bins, columns: width }: RowMajor,
  leaves: Int32Array,
): void {
  const root = trees.roots[tree];
  const depth = depths[tree];
  const { left, feature } = trees;
  const together = feature[root] === LEAF || depth > 0 ? rows.length & ~3 : 0;
  for (let i = 0; i < together; i += 4) {
    const at0 = i * width;
    const at1 = at0 + width;
    const at2 = at1 + width;
    const at3 = at2 + width;
    let node0 = root;
    let node1 = root;
    let node2 = root;
    let node3 = root;
    for (let step = 0; step < depth; step++) {
      const word0 = words[node0];
      const word1 = words[node1];
      const word2 = words[node2];
      const word3 = words[node3];
      node0 = next[node0] + side(word0, bins[at0 + (word0 >>> 9)]);
      node1 = next[node1] + side(word1, bins[at1 + (word1 >>> 9)]);
      node2 = next[node2] + side(word2, bins[at2 + (word2 >>> 9)]);
      node3 = next[node3] + side(word3, bins[at3 + (word3 >>> 9)]);
    }
    leaves[i] = left[node0];
    leaves[i + 1] = left[node1];
    leaves[i + 2] = left[node2];
    leaves[i + 3] = left[node3];
  }
  for (let i = together; i < rows.length; i++) {
    leaves[i] = leafOf(trees, root, columns, rows[i]);
  }
}

/** 0 for left, 1 for right: the sign of a difference. A missing value that goes right counts as above every bin. */
function side(word: number, bin: number): number {
  return ((word & 255) - ((bin - ((word >>> 8) & 1)) & 511)) >>> 31;
}

function prepareWalk(trees: Trees): Walk {
  const { feature, left, bin, roots } = trees;
  const words = new Int32Array(feature.length);
  const next = new Int32Array(feature.length);
  const depthOf = new Uint16Array(feature.length);
  const depths = new Uint16Array(roots.length);
  for (let tree = 0; tree < roots.length; tree++) {
    const end = tree + 1 < roots.length ? roots[tree + 1] : feature.length;
    let deepest = 0;
    let isOrdered = true;
    // Children come after their parents.
    for (let node = roots[tree]; node < end; node++) {
      if (feature[node] === LEAF) {
        words[node] = STAY;
        next[node] = node;
        continue;
      }
      isOrdered &&= !isCategoryNode(trees, node) && bin[node] > 0;
      const missingLeft = goesMissingLeft(trees, node);
      words[node] = feature[node] * FEATURE + (missingLeft ? bin[node] : MISSING_RIGHT + bin[node] - 1);
      next[node] = left[node];
      depthOf[left[node]] = depthOf[left[node] + 1] = depthOf[node] + 1;
      deepest = Math.max(deepest, depthOf[node] + 1);
    }
    depths[tree] = isOrdered ? deepest : 0;
  }
  return { words, next, depths };
}
