import type { Split } from '../trees';

/** What is summed, and what receives the sums: see `NodeRows`. */
interface SumInput {
  readonly list: Int32Array;
  readonly values: Float64Array;
  readonly codes: Uint8Array | Int32Array;
  readonly counts: Int32Array;
  readonly sums: Float64Array;
  readonly width: number;
}

/** Sums the rows that go left by split `i` of an ordered column. */
export function sumBelow(
  { list, values, codes, counts, sums, width }: SumInput,
  bins: Uint8Array,
  { bin: border, missingLeft }: Split,
  i: number,
  start: number,
  end: number,
): void {
  // If missing values go right, their bin 0 becomes 255. Nodes are small: neither a table of bins nor a branch.
  const first = missingLeft ? 0 : 1;
  const last = border - first;
  const to = i * width;
  let count = 0;
  if (codes.length > 0) {
    sums.fill(0, to, to + width);
    for (let at = start; at < end; at++) {
      const row = list[at];
      const isIn = ((bins[row] - first) & 255) <= last ? 1 : 0;
      count += isIn;
      sums[to + codes[row]] += isIn;
    }
  } else {
    let sum = 0;
    for (let at = start; at < end; at++) {
      const row = list[at];
      const isIn = ((bins[row] - first) & 255) <= last ? 1 : 0;
      count += isIn;
      sum += isIn * values[row];
    }
    sums[to] = sum;
  }
  counts[i] = count;
}

const goesLeft = new Uint8Array(256);

/** Sums the rows whose category is in the set of split `i`. */
export function sumOfSet(
  { list, values, codes, counts, sums, width }: SumInput,
  bins: Uint8Array,
  categories: number,
  set: Int32Array,
  i: number,
  start: number,
  end: number,
): void {
  for (let bin = 0; bin < categories; bin++) {
    goesLeft[bin] = (set[bin >> 5] >>> (bin & 31)) & 1;
  }
  const to = i * width;
  let count = 0;
  sums.fill(0, to, to + width);
  for (let at = start; at < end; at++) {
    const row = list[at];
    const isIn = goesLeft[bins[row]];
    count += isIn;
    if (codes.length > 0) {
      sums[to + codes[row]] += isIn;
    } else {
      sums[to] += isIn * values[row];
    }
  }
  counts[i] = count;
}
