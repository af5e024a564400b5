import type { ColumnSpec } from '../../features/encode';
import { alignedBytes, type Scratch } from '../../wasm/scratch';
import { FOUND, type SortedKernel, sortedScratch } from './sorted-kernel';
import {
  copyMarked,
  divideList,
  keep,
  keyOf,
  searchPlain,
  searchSorted,
  type SortedNode,
} from './sorted-lists';
import type { SplitRules } from './splits';

/*
 * Splits of ordered columns from the rows in the order of their bins (J. Shafer et al., SPRINT, 1996), for tables with
 * hardly more rows than bins: a histogram of them would be nearly empty. Each column's rows are sorted once; a tree keeps
 * those of its sample, and a split divides each list, which leaves both halves in order. Sums are exact, so the splits
 * are those that a histogram gives. There are two sets of lists: dividing a node copies its stretch to the other one, so
 * a node of odd depth has its rows in the second.
 */

/** What is searched for splits. */
export interface SortedTable {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  tableRows: number;
  /** Most columns that a tree splits by. */
  picked: number;
}

/** The kernel reads a key behind the last one. */
const SPARE_KEYS = 2;

/** For each ordered column of a tree, its rows in the order of their bins. Must be closed. */
export class SortedRows {
  private readonly columns: Uint8Array[];
  private readonly specs: ColumnSpec[];
  private readonly tableRows: number;
  private readonly scratch: Scratch<SortedKernel>;
  private readonly kernel: SortedKernel | undefined;
  /** By column: all rows of the table. Made on first use. */
  private readonly all: (Int32Array | undefined)[];
  private readonly marks: Uint8Array;
  /** By depth, even or odd, and picked column: those that are not categories, one behind the other. */
  private readonly lists: [Int32Array[], Int32Array[]] = [[], []];
  /** Distance of a list to the next one, in bytes. */
  private readonly stride: number;
  /** For the kernel: per row of the table its gradient, or its gradient and its hessian. */
  private readonly gradients: Float64Array;
  private readonly found: Int32Array;
  private readonly foundNumbers: Float64Array;
  /** By picked column its list; -1: it is a category. */
  private readonly listOf: Int32Array;
  /** Picked columns that are not categories, and their number. */
  private readonly ordered: Int32Array;
  private orderedCount = 0;
  /** Whether every row of the tree has hessian 1. */
  private isPlain = false;

  constructor({ columns, specs, tableRows, picked }: SortedTable) {
    this.columns = columns;
    this.specs = specs;
    this.tableRows = tableRows;
    const keys = tableRows + SPARE_KEYS;
    this.stride = alignedBytes(keys * 4);
    this.scratch = sortedScratch.open(
      (2 * picked + columns.length) * this.stride +
        3 * alignedBytes(tableRows * 16) +
        alignedBytes(FOUND.words * 4),
    );
    const { scratch } = this;
    this.kernel = scratch.functions;
    this.all = columns.map(() => undefined);
    this.marks = scratch.bytes(tableRows);
    for (const lists of this.lists) {
      for (let i = 0; i < picked; i++) {
        lists.push(scratch.wholes(keys));
      }
    }
    // Keys past a tree's last one must be valid rows too, whatever the memory held before.
    this.lists.flat().forEach((list) => list.fill(0));
    this.gradients = scratch.numbers(tableRows * 2);
    this.foundNumbers = scratch.numbers(FOUND.words / 2);
    this.found = new Int32Array(this.foundNumbers.buffer, this.foundNumbers.byteOffset, FOUND.words);
    this.listOf = new Int32Array(picked);
    this.ordered = new Int32Array(picked);
  }

  close(): void {
    this.scratch.close();
  }

  /** Begins a tree of these rows, by columns of which categories have no list. */
  begin(picked: Int32Array, rows: Int32Array, gradHess: Float64Array): void {
    const { marks, kernel } = this;
    marks.fill(0);
    let ones = 0;
    for (let i = 0; i < rows.length; i++) {
      marks[rows[i]] = 1;
      ones += gradHess[rows[i] * 2 + 1] === 1 ? 1 : 0;
    }
    this.isPlain = ones === rows.length;
    if (kernel) {
      this.copyGradients(rows, gradHess);
    }
    this.orderedCount = 0;
    for (let i = 0; i < picked.length; i++) {
      const column = picked[i];
      if (this.specs[column].category) {
        this.listOf[i] = -1;
        continue;
      }
      const keys = (this.all[column] ??= this.sorted(column));
      const list = this.orderedCount++;
      this.listOf[i] = list;
      this.ordered[list] = column;
      const to = this.lists[0][list];
      if (kernel) {
        kernel.copyMarked(
          keys.byteOffset,
          keys.byteOffset + keys.byteLength,
          marks.byteOffset,
          to.byteOffset,
        );
      } else {
        copyMarked(keys, marks, to);
      }
    }
  }

