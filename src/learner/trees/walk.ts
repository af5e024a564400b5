import { findLeaf, goesMissingLeft, isCategoryNode, LEAF, SET_WORDS, type Trees } from './trees';

/*
 * Walks many rows through a tree, four at a time. Each takes as many steps as the tree is deep and then stays at its
 * leaf, so that there is no branch to mispredict and the four chains of loads overlap.
 */

/** Below this many rows trees are walked row by row: preparing them would take longer. Both change the time alone. */
const MIN_BATCH = 8;
/** The same for a tree with categories, whose nodes are prepared for each call. */
const MIN_SETS = 64;

/** Trees prepared for this walk, one element per node. */
interface Walk {
  /** feature · 512 + (missing values go right ? 256 : 0) + the last bin that goes left, less the first known one. */
  words: Int32Array;
  /** The left child, or the leaf itself. */
  next: Int32Array;
  /** Per tree its depth, and 1 if `words` tell all sides: without categories. */
  depths: Uint16Array;
  ordered: Uint8Array;
}

const walks = new WeakMap<Trees, Walk>();
/** A leaf sends every bin left, and its left child is itself. */
const STAY = 255;
const MISSING_RIGHT = 256;
const FEATURE = 512;

let scratch = new Int32Array(0);

/** Finds the leaves of rows by walking, by the fastest method for their number. */
export class LeafFinder {
  private walk: Walk | undefined;
  /** The bins of all columns, row by row. */
  private bins: Uint8Array | undefined;

  constructor(
    private readonly trees: Trees,
    private readonly columns: Uint8Array[],
    private readonly rows: Int32Array,
  ) {}

  /** Writes to `leaves` where the values of each row's leaf begin in `Trees.values`. */
  findLeaves(tree: number, leaves: Int32Array): void {
    const { trees, columns, rows } = this;
    const root = trees.roots[tree];
    let done = 0;
    if (rows.length >= MIN_BATCH) {
      this.walk ??= prepareOnce(trees);
      const isOrdered = this.walk.ordered[tree] === 1;
      if (isOrdered || rows.length >= MIN_SETS) {
        this.bins ??= rowMajor(columns, rows);
        done = rows.length & ~3;
        (isOrdered ? byWords : bySets)(trees, this.walk, tree, this.bins, columns.length, leaves, done);
      }
    }
    for (let i = done; i < rows.length; i++) {
      leaves[i] = findLeaf(trees, root, columns, rows[i]);
    }
  }
}

function rowMajor(columns: Uint8Array[], rows: Int32Array): Uint8Array {
  const bins = new Uint8Array(rows.length * columns.length);
  for (let column = 0; column < columns.length; column++) {
    const from = columns[column];
    for (let i = 0, at = column; i < rows.length; i++, at += columns.length) {
      bins[at] = from[rows[i]];
    }
  }
  return bins;
}

/** The leaves of the first `count` rows, a multiple of four. */
function byWords(
  { roots, left }: Trees,
  { words, next, depths }: Walk,
  tree: number,
  bins: Uint8Array,
  width: number,
  leaves: Int32Array,
  count: number,
): void {
  const root = roots[tree];
  const depth = depths[tree];
  for (let i = 0; i < count; i += 4) {
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
}

/** 0 for left, 1 for right: the sign of a difference. A missing value that goes right counts as above every bin. */
function side(word: number, bin: number): number {
  return ((word & 255) - ((bin - ((word >>> 8) & 1)) & 511)) >>> 31;
}

/** The same for a tree with categories. */
function bySets(
  trees: Trees,
  { words, next, depths }: Walk,
  tree: number,
  bins: Uint8Array,
  width: number,
  leaves: Int32Array,
  count: number,
): void {
  const { roots, left } = trees;
  const sets = writeSets(trees, tree);
  const root = roots[tree];
  const depth = depths[tree];
  for (let i = 0; i < count; i += 4) {
    const at0 = i * width;
    const at1 = at0 + width;
    const at2 = at1 + width;
    const at3 = at2 + width;
    let node0 = root;
    let node1 = root;
    let node2 = root;
    let node3 = root;
    for (let step = 0; step < depth; step++) {
      node0 = next[node0] + sideOfSet(sets, node0 - root, bins[at0 + (words[node0] >>> 9)]);
      node1 = next[node1] + sideOfSet(sets, node1 - root, bins[at1 + (words[node1] >>> 9)]);
      node2 = next[node2] + sideOfSet(sets, node2 - root, bins[at2 + (words[node2] >>> 9)]);
      node3 = next[node3] + sideOfSet(sets, node3 - root, bins[at3 + (words[node3] >>> 9)]);
    }
    leaves[i] = left[node0];
    leaves[i + 1] = left[node1];
    leaves[i + 2] = left[node2];
    leaves[i + 3] = left[node3];
  }
}

function sideOfSet(sets: Int32Array, node: number, bin: number): number {
  return (~sets[node * SET_WORDS + (bin >>> 5)] >>> (bin & 31)) & 1;
}

/** Per node, the bins that go left; valid until the next tree. */
function writeSets(trees: Trees, tree: number): Int32Array {
  const root = trees.roots[tree];
  const end = findEnd(trees, tree);
  const size = (end - root) * SET_WORDS;
  if (scratch.length < size) {
    scratch = new Int32Array(size);
  }
  const sets = scratch;
  for (let node = root, at = 0; node < end; node++, at += SET_WORDS) {
    if (trees.feature[node] === LEAF) {
      sets.fill(-1, at, at + SET_WORDS);
    } else if (isCategoryNode(trees, node)) {
      for (let word = 0; word < SET_WORDS; word++) {
        sets[at + word] = trees.sets[trees.setAt[node] + word];
      }
    } else {
      // Bins 1 … last: whole words, then a part of one.
      const last = trees.bin[node];
      for (let word = 0; word < SET_WORDS; word++) {
        const bits = last + 1 - 32 * word;
        sets[at + word] = bits >= 32 ? -1 : bits <= 0 ? 0 : (1 << bits) - 1;
      }
      sets[at] = goesMissingLeft(trees, node) ? sets[at] | 1 : sets[at] & ~1;
    }
  }
  return sets;
}

function findEnd({ roots, feature }: Trees, tree: number): number {
  return tree + 1 < roots.length ? roots[tree + 1] : feature.length;
}

/** Prepares trees; the result is cached. */
function prepareOnce(trees: Trees): Walk {
  let walk = walks.get(trees);
  if (!walk) {
    walk = prepareWalk(trees);
    walks.set(trees, walk);
  }
  return walk;
}

function prepareWalk(trees: Trees): Walk {
  const { feature, left, bin, roots } = trees;
  const words = new Int32Array(feature.length);
  const next = new Int32Array(feature.length);
  const depthOf = new Uint16Array(feature.length);
  const depths = new Uint16Array(roots.length);
  const ordered = new Uint8Array(roots.length);
  for (let tree = 0; tree < roots.length; tree++) {
    let isOrdered = true;
    // Children come after their parents.
    for (let node = roots[tree]; node < findEnd(trees, tree); node++) {
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
      depths[tree] = Math.max(depths[tree], depthOf[node] + 1);
    }
    ordered[tree] = isOrdered ? 1 : 0;
  }
  return { words, next, depths, ordered };
}
