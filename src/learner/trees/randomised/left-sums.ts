import type { ColumnSpec } from '../../features/encode';
import type { Split } from '../trees';

/** What the sums of a node are computed from. */
interface SumInput {
  readonly input: { columns: Uint8Array[]; specs: ColumnSpec[] };
  readonly rows: Int32Array;
  /** Per row of the table, its value or its class; one of the two is empty. */
  readonly values: Float64Array;
  readonly codes: Int32Array;
  /** Receives the sum of values, or the number of rows of each class. */
  readonly left: Float64Array;
}

/** Sums the rows that go left of a border into `left`. Returns their number. */
export function sumBelow(
  { rows, left, codes, values, input }: SumInput,
  { column, bin: border, missingLeft }: Split,
  start: number,
  end: number,
): number {
  const bins = input.columns[column];
  // If missing values go right, their bin 0 becomes 255. Nodes are small: neither a table of bins nor a branch.
  const first = missingLeft ? 0 : 1;
  const last = border - first;
  let count = 0;
  if (left.length === 2) {
    let ones = 0;
    for (let i = start; i < end; i++) {
      const row = rows[i];
      const isIn = ((bins[row] - first) & 255) <= last ? 1 : 0;
      count += isIn;
      ones += isIn & codes[row];
    }
    left[0] = count - ones;
    left[1] = ones;
    return count;
  }
  if (left.length === 3) {
    let ones = 0;
    let twos = 0;
    for (let i = start; i < end; i++) {
      const row = rows[i];
      const code = codes[row];
      const isIn = ((bins[row] - first) & 255) <= last ? 1 : 0;
      count += isIn;
      ones += isIn & code;
      twos += isIn & (code >> 1);
    }
    left[0] = count - ones - twos;
    left[1] = ones;
    left[2] = twos;
    return count;
  }
  if (codes.length > 0) {
    left.fill(0);
    for (let i = start; i < end; i++) {
      const row = rows[i];
      const isIn = ((bins[row] - first) & 255) <= last ? 1 : 0;
      count += isIn;
      left[codes[row]] += isIn;
    }
    return count;
  }
  let sum = 0;
  for (let i = start; i < end; i++) {
    const row = rows[i];
    const isIn = ((bins[row] - first) & 255) <= last ? 1 : 0;
    count += isIn;
    sum += isIn * values[row];
  }
  left[0] = sum;
  return count;
}

const goesLeft = new Uint8Array(256);

/** Sums the rows whose category is in `set` into `left`. Returns their number. */
export function sumOfSet(
  { rows, left, codes, values, input }: SumInput,
  column: number,
  set: Int32Array,
  start: number,
  end: number,
): number {
  const bins = input.columns[column];
  for (let bin = 0; bin < input.specs[column].bins; bin++) {
    goesLeft[bin] = (set[bin >> 5] >>> (bin & 31)) & 1;
  }
  let count = 0;
  left.fill(0);
  for (let i = start; i < end; i++) {
    const row = rows[i];
    const isIn = goesLeft[bins[row]];
    count += isIn;
    if (codes.length > 0) {
      left[codes[row]] += isIn;
    } else {
      left[0] += isIn * values[row];
    }
  }
  return count;
}
