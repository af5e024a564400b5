import { lowestBit } from '../../math/bits';
import { goesMissingLeft, isCategoryNode, LEAF, type Trees } from '../../trees/trees';
import { type Room, roomOf } from '../../wasm/scratch';
import { LeafNumbers, MAX_LEAVES, nodesOf } from './leaf-numbers';
import { RowBins } from './row-bins';
import { TOGETHER, VALUE_TABLE, type ValueKernel, valueRooms } from './value-kernel';

/** Bits of a set: leaves of several trees. A tree lies in one of the two 32-bit halves. */
const SET_LEAVES = 64;
const HALF = 32;
const ALL = -1;

/**
 * QuickScorer for trees with one value per leaf and very many rows: like `LeafSets`, but for several trees at a time,
 * so that a row takes one look-up per column of all of them. Values are added in the order of the trees, so results
 * agree to the bit. Must be closed.
 */
export class ValueSums {
  /** Rows × width: the sums. */
  readonly scores: Float64Array;
  private readonly functions: ValueKernel;
  /** Functions by the number of columns or trees they handle, less one. */
  private readonly ands: ((...parameters: number[]) => void)[];
  private readonly adds: ((...parameters: number[]) => void)[];
  private readonly bins: RowBins;
  /** By slot: the leaves that each bin of a column leaves reachable, as two halves. */
  private readonly tables: Int32Array[];
  /** By use (a column taken as categories or in order): its slot for the current trees plus one; 0 for none. */
  private readonly slots: Uint8Array;
  /** The uses, by slot. */
  private readonly used: number[] = [];
  /** Per row, its reachable leaves. */
  private readonly reachable: Int32Array;
  /** The value of each leaf. */
  private readonly values: Float64Array;
  /** The leaves of each current tree, as two halves. */
  private readonly own: Int32Array;
  private trees = 0;
  private leaves = 0;
  private readonly numbers = new LeafNumbers();

  private constructor(
    private readonly room: Room<ValueKernel>,
    columns: Uint8Array[],
    rows: Int32Array,
    slots: number,
    private readonly width: number,
  ) {
    this.functions = room.functions!;
    const { and1, and2, and3, and4, add1, add2, add3, add4 } = this.functions;
    this.ands = [and1, and2, and3, and4];
    this.adds = [add1, add2, add3, add4];
    this.bins = new RowBins(columns, rows, room);
    const tables = room.wholes(slots * 2 * VALUE_TABLE);
    this.tables = Array.from({ length: slots }, (_, i) =>
      tables.subarray(2 * i * VALUE_TABLE, 2 * (i + 1) * VALUE_TABLE),
    );
    this.reachable = room.wholes(2 * rows.length);
    this.values = room.numbers(SET_LEAVES);
    this.own = room.wholes(2 * SET_LEAVES);
    this.scores = room.numbers(rows.length * width);
    this.slots = new Uint8Array(2 * columns.length);
  }

  /**
   * Undefined without WebAssembly.
   *
   * @param scores rows × width: initial values
   */
  static open(
    columns: Uint8Array[],
    rows: Int32Array,
    width: number,
    scores: Float64Array,
  ): ValueSums | undefined {
    const slots = Math.min(2 * columns.length, SET_LEAVES - 2);
    const room = valueRooms.open(
      RowBins.roomOf(columns.length, rows.length) +
        roomOf(slots * VALUE_TABLE * 8) +
        roomOf(rows.length * 8) +
        roomOf(SET_LEAVES * 8) * 2 +
        roomOf(rows.length * width * 8),
    );
    if (!room.functions) {
      return undefined;
    }
    const sums = new ValueSums(room, columns, rows, slots, width);
    sums.scores.set(scores.subarray(0, sums.scores.length));
    return sums;
  }

