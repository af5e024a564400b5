import type { Kernels } from '../kernels/bytes';
import { LEAF_BYTES, MAX_LEAVES, SLOTS, TILE, TreeArray, TreesAt } from '../kernels/layout';
import { closing, openScratch, type Scratch } from '../kernels/scratch';
import { LEAF, type Trees } from '../trees/trees';
import { LeafFinder } from '../trees/walk';

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
    const own = scores.subarray(from * width, (from + some.length) * width);
    const finder = new LeafFinder(trees, columns, some);
    if (some.length >= MIN_LOOK_UP) {
      addTreeSums(trees, columns, some, width, own, (tree, leaves) => finder.findLeaves(tree, leaves));
      continue;
    }
    const leaves = new Int32Array(some.length);
    for (let tree = 0; tree < trees.roots.length; tree++) {
      finder.findLeaves(tree, leaves);
      addValues(trees, leaves, width, tree % width, own);
    }
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

/*
 * QuickScorer (C. Lucchese et al., 2015) over bins, for many rows at a time through trees of up to 32 leaves. Leaves are
 * numbered from left to right and a branch removes its left leaves from the rows that it sends right, so that a row ends
 * in the first leaf that remains. Sixteen rows are compared with a border, and lose eight leaves, by one SIMD instruction
 * each (RapidScorer; T. Ye et al., 2018).
 */

const MAX_NODES = 2 * MAX_LEAVES - 1;
/** Bins are compared as signed numbers. */
const SIGN = 0x80;

/** Writes to `leaves` where the values of each row's leaf begin, for a tree that is not looked up. */
type WalkTree = (tree: number, leaves: Int32Array) => void;

/**
 * Adds the trees' values to `scores` (rows × width), in the order of the trees and so with the same bits as one by one.
 *
 * @param walk for trees of too many leaves
 */
export function addTreeSums(
  trees: Trees,
  columns: Uint8Array[],
  rows: Int32Array,
  width: number,
  scores: Float64Array,
  walk: WalkTree,
): void {
  closing(new TreeSums(trees, columns, rows), (sums) => {
    if (trees.width > 1) {
      sums.scores.set(scores.subarray(0, rows.length * width));
      sums.add(0, 1, walk);
      scores.set(sums.scores.subarray(0, rows.length * width));
      return;
    }
    for (let output = 0; output < width; output++) {
      for (let i = 0, at = output; i < rows.length; i++, at += width) {
        sums.scores[i] = scores[at];
      }
      sums.add(output, width, walk);
      for (let i = 0, at = output; i < rows.length; i++, at += width) {
        scores[at] = sums.scores[i];
      }
    }
  });
}

/** Trees and the bins of rows in scratch memory; one at a time, since its kernels have one place. Must be closed. */
class TreeSums {
  /** Rows × values per leaf, of whole tiles. */
  readonly scores: Float64Array;
  private readonly scratch: Scratch;
  private readonly bins: Uint8Array;
  /** Bytes of the bins of a tile. */
  private readonly tileBytes: number;
  /** Tiles × slots × rows of a tile: offsets of leaves in their tables. */
  private readonly leaves: Uint8Array;

  private readonly values: Float32Array;
  /** Where the values of each row's leaf begin, for a tree that is walked. */
  private readonly walked: Int32Array;

  constructor(
    private readonly trees: Trees,
    columns: Uint8Array[],
    rows: Int32Array,
  ) {
    const used = usedColumns(trees, columns.length);
    const tiles = Math.ceil(rows.length / TILE);
    const { feature, bin, flags, left, setAt, sets, values } = trees;
    this.scratch = openScratch();
    const { scratch } = this;
    const header = new Int32Array(scratch.buffer, TreesAt.TREE_ARRAYS, TreeArray.BYTES / 4);
    const place = <A extends { byteOffset: number }>(at: number, array: A): A => {
      header[at / 4] = array.byteOffset;
      return array;
    };
    const features = new Uint8Array(feature.buffer, feature.byteOffset, feature.byteLength);
    place(TreeArray.FEATURE, scratch.bytes(features.length)).set(features);
    place(TreeArray.BIN, scratch.bytes(bin.length)).set(bin);
    place(TreeArray.FLAGS, scratch.bytes(flags.length)).set(flags);
    place(TreeArray.LEFT, scratch.wholes(left.length)).set(left);
    place(TreeArray.SET_AT, scratch.wholes(setAt.length)).set(setAt);
    place(TreeArray.SETS, scratch.wholes(sets.length)).set(sets);
    this.values = place(TreeArray.VALUES, scratch.floats(values.length));
    this.values.set(values);
    const offsets = place(TreeArray.OFFSETS, scratch.wholes(columns.length));
    const highest = place(TreeArray.HIGHEST, scratch.bytes(columns.length));
    this.tileBytes = countTileBytes(used);
    this.bins = scratch.bytes(tiles * this.tileBytes);
    used.forEach((column, i) => {
      offsets[column] = 2 * i * TILE;
      highest[column] = gather(columns[column], rows, this.bins, offsets[column], this.tileBytes);
    });
    this.leaves = scratch.bytes(tiles * SLOTS * TILE);
    this.scores = scratch.numbers(tiles * TILE * trees.width);
    this.walked = scratch.wholes(rows.length);
  }

