import { powerOfTwo } from '../math/numeric';

/** Feature index that marks a leaf. */
export const LEAF = 0xffff;
const MISSING_LEFT = 1;
const CATEGORY = 2;
/** Branches above a leaf at most: far more than any fit grows. */
export const MAX_TREE_DEPTH = 4096;
/** 32-bit words of a set of bins. */
export const SET_WORDS = 8;

/**
 * Many trees in flat arrays, one element per node; the right child follows the left one. An ordered node sends bins 1
 * … `bin` left and the rest right; a category node sends the bins of its set left.
 */
export interface Trees {
  /** Values per leaf. */
  width: number;
  roots: Int32Array;
  feature: Uint16Array;
  bin: Uint8Array;
  flags: Uint8Array;
  /** The left child; for a leaf, where its values begin in `values`. */
  left: Int32Array;
  /** For a category node, where its set begins in `sets`. */
  setAt: Int32Array;
  sets: Int32Array;
  values: Float32Array;
}

/** How a node divides its rows. */
export interface Split {
  column: number;
  bin: number;
  missingLeft: boolean;
  /** Bins that go left, for a categorical column. */
  set: Int32Array | undefined;
}

/** Collects trees as they grow. */
export class TreeBuilder {
  private nodeCount = 0;
  private setCount = 0;
  private valueCount = 0;
  private rootNodes: number[] = [];
  private flat: Trees;

  constructor(readonly width: number) {
    this.flat = {
      width,
      roots: new Int32Array(0),
      feature: new Uint16Array(256),
      bin: new Uint8Array(256),
      flags: new Uint8Array(256),
      left: new Int32Array(256),
      setAt: new Int32Array(256),
      sets: new Int32Array(64),
      values: new Float32Array(256),
    };
  }

  /** Starts a tree whose root is a leaf for now. */
  addRoot(): number {
    const root = this.addNodes(1);
    this.rootNodes.push(root);
    return root;
  }

  private addNodes(count: number): number {
    const first = this.nodeCount;
    this.nodeCount += count;
    const t = this.flat;
    t.feature = withCapacity(t.feature, this.nodeCount);
    t.bin = withCapacity(t.bin, this.nodeCount);
    t.flags = withCapacity(t.flags, this.nodeCount);
    t.left = withCapacity(t.left, this.nodeCount);
    t.setAt = withCapacity(t.setAt, this.nodeCount);
    for (let node = first; node < this.nodeCount; node++) {
      t.feature[node] = LEAF;
    }
    return first;
  }

  /** Turns a leaf into a branch and returns its left child; the right one follows. */
  split(node: number, split: Split): number {
    const left = this.addNodes(2);
    const t = this.flat;
    t.feature[node] = split.column;
    t.bin[node] = split.bin;
    t.left[node] = left;
    t.flags[node] = (split.missingLeft ? MISSING_LEFT : 0) | (split.set ? CATEGORY : 0);
    if (split.set) {
      t.sets = withCapacity(t.sets, this.setCount + SET_WORDS);
      t.sets.set(split.set, this.setCount);
      t.setAt[node] = this.setCount;
      this.setCount += SET_WORDS;
    }
    return left;
  }

  /** Sets the values of a leaf (rounded to 32 bits) and returns where they begin in `values`. */
  setLeaf(node: number, values: ArrayLike<number>): number {
    const t = this.flat;
    const at = this.valueCount;
    this.valueCount += this.width;
    t.values = withCapacity(t.values, this.valueCount);
    for (let d = 0; d < this.width; d++) {
      t.values[at + d] = values[d];
    }
    t.left[node] = at;
    return at;
  }

  /** Gives a leaf the values of another one, which begin at `at`. */
  shareLeaf(node: number, at: number): void {
    this.flat.left[node] = at;
  }

  /** The number of nodes so far. */
  get nodes(): number {
    return this.nodeCount;
  }

  /** The nodes so far, without the list of roots; valid until the next node is added. */
  get trees(): Trees {
    return this.flat;
  }

  finish(): Trees {
    const roots = Int32Array.from(this.rootNodes);
    return cutTo(this.flat, roots, { nodes: this.nodeCount, sets: this.setCount, values: this.valueCount });
  }
}

