/** A sum with it drops what comes after the point: doubles of that size are whole. */
const WHOLE = 6755399441055744;

/**
 * Rounds the rows' derivatives to multiples of a power of two such that sums over 2^22 rows are exact in 53 bits; 2^-30 of
 * the largest at the coarsest.
 */
export function quantise(derivatives: Float64Array, rows: Int32Array, stride: number): void {
  let largest = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i]! * stride;
    for (let at = from; at < from + stride; at++) {
      largest = Math.max(largest, Math.abs(derivatives[at]!));
    }
  }
  if (!(largest > 0) || largest === Infinity) {
    return;
  }
  let step = 1;
  while (step * 1073741824 < largest) {
    step *= 2;
  }
  while (step * 536870912 > largest && step > 1e-290) {
    step /= 2;
  }
  const grid = WHOLE * step;
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i]! * stride;
    for (let at = from; at < from + stride; at++) {
      derivatives[at] = derivatives[at]! + grid - grid;
    }
  }
}
