import type { ColumnSpec } from '../../features/encode';
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
/** Most rows of a table whose numbers fit. */
export const MAX_SORTED_ROWS = ROW + 1;

/** A node of a tree: the stretch `start … end - 1` of every list, and its sums of gradients and hessians. */
interface SortedNode {
  depth: number;
  start: number;
  end: number;
  sums: Float64Array;
  best: SplitCandidate;
}

/** For each ordered column of a tree, its rows in the order of their bins. */
export class SortedRows {
  /** By column: all rows of the table. Made when first wanted. */
  private readonly all: (Int32Array | undefined)[];
  private readonly marks: Uint8Array;
  /** By depth, even or odd, and picked column. */
  private readonly lists: [Int32Array[], Int32Array[]] = [[], []];
  /** Whether every row of the tree has hessian 1. */
  private isPlain = false;

  constructor(
    private readonly columns: Uint8Array[],
    private readonly specs: ColumnSpec[],
    tableRows: number,
  ) {
    this.all = columns.map(() => undefined);
    this.marks = new Uint8Array(tableRows);
  }

  /** Begins a tree of these rows. The i-th list is that of the i-th picked column; categories have none. */
  begin(picked: Int32Array, rows: Int32Array, gradHess: Float64Array): void {
    const { marks, lists } = this;
    marks.fill(0);
    let ones = 0;
    for (let i = 0; i < rows.length; i++) {
      marks[rows[i]] = 1;
      ones += gradHess[rows[i] * 2 + 1] === 1 ? 1 : 0;
    }
    this.isPlain = ones === rows.length;
    for (let i = 0; i < picked.length; i++) {
      if (i === lists[0].length) {
        lists[0].push(new Int32Array(marks.length));
        lists[1].push(new Int32Array(marks.length));
      }
      if (!this.specs[picked[i]].category) {
        copyMarked((this.all[picked[i]] ??= this.sorted(picked[i])), marks, lists[0][i]);
      }
    }
  }

  /** Improves `best` of a node by the splits of the i-th picked column. */
  search(i: number, column: number, node: SortedNode, gradHess: Float64Array, rules: SplitRules): void {
    const keys = this.lists[node.depth & 1][i];
    if (this.isPlain) {
      searchPlain(keys, node, gradHess, column, rules);
    } else {
      searchSorted(keys, node, gradHess, column, rules);
    }
  }

  /** Divides every list as the rows of a node were divided: those at `start … middle - 1` went left. */
  divide(
    picked: Int32Array,
    rows: Int32Array,
    { depth, start, end }: { depth: number; start: number; end: number },
    middle: number,
  ): void {
    const { marks } = this;
    for (let i = start; i < end; i++) {
      marks[rows[i]] = i < middle ? 1 : 0;
    }
    const from = this.lists[depth & 1];
    const to = this.lists[(depth + 1) & 1];
    for (let i = 0; i < picked.length; i++) {
      if (!this.specs[picked[i]].category) {
        divideList(from[i], to[i], marks, start, middle, end);
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
