import type { Split } from '../trees';

/** What the nodes of randomised trees are summed up from. */
interface Sums {
  readonly input: { columns: Uint8Array[] };
  readonly rows: Int32Array;
  /** Per row of the table its value, or its class; one of both is empty. */
  readonly values: Float64Array;
  readonly codes: Int32Array;
  /** The sum of values, or the rows of each class. */
  readonly left: Float64Array;
}

/** Sums up what goes left of a border, in `left`. Returns the number of rows. */
export function sumBelow(
  { rows, left, codes, values, input }: Sums,
  { column, bin: border, missingLeft }: Split,
  start: number,
  end: number,
): number {
  const bins = input.columns[column];
  // Missing values, bin 0, become 255 where they go right. Nodes are small: no table of bins, no branch.
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