  /** Adds every `step`-th tree from the first on. */
  add(first: number, step: number, walk: WalkTree): void {
    const { tileBytes, bins, leaves } = this;
    const { kernels } = this.scratch;
    const { roots, feature, width } = this.trees;
    const [tiles, tilesEnd] = [bins.byteOffset, bins.byteOffset + bins.byteLength];
    const out = leaves.byteOffset;
    let count = 0;
    for (let tree = first; tree < roots.length; tree += step) {
      const root = roots[tree];
      const nodes = (tree + 1 < roots.length ? roots[tree + 1] : feature.length) - root;
      if (nodes > MAX_NODES) {
        this.addFound(count);
        count = 0;
        this.addLarge(tree, walk);
        continue;
      }
      const programEnd = kernels.prepare(root, nodes, count, width === 1 ? 1 : 0);
      kernels.findLeaves(tiles, tilesEnd, tileBytes, programEnd, out + count * TILE);
      if (++count === SLOTS) {
        this.addFound(count);
        count = 0;
      }
    }
    this.addFound(count);
  }

  private addLarge(tree: number, walk: WalkTree): void {
    const { walked, scores, values, scratch } = this;
    const { width } = this.trees;
    walk(tree, walked);
    if (width > 1) {
      const { byteOffset: start, byteLength } = walked;
      const [from, to] = [values.byteOffset, scores.byteOffset];
      scratch.kernels.addLeaves(start, start + byteLength, byteLength, from, to, width);
      return;
    }
    for (let i = 0; i < walked.length; i++) {
      scores[i] += values[walked[i]];
    }
  }

  /** Adds the values of the leaves found in the first slots. */
  private addFound(count: number): void {
    const { byteOffset: start, byteLength } = this.scores;
    const leaves = this.leaves.byteOffset;
    const { kernels } = this.scratch;
    const { width } = this.trees;
    if (width > 1) {
      kernels.addTrees(leaves, count * TILE, start, start + byteLength, width);
    } else {
      addSlots(kernels, count, leaves, start, start + byteLength);
    }
  }

  close(): void {
    this.scratch.close();
  }
}

/** At least one, so that tiles can be counted by their bytes. */
function countTileBytes(used: number[]): number {
  return Math.max(1, 2 * used.length) * TILE;
}

function addSlots(kernels: Kernels, count: number, leaves: number, sums: number, end: number): void {
  for (let slot = 0; slot < count;) {
    const [add, trees] =
      count - slot === SLOTS
        ? [kernels.addValues16, SLOTS]
        : count - slot >= 4
          ? [kernels.addValues4, 4]
          : [kernels.addValues1, 1];
    add(leaves + slot * TILE, sums, end, TreesAt.LEAF_TABLES + slot * MAX_LEAVES * LEAF_BYTES);
    slot += trees;
  }
}

/** The columns of all branches. */
function usedColumns({ feature }: Trees, columns: number): number[] {
  const isUsed = new Uint8Array(columns);
  for (let node = 0; node < feature.length; node++) {
    if (feature[node] !== LEAF) {
      isUsed[feature[node]] = 1;
    }
  }
  return Array.from(isUsed.keys()).filter((column) => isUsed[column] === 1);
}

/**
 * Writes the bins of a column to the tiles from `offset` on: as they are, then less one, so that the missing bin comes
 * first or last. Returns the highest.
 */
function gather(
  column: Uint8Array,
  rows: Int32Array,
  bins: Uint8Array,
  offset: number,
  tileBytes: number,
): number {
  let highest = 0;
  for (let start = 0, to = offset; start < rows.length; start += TILE, to += tileBytes) {
    const count = Math.min(TILE, rows.length - start);
    for (let i = 0; i < count; i++) {
      const bin = column[rows[start + i]];
      bins[to + i] = bin ^ SIGN;
      bins[to + TILE + i] = (bin - 1) ^ SIGN;
      highest = bin > highest ? bin : highest;
    }
  }
  return highest;
}
