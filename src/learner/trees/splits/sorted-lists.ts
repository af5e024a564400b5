import type { SplitCandidate, SplitRules } from './splits';

/* Keys of `SortedRows`, and its loops without WebAssembly. */

/** A key is a bin and a row in one number. The row takes this many bits. */
export const ROW_BITS = 16;
const ROW = 0xffff;
/** The first key of a row that has a value. */
export const KNOWN = 1 << ROW_BITS;
/** Most rows of a table that fit in a key. */
export const MAX_SORTED_ROWS = ROW + 1;

/** A node of a tree: the stretch `start … end - 1` of every list, and its sums of gradients and hessians. */
export interface SortedNode {
  depth: number;
  start: number;
  end: number;
  sums: Float64Array;
  best: SplitCandidate;
}

export function keyOf(bin: number, row: number): number {
  return (bin << ROW_BITS) | row;
}

/** Copies the keys of the marked rows to the front of `to`, in order. */
export function copyMarked(keys: Int32Array, marks: Uint8Array, to: Int32Array): void {
  // Every key is written and the marked ones are counted, which avoids an unpredictable branch.
  for (let i = 0, at = 0; i < keys.length; i++) {
    const key = keys[i];
    to[at] = key;
    at += marks[key & ROW];
  }
}

/** Stable: the keys of marked rows to `start … middle - 1`, the others behind them. */
export function divideList(
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
export function searchSorted(
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
export function searchPlain(
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

/** Writes a split of an ordered column to `best`. */
export function keep(
  best: SplitCandidate,
  column: number,
  bin: number,
  gain: number,
  missingLeft: boolean,
): void {
  best.gain = gain;
  best.column = column;
  best.bin = bin;
  best.missingLeft = missingLeft;
  best.set = undefined;
}