/** The first of each list of some trees. */
function cutTo(
  trees: Trees,
  roots: Int32Array,
  { nodes, sets, values }: { nodes: number; sets: number; values: number },
): Trees {
  return {
    width: trees.width,
    roots,
    feature: trees.feature.slice(0, nodes),
    bin: trees.bin.slice(0, nodes),
    flags: trees.flags.slice(0, nodes),
    left: trees.left.slice(0, nodes),
    setAt: trees.setAt.slice(0, nodes),
    sets: trees.sets.slice(0, sets),
    values: trees.values.slice(0, values),
  };
}

export function isCategoryNode(trees: Trees, node: number): boolean {
  return (trees.flags[node] & CATEGORY) !== 0;
}

/** Whether missing values go left at this ordered node. */
export function goesMissingLeft(trees: Trees, node: number): boolean {
  return (trees.flags[node] & MISSING_LEFT) !== 0;
}

/** Whether rows of this bin go left at this node. */
export function isLeft(trees: Trees, node: number, bin: number): boolean {
  const flags = trees.flags[node];
  if (flags & CATEGORY) {
    return ((trees.sets[trees.setAt[node] + (bin >> 5)] >>> (bin & 31)) & 1) === 1;
  }
  return bin === 0 ? (flags & MISSING_LEFT) !== 0 : bin <= trees.bin[node];
}

/** Where the values of the leaf that holds this row begin in `trees.values`, for the tree at `root`. */
export function findLeaf(trees: Trees, root: number, columns: Uint8Array[], row: number): number {
  const { feature, left } = trees;
  let node = root;
  let column = feature[node];
  while (column !== LEAF) {
    node = left[node] + (isLeft(trees, node, columns[column][row]) ? 0 : 1);
    column = feature[node];
  }
  return left[node];
}

/** Only the first `count` trees. */
export function firstTrees(trees: Trees, count: number): Trees {
  if (count >= trees.roots.length) {
    return trees;
  }
  const nodes = trees.roots[count];
  let values = 0;
  let sets = 0;
  for (let node = 0; node < nodes; node++) {
    if (trees.feature[node] === LEAF) {
      values = Math.max(values, trees.left[node] + trees.width);
    } else if (trees.flags[node] & CATEGORY) {
      sets = Math.max(sets, trees.setAt[node] + SET_WORDS);
    }
  }
  return cutTo(trees, trees.roots.slice(0, count), { nodes, sets, values });
}

/** Grid steps on either side of zero: a leaf value takes 16 bits in a stored model. */
const STEPS = 32_767;
/** 1.5 · 2^52: adding and subtracting it rounds to an integer. */
const WHOLE = 6755399441055744;
const LOWEST = -1000;

/**
 * The exponent of the finest power of two whose grid covers numbers up to `largest`; undefined if that is not finite.
 */
export function gridExponent(largest: number): number | undefined {
  if (!(largest < Infinity)) {
    return undefined;
  }
  let exponent = 0;
  while (largest > STEPS * powerOfTwo(exponent)) {
    exponent++;
  }
  while (largest > 0 && exponent > LOWEST && largest <= STEPS * powerOfTwo(exponent - 1)) {
    exponent--;
  }
  return exponent;
}

/**
 * Rounds all leaf values of a tree to their common grid, in place: an error of at most 2^-15 of the largest. Later
 * trees learn to correct it.
 */
export function roundToGrid(leaves: readonly (Float64Array | Float32Array)[]): void {
  let largest = 0;
  for (const values of leaves) {
    for (let k = 0; k < values.length; k++) {
      largest = Math.max(largest, Math.abs(values[k]));
    }
  }
  const exponent = gridExponent(largest);
  if (exponent === undefined) {
    return;
  }
  const grid = WHOLE * powerOfTwo(exponent);
  for (const values of leaves) {
    for (let k = 0; k < values.length; k++) {
      values[k] = values[k] + grid - grid;
    }
  }
}

type Growable = Int32Array | Uint16Array | Uint8Array | Float32Array | Float64Array;

/** The list itself if it has the capacity needed, else a copy with at least twice its capacity. */
function withCapacity<T extends Growable>(list: T, needed: number): T {
  if (list.length >= needed) {
    return list;
  }
  const larger = new (list.constructor as new (n: number) => T)(Math.max(needed, list.length * 2));
  larger.set(list);
  return larger;
}
