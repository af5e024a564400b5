import type { ColumnSpec } from '../features/encode';
import type { SplitCandidate, SplitRules } from './split-finder';

/*
 * Splits of ordered columns from the rows in the order of their bins (J. Shafer et al., SPRINT, 1996), for tables with
 * hardly more rows than bins: a histogram of them would be nearly empty. Each column's rows are sorted once; a tree keeps
 * those of its sample, and a split divides each list, which leaves both halves in order. Sums are exact, so the splits
 * are those that a histogram gives.
 */

/** A row and its bin in one number. */
const ROW_BITS = 16;
const ROW = 0xffff;
/** The first key of a row that has a value. */
const KNOWN = 1 << ROW_BITS;
/** Most rows of a table whose numbers fit. */
export const MAX_SORTED_ROWS = ROW + 1;

/** For each ordered column of a tree, its rows in the order of their bins; a node has the same stretch of every list. */
export class SortedRows {
  /** By column: all rows of the table. Made when first wanted. */
  private readonly all: (Int32Array | undefined)[];
  private readonly marks: Uint8Array;
  private lists: Int32Array[] = [];
  private readonly pool: Int32Array[] = [];
  private readonly spare: Int32Array;

  constructor(
    private readonly columns: Uint8Array[],
    private readonly specs: ColumnSpec[],
    tableRows: number,
  ) {
    this.all = columns.map(() => undefined);
    this.marks = new Uint8Array(tableRows);
    this.spare = new Int32Array(tableRows);
  }

  /** Begins a tree of these rows. The i-th list is that of the i-th picked column; categories have none. */
  begin(picked: Int32Array, rows: Int32Array): void {
    const { marks } = this;
    marks.fill(0);
    for (let i = 0; i < rows.length; i++) {
      marks[rows[i]] = 1;
    }
    this.lists.length = 0;
    for (let i = 0; i < picked.length; i++) {
      const list = (this.pool[i] ??= new Int32Array(marks.length));
      this.lists.push(list);
      if (!this.specs[picked[i]].category) {
        copyMarked((this.all[picked[i]] ??= this.sorted(picked[i])), marks, list);
      }
    }
  }

  /**
   * Improves `best` by the splits of the i-th picked column at the node of places `start … end - 1`.
   *
   * @param totals the node's sums of gradients and hessians
   */
  search(
    i: number,
    column: number,
    {
      start,
      end,
      sums: totals,
      best,
    }: { start: number; end: number; sums: Float64Array; best: SplitCandidate },
    gradHess: Float64Array,
    rules: SplitRules,
  ): void {
    searchSorted(this.lists[i], start, end, gradHess, totals[0], totals[1], column, rules, best);
  }

  /** Divides every list as the rows of a node were divided: those at `start … middle - 1` went left. */
  divide(picked: Int32Array, rows: Int32Array, start: number, middle: number, end: number): void {
    const { marks, spare } = this;
    for (let i = start; i < end; i++) {
      marks[rows[i]] = i < middle ? 1 : 0;
    }
    for (let i = 0; i < picked.length; i++) {
      if (!this.specs[picked[i]].category) {
        divideList(this.lists[i], marks, start, end, spare);
      }
    }
  }

  /** A counting sort. */
  private sorted(column: number): Int32Array {
    const bins = this.columns[column];
    const places = new Int32Array(this.specs[column].bins + 1);
    for (let row = 0; row < this.marks.length; row++) {
      places[bins[row] + 1]++;
    }
    for (let bin = 1; bin < places.length; bin++) {
      places[bin] += places[bin - 1];
    }
    const keys = new Int32Array(this.marks.length);
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

/** Stable: the keys of marked rows first. */
function divideList(
  keys: Int32Array,
  marks: Uint8Array,
  start: number,
  end: number,
  spare: Int32Array,
): void {
  let to = start;
  let right = 0;
  for (let i = start; i < end; i++) {
    const key = keys[i];
    const isLeft = marks[key & ROW];
    keys[to] = key;
    spare[right] = key;
    to += isLeft;
    right += 1 - isLeft;
  }
  for (let i = 0; i < right; i++) {
    keys[to + i] = spare[i];
  }
}

/** As `tryOrdered` does with a histogram. */
function searchSorted(
  keys: Int32Array,
  start: number,
  end: number,
  gradHess: Float64Array,
  total: number,
  totalHessian: number,
  column: number,
  rules: SplitRules,
  best: SplitCandidate,
): void {
  const { lambda, minHessian } = rules;
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
    best.gain = top - parent;
    best.column = column;
    best.bin = found;
    best.missingLeft = missingHessian > 0 ? foundMissing : foundHessian * 2 >= totalHessian;
    best.set = undefined;
  }
}