  /**
   * Adds a tree to the current group, whose values go to the same output. The sums are updated by `addTo`, or here if
   * the group is full.
   *
   * @returns false for a tree with too many leaves, which is not taken
   */
  take(trees: Trees, tree: number, output: number): boolean {
    const { numbers } = this;
    const { root, end } = nodesOf(trees, tree);
    if (!numbers.number(trees, root, end)) {
      return false;
    }
    const { count } = numbers;
    // A tree that does not fit into the first half goes to the second.
    if ((this.leaves % HALF) + count > HALF) {
      this.leaves = HALF * Math.ceil(this.leaves / HALF);
    }
    if (this.leaves + count > SET_LEAVES) {
      this.addTo(output);
    }
    const half = this.leaves >>> 5;
    const first = this.leaves & 31;
    for (let leaf = 0; leaf < count; leaf++) {
      this.values[this.leaves + leaf] = trees.values[numbers.values[leaf]];
    }
    const leaves = count === MAX_LEAVES ? ALL : ((1 << count) - 1) << first;
    this.own[2 * this.trees + half] = leaves;
    this.own[2 * this.trees + 1 - half] = 0;
    this.addBorders(trees, root, end, first, half);
    this.leaves += count;
    this.trees++;
    return true;
  }

  /** Notes what each bin leaves reachable: for ordered columns only at the borders, which `spread` extends. */
  private addBorders(trees: Trees, root: number, end: number, first: number, half: number): void {
    const { numbers } = this;
    const { feature, bin } = trees;
    for (let node = root; node < end; node++) {
      if (feature[node] === LEAF) {
        continue;
      }
      const isCategory = isCategoryNode(trees, node);
      const table = this.tableOf(feature[node], isCategory);
      const right = ~(numbers.leftOf(trees, node) << first);
      if (isCategory) {
        this.addCategories(trees, node, table, right, half);
        continue;
      }
      table[half] &= goesMissingLeft(trees, node) ? ALL : right;
      // Nothing goes right of the last bin.
      if (bin[node] < VALUE_TABLE - 1) {
        table[2 * (bin[node] + 1) + half] &= right;
      }
    }
  }

  private addCategories(trees: Trees, node: number, table: Int32Array, right: number, half: number): void {
    const highest = this.bins.highestOf(trees.feature[node]);
    for (let first = 0, word = trees.setAt[node]; first <= highest; first += 32, word++) {
      // A bin in the set keeps every leaf.
      for (let others = ~trees.sets[word]; others !== 0; others &= others - 1) {
        table[2 * (first + lowestBit(others)) + half] &= right;
      }
    }
  }

  /** The table of a column for the current trees, initially with every leaf. */
  private tableOf(column: number, isCategory: boolean): Int32Array {
    const { slots, used, tables } = this;
    const use = 2 * column + (isCategory ? 1 : 0);
    if (slots[use] === 0) {
      used.push(use);
      slots[use] = used.length;
      tables[used.length - 1].fill(ALL, 0, 2 * (this.bins.highestOf(column) + 1));
    }
    return tables[slots[use] - 1];
  }

  /** Adds the values of the current trees to an output, and starts a new group. */
  addTo(output: number): void {
    const { used, slots, reachable, scores, values, own, width, trees } = this;
    if (trees === 0) {
      return;
    }
    if (used.length === 0) {
      reachable.fill(ALL);
    }
    const { ands, adds } = this;
    const [start, end] = [reachable.byteOffset, reachable.byteOffset + reachable.byteLength];
    for (let i = 0; i < used.length; i += TOGETHER) {
      const some = used.slice(i, i + TOGETHER);
      const addresses = some.map((use, k) => this.finishTable(use, i + k));
      ands[some.length - 1](...addresses, this.tables[i].byteOffset, start, end, i === 0 ? ALL : 0);
    }
    const to = scores.byteOffset + output * 8;
    for (let i = 0; i < trees; i += TOGETHER) {
      adds[Math.min(TOGETHER, trees - i) - 1](
        start,
        end,
        own.byteOffset + i * 8,
        values.byteOffset,
        to,
        width * 8,
      );
    }
    for (const use of used) {
      slots[use] = 0;
    }
    used.length = this.trees = this.leaves = 0;
  }

  /** Completes a table, and returns the address of the rows' bins. */
  private finishTable(use: number, slot: number): number {
    const column = use >>> 1;
    if ((use & 1) === 0) {
      const { byteOffset } = this.tables[slot];
      // The missing bin has its own entry.
      this.functions.spread(byteOffset + 8, byteOffset + 8 * (this.bins.highestOf(column) + 1));
    }
    return this.bins.of(column).byteOffset;
  }

  close(): void {
    this.room.close();
  }
}
