import type { ColumnSpec } from '../../features/encode';
import { alignedBytes, type Scratch } from '../../wasm/scratch';
import { FOUND, type SortedKernel, sortedScratch } from './sorted-kernel';
import type { SplitCandidate, SplitRules } from './splits';

/*
 * Splits of ordered columns from the rows in the order of their bins (J. Shafer et al., SPRINT, 1996), for tables with
 * hardly more rows than bins: a histogram of them would be nearly empty. Each column's rows are sorted once; a tree keeps
 * those of its sample, and a split divides each list, which leaves both halves in order. Sums are exact, so the splits
 * are those that a histogram gives. There are two sets of lists: dividing a node copies its stretch to the other one, so
 * a node of odd depth has its rows in the second.
 */

/** A row and its bin in one number. */
const ROW_BITS = 16;
const ROW = 0xffff;
/** The first key of a row that has a value. */
const KNOWN = 1 << ROW_BITS;
/** Most rows of a table that fit in a key. */
export const MAX_SORTED_ROWS = ROW + 1;

/** A node of a tree: the stretch `start … end - 1` of every list, and its sums of gradients and hessians. */
interface SortedNode {
  depth: number;
  start: number;
  end: number;
  sums: Float64Array;
  best: SplitCandidate;
}

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
      keys[places[bins[row]]++] = (bins[row] << ROW_BITS) | row;
    }
    return keys;
  }
}

/** Copies the keys of the marked rows to the front of `to`, in order. */
function copyMarked(keys: Int32Array, marks: Uint8Array, to: Int32Array): void {
  // Every key is written and the marked ones are counted, which avoids an unpredictable branch.
  for (let i = 0, at = 0; i < keys.length; i++) {
    const key = keys[i];
    to[at] = key;
    at += marks[key & ROW];
  }
}

/** Stable: the keys of marked rows to `start … middle - 1`, the others behind them. */
function divideList(
  from: Int32Array,
  to: Int32Array,
  marks: Uint8Array,
  start: number,
  middle: number,
  end: number,
): void {
  let left = start;
  let right = middle;
  for (let i = start; i < end; i++) {
    const key = from[i];
    const isLeft = marks[key & ROW];
    // `left` or `right`, without an unpredictable branch.
    to[right ^ ((left ^ right) & -isLeft)] = key;
    left += isLeft;
    right += 1 - isLeft;
  }
}

/** As `tryOrdered` does with a histogram. */
function searchSorted(
  keys: Int32Array,
  { start, end, sums, best }: SortedNode,
  gradHess: Float64Array,
  column: number,
  rules: SplitRules,
): void {
  const { lambda, minHessian } = rules;
  const total = sums[0];
  const totalHessian = sums[1];
  let missing = 0;
  let missingHessian = 0;
  let known = start;
  for (; known < end && keys[known] < KNOWN; known++) {
    missing += gradHess[keys[known] * 2];
    missingHessian += gradHess[keys[known] * 2 + 1];
  }
  const parent = (total * total) / (totalHessian + lambda);
  let top = Math.max(best.gain, rules.minGain) + parent;
  let found = -1;
  let foundMissing = false;
  let foundHessian = 0;
  for (let withMissing = 0; withMissing < (missingHessian > 0 ? 2 : 1); withMissing++) {
    let gradient = withMissing ? missing : 0;
    let hessian = withMissing ? missingHessian : 0;
    let next = known < end ? keys[known] : 0;
    for (let i = known + 1; i <= end; i++) {
      const key = next;
      const at = (key & ROW) * 2;
      gradient += gradHess[at];
      hessian += gradHess[at + 1];
      next = i < end ? keys[i] : 0;
      if ((key ^ next) < KNOWN) {
        continue;
      }
      const rest = totalHessian - hessian;
      if (hessian < minHessian) {
        continue;
      }
      if (rest < minHessian) {
        break;
      }
      // The gain times both denominators: dividing each time would take longer than all the rest.
      const other = total - gradient;
      const below = hessian + lambda;
      const above = rest + lambda;
      const scaled = gradient * gradient * above + other * other * below;
      if (scaled > top * (below * above)) {
        top = scaled / (below * above);
        found = key >>> ROW_BITS;
        foundHessian = hessian;
        foundMissing = withMissing === 1;
      }
    }
  }
  if (found > 0) {
    keep(
      best,
      column,
      found,
      top - parent,
      missingHessian > 0 ? foundMissing : foundHessian * 2 >= totalHessian,
    );
  }
}

/** The same where every hessian is 1: rows are counted, and those too few for a leaf are passed over. */
function searchPlain(
  keys: Int32Array,
  { start, end, sums, best }: SortedNode,
  gradHess: Float64Array,
  column: number,
  rules: SplitRules,
): void {
  const { lambda } = rules;
  const total = sums[0];
  const count = end - start;
  const least = Math.max(1, Math.ceil(rules.minHessian));
  let missing = 0;
  let known = start;
  for (; known < end && keys[known] < KNOWN; known++) {
    missing += gradHess[keys[known] * 2];
  }
  const missingCount = known - start;
  const parent = (total * total) / (count + lambda);
  let top = Math.max(best.gain, rules.minGain) + parent;
  let found = -1;
  let foundMissing = false;
  let foundCount = 0;
  for (let withMissing = 0; withMissing < (missingCount > 0 ? 2 : 1); withMissing++) {
    let gradient = withMissing ? missing : 0;
    /** Where `known` rows end, less the rows on the left. */
    const before = known - (withMissing ? missingCount : 0);
    const first = Math.max(known + 1, before + least);
    const last = Math.min(end, before + count - least);
    for (let i = known + 1; i < first && i <= last; i++) {
      gradient += gradHess[(keys[i - 1] & ROW) * 2];
    }
    let next = first <= last ? keys[first - 1] : 0;
    for (let i = first; i <= last; i++) {
      const key = next;
      gradient += gradHess[(key & ROW) * 2];
      next = i < end ? keys[i] : 0;
      if ((key ^ next) < KNOWN) {
        continue;
      }
      const other = total - gradient;
      const below = i - before + lambda;
      const above = before + count - i + lambda;
      const scaled = gradient * gradient * above + other * other * below;
      if (scaled > top * (below * above)) {
        top = scaled / (below * above);
        found = key >>> ROW_BITS;
        foundCount = i - before;
        foundMissing = withMissing === 1;
      }
    }
  }
  if (found > 0) {
    keep(best, column, found, top - parent, missingCount > 0 ? foundMissing : foundCount * 2 >= count);
  }
}

function keep(best: SplitCandidate, column: number, bin: number, gain: number, missingLeft: boolean): void {
  best.gain = gain;
  best.column = column;
  best.bin = bin;
  best.missingLeft = missingLeft;
  best.set = undefined;
}
