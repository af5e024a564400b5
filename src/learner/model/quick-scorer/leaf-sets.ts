import { lowestBit } from '../../math/bits';
import { goesMissingLeft, isCategoryNode, LEAF, type Trees } from '../../trees/trees';
import { type Room, roomOf } from '../../wasm/scratch';
import { andFour, andOne } from './intersect';
import { LeafNumbers, MAX_LEAVES, nodesOf } from './leaf-numbers';
import { RowBins } from './row-bins';
import { BORDER_TABLE, type SetKernel, setRooms } from './set-kernel';

/*
 * QuickScorer (C. Lucchese et al., 2015) over bins, for many rows at a time through a tree of up to 32 leaves. Each
 * bin of a column leaves some of the tree's leaves reachable, as a bitset. The exit leaf of a row is the first one
 * that all its bins leave reachable. A row takes one look-up per column of the tree, independent of each other,
 * instead of a chain of branches.
 */

const BINS = 256;
/** Columns intersected together. */
const TOGETHER = 4;
const ALL = -1;

/** Rows of a table that go through trees together, with scratch buffers for one tree. Must be closed. */
export class LeafSets {
  private readonly room: Room<SetKernel>;
  private readonly bins: RowBins;
  /** By slot: the leaves that each bin of a column leaves reachable. */
  private readonly tables: Int32Array[];
  /** By column, its slot in the current tree plus one; 0 for none. */
  private readonly slots: Uint8Array;
  /** By slot, the lowest and highest border of its column. */
  private readonly lows: number[] = [];
  private readonly highs: number[] = [];
  private readonly reachable: Int32Array;
  private readonly numbers: LeafNumbers;
  private readonly leaves: Int32Array;

  constructor(columns: Uint8Array[], rows: Int32Array) {
    const count = rows.length;
    const slots = Math.min(columns.length, MAX_LEAVES - 1);
    const room = setRooms.open(
      RowBins.roomOf(columns.length, count) +
        roomOf(slots * BORDER_TABLE * 4) +
        2 * roomOf(count * 4) +
        roomOf(MAX_LEAVES * 4),
    );
    this.room = room;
    this.bins = new RowBins(columns, rows, room);
    const tables = room.wholes(slots * BORDER_TABLE);
    this.tables = Array.from({ length: slots }, (_, i) =>
      tables.subarray(i * BORDER_TABLE, (i + 1) * BORDER_TABLE),
    );
    this.numbers = new LeafNumbers(room.wholes(MAX_LEAVES));
    this.leaves = room.wholes(count);
    this.reachable = room.wholes(count);
    this.slots = new Uint8Array(columns.length);
  }

  /**
   * Writes to `leaves` where the values of each row's leaf begin in `Trees.values`.
   *
   * @returns false, with nothing written, if the tree has too many leaves
   */
  leavesOf(trees: Trees, tree: number, leaves: Int32Array): boolean {
    const { root, end } = nodesOf(trees, tree);
    if (!this.numbers.number(trees, root, end)) {
      return false;
    }
    this.intersect(this.makeTables(trees, root, end));
    const { reachable } = this;
    const { values } = this.numbers;
    const { functions } = this.room;
    if (functions) {
      const { byteOffset: start, byteLength } = reachable;
      functions.takeLeaves(start, start + byteLength, values.byteOffset, this.leaves.byteOffset);
      leaves.set(this.leaves);
      return true;
    }
    for (let i = 0; i < reachable.length; i++) {
      leaves[i] = values[lowestBit(reachable[i])];
    }
    return true;
  }

  /** Whether this beats walking even the shallowest tree. */
  get isQuick(): boolean {
    return this.room.functions !== undefined;
  }

  close(): void {
    this.room.close();
  }

  /**
   * Fills the tables: a branch removes its left leaves from the bins that go right. Returns the columns of the tree,
   * by slot.
   */
  private makeTables(trees: Trees, root: number, end: number): number[] {
    const { tables, slots, lows, highs } = this;
    const { feature, bin } = trees;
    const used: number[] = [];
    for (let node = root; node < end; node++) {
      const column = feature[node];
      if (column === LEAF) {
        continue;
      }
      if (slots[column] === 0) {
        used.push(column);
        slots[column] = used.length;
        tables[used.length - 1].fill(ALL);
        lows[used.length - 1] = BINS;
        highs[used.length - 1] = 0;
      }
      if (!isCategoryNode(trees, node)) {
        const slot = slots[column] - 1;
        const right = ~this.numbers.leftOf(trees, node);
        const border = bin[node] + 1;
        tables[slot][0] &= goesMissingLeft(trees, node) ? ALL : right;
        tables[slot][border] &= right;
        lows[slot] = Math.min(lows[slot], border);
        highs[slot] = Math.max(highs[slot], border);
      }
    }
    for (let slot = 0; slot < used.length; slot++) {
      spread(tables[slot], lows[slot], highs[slot]);
    }
    for (let node = root; node < end; node++) {
      if (feature[node] !== LEAF && isCategoryNode(trees, node)) {
        const table = tables[slots[feature[node]] - 1];
        const right = ~this.numbers.leftOf(trees, node);
        const highest = this.bins.highestOf(feature[node]);
        for (let first = 0, word = trees.setAt[node]; first <= highest; first += 32, word++) {
          // A bin in the set keeps every leaf.
          for (let others = ~trees.sets[word]; others !== 0; others &= others - 1) {
            table[first + lowestBit(others)] &= right;
          }
        }
      }
    }
    for (const column of used) {
      slots[column] = 0;
    }
    return used;
  }

  /** Intersects, for each row, what these columns leave reachable. */
  private intersect(used: number[]): void {
    const { reachable, tables } = this;
    const { functions } = this.room;
    if (used.length === 0) {
      reachable.fill(ALL);
    }
    for (let i = 0; i < used.length; i += TOGETHER) {
      if (functions) {
        this.intersectSome(functions, used, i);
        continue;
      }
      const bins = used.slice(i, i + TOGETHER).map((column) => this.bins.of(column));
      if (bins.length === TOGETHER) {
        andFour(reachable, i === 0, bins, tables, i);
        continue;
      }
      bins.forEach((own, k) => andOne(reachable, i + k === 0, own, tables[i + k]));
    }
  }

  /** The columns from the i-th on that are intersected together. */
  private intersectSome(functions: SetKernel, used: number[], i: number): void {
    const { reachable, tables } = this;
    const bins = (slot: number) => this.bins.of(used[i + slot]).byteOffset;
    const table = tables[i].byteOffset;
    const start = reachable.byteOffset;
    const end = start + reachable.byteLength;
    const keep = i === 0 ? ALL : 0;
    switch (used.length - i) {
      case 1:
        functions.andOne(bins(0), table, start, end, keep);
        break;
      case 2:
        functions.andTwo(bins(0), bins(1), table, start, end, keep);
        break;
      case 3:
        functions.andThree(bins(0), bins(1), bins(2), table, start, end, keep);
        break;
      default:
        functions.andFour(bins(0), bins(1), bins(2), bins(3), table, start, end, keep);
        break;
    }
  }
}

/** A bin that goes right at a border goes right at every lower one too. */
function spread(table: Int32Array, low: number, high: number): void {
  let right = ALL;
  for (let i = low; i <= high; i++) {
    right &= table[i];
    table[i] = right;
  }
  if (right !== ALL) {
    table.fill(right, high + 1, BINS);
  }
}