  private copyGradients(rows: Int32Array, gradHess: Float64Array): void {
    const { gradients, isPlain } = this;
    if (!isPlain) {
      gradients.set(gradHess);
      return;
    }
    for (let i = 0; i < rows.length; i++) {
      gradients[rows[i]] = gradHess[rows[i] * 2];
    }
  }

  /** Improves `best` of a node by the splits of the i-th picked column. */
  search(i: number, node: SortedNode, gradHess: Float64Array, rules: SplitRules): void {
    this.searchLists(this.listOf[i], this.listOf[i] + 1, node, gradHess, rules);
  }

  /** The same by all columns that are not categories, one after the other. */
  searchAll(node: SortedNode, gradHess: Float64Array, rules: SplitRules): void {
    this.searchLists(0, this.orderedCount, node, gradHess, rules);
  }

  private searchLists(
    from: number,
    end: number,
    node: SortedNode,
    gradHess: Float64Array,
    rules: SplitRules,
  ): void {
    const lists = this.lists[node.depth & 1];
    if (this.kernel && from < end) {
      this.searchInKernel(this.kernel, lists[from], from, end, node, rules);
      return;
    }
    const search = this.isPlain ? searchPlain : searchSorted;
    for (let list = from; list < end; list++) {
      search(lists[list], node, gradHess, this.ordered[list], rules);
    }
  }

  private searchInKernel(
    kernel: SortedKernel,
    { byteOffset }: Int32Array,
    from: number,
    endOfLists: number,
    { start, end, sums, best }: SortedNode,
    { lambda, minHessian, minGain }: SplitRules,
  ): void {
    const { stride, isPlain, gradients, found, foundNumbers } = this;
    const search = isPlain ? kernel.searchPlain : kernel.searchSorted;
    const totalHessian = isPlain ? end - start : sums[1];
    search(
      byteOffset,
      stride,
      byteOffset + (endOfLists - from) * stride,
      start * 4,
      end * 4,
      gradients.byteOffset,
      found.byteOffset,
      sums[0],
      totalHessian,
      lambda,
      isPlain ? Math.max(1, Math.ceil(minHessian)) : minHessian,
      minGain,
      best.gain,
    );
    const list = found[FOUND.list];
    if (list < 0) {
      return;
    }
    keep(
      best,
      this.ordered[from + list],
      found[FOUND.bin],
      foundNumbers[FOUND.gain / 2],
      foundNumbers[FOUND.missing / 2] > 0
        ? found[FOUND.withMissing] === 1
        : foundNumbers[FOUND.hessian / 2] * 2 >= totalHessian,
    );
  }

  /** Divides every list as the rows of a node were divided: those at `start … middle - 1` went left. */
  divide(
    rows: Int32Array,
    { depth, start, end }: { depth: number; start: number; end: number },
    middle: number,
  ): void {
    const { marks, kernel, orderedCount, stride } = this;
    if (orderedCount === 0) {
      return;
    }
    for (let i = start; i < end; i++) {
      marks[rows[i]] = i < middle ? 1 : 0;
    }
    const from = this.lists[depth & 1];
    const to = this.lists[(depth + 1) & 1];
    if (kernel) {
      const { byteOffset } = from[0];
      kernel.divideLists(
        byteOffset,
        to[0].byteOffset,
        stride,
        byteOffset + orderedCount * stride,
        marks.byteOffset,
        start * 4,
        middle * 4,
        end * 4,
      );
      return;
    }
    for (let i = 0; i < orderedCount; i++) {
      divideList(from[i], to[i], marks, start, middle, end);
    }
  }

  /** A counting sort. */
  private sorted(column: number): Int32Array {
    const bins = this.columns[column];
    const places = new Int32Array(this.specs[column].bins + 1);
    for (let row = 0; row < this.tableRows; row++) {
      places[bins[row] + 1]++;
    }
    for (let bin = 1; bin < places.length; bin++) {
      places[bin] += places[bin - 1];
    }
    const keys = this.scratch.wholes(this.tableRows);
    for (let row = 0; row < keys.length; row++) {
      keys[places[bins[row]]++] = keyOf(bins[row], row);
    }
    return keys;
  }
}
