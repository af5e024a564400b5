import type { ColumnSpec } from '../features/encode';
import { FOUND_BYTES, FOUND_LIST, ROW_BITS } from '../kernels/layout';
import { alignedBytes, openScratch, type Scratch } from '../kernels/scratch';
import { FoundSplit, type SplitCandidate, type SplitRules } from './splits';

/*
 * Splits of ordered columns from the rows in the order of their bins (J. Shafer et al., SPRINT, 1996), for tables with
 * hardly more rows than bins: a histogram of them would be nearly empty. Each column's rows are sorted once; a tree keeps
 * those of its sample, and a split divides each list, which leaves both halves in order. Sums are exact, so the splits
 * are those that a histogram gives. There are two sets of lists: dividing a node copies its stretch to the other one, so
 * a node of odd depth has its rows in the second.
 */

/** Most rows of a table: a key is a bin and a row in one number. */
export const MAX_SORTED_ROWS = 2 ** ROW_BITS;

/** A node of a tree: the stretch `start … end - 1` of every list, and its sums of gradients and hessians. */
interface SortedNode {
  depth: number;
  start: number;
  end: number;
  sums: Float64Array;
  best: SplitCandidate;
}

/** What is searched for splits. */
interface SortedTable {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  tableRows: number;
  /** Most columns that a tree splits by. */
  picked: number;
}

/** Each key is written before it is known whether its row is in the tree. */
const SPARE_KEYS = 1;

/** For each ordered column of a tree, its rows in the order of their bins. Must be closed. */
export class SortedRows {
  private readonly columns: Uint8Array[];
  private readonly specs: ColumnSpec[];
  private readonly tableRows: number;
  private readonly scratch: Scratch;
  /** By column: all rows of the table. Made on first use. */
  private readonly all: (Int32Array | undefined)[];
  private readonly marks: Uint8Array;
  /** By depth, even or odd, and picked column: those that are not categories, one behind the other. */
  private readonly lists: [Int32Array[], Int32Array[]] = [[], []];
  /** Distance of a list to the next one, in bytes. */
  private readonly stride: number;
  /** Per row of the table its gradient, or its gradient and its hessian. */
  private readonly gradients: Float64Array;
  private readonly found: FoundSplit;
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
    this.scratch = openScratch(
      (2 * picked + columns.length) * this.stride +
        3 * alignedBytes(tableRows * 16) +
        alignedBytes(FOUND_BYTES),
    );
    const { scratch } = this;
    this.all = columns.map(() => undefined);
    this.marks = scratch.bytes(tableRows);
    for (const lists of this.lists) {
      for (let i = 0; i < picked; i++) {
        lists.push(scratch.wholes(keys));
      }
    }
    this.gradients = scratch.numbers(tableRows * 2);
    this.found = new FoundSplit(scratch.numbers(FOUND_BYTES / 8));
    this.listOf = new Int32Array(picked);
    this.ordered = new Int32Array(picked);
  }

  close(): void {
    this.scratch.close();
  }

  /** Begins a tree of these rows, by columns of which categories have no list. */
  begin(picked: Int32Array, rows: Int32Array, gradHess: Float64Array): void {
    const { marks, scratch } = this;
    marks.fill(0);
    let ones = 0;
    for (let i = 0; i < rows.length; i++) {
      marks[rows[i]] = 1;
      ones += gradHess[rows[i] * 2 + 1] === 1 ? 1 : 0;
    }
    this.isPlain = ones === rows.length;
    this.copyGradients(rows, gradHess);
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
      const { byteOffset } = keys;
      const to = this.lists[0][list].byteOffset;
      scratch.kernels.copyMarked(byteOffset, byteOffset + keys.byteLength, marks.byteOffset, to);
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
  search(i: number, node: SortedNode, rules: SplitRules): void {
    this.searchLists(this.listOf[i], this.listOf[i] + 1, node, rules);
  }

  /** The same by all columns that are not categories, one after the other. */
  searchAll(node: SortedNode, rules: SplitRules): void {
    this.searchLists(0, this.orderedCount, node, rules);
  }

  private searchLists(
    from: number,
    endOfLists: number,
    { depth, start, end, sums, best }: SortedNode,
    { lambda, minHessian, minGain }: SplitRules,
  ): void {
    if (from === endOfLists) {
      return;
    }
    const { stride, isPlain, gradients, found, scratch } = this;
    const search = isPlain ? scratch.kernels.searchPlain : scratch.kernels.searchSorted;
    const totalHessian = isPlain ? end - start : sums[1];
    const { byteOffset } = this.lists[depth & 1][from];
    search(
      byteOffset,
      stride,
      byteOffset + (endOfLists - from) * stride,
      start * 4,
      end * 4,
      gradients.byteOffset,
      found.wholes.byteOffset,
      sums[0],
      totalHessian,
      lambda,
      isPlain ? Math.max(1, Math.ceil(minHessian)) : minHessian,
      minGain,
      best.gain,
    );
    const list = found.wholes[FOUND_LIST / 4];
    if (list >= 0) {
      found.writeBorder(best, this.ordered[from + list], totalHessian);
    }
  }

  /** Divides every list as the rows of a node were divided: those at `start … middle - 1` went left. */
  divide(
    rows: Int32Array,
    { depth, start, end }: { depth: number; start: number; end: number },
    middle: number,
  ): void {
    const { marks, scratch, orderedCount, stride } = this;
    if (orderedCount === 0) {
      return;
    }
    for (let i = start; i < end; i++) {
      marks[rows[i]] = i < middle ? 1 : 0;
    }
    const from = this.lists[depth & 1][0].byteOffset;
    scratch.kernels.divideLists(
      from,
      this.lists[(depth + 1) & 1][0].byteOffset,
      stride,
      from + orderedCount * stride,
      marks.byteOffset,
      start * 4,
      middle * 4,
      end * 4,
    );
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
      keys[places[bins[row]]++] = (bins[row] << ROW_BITS) | row;
    }
    return keys;
  }
}
