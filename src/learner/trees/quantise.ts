/** 1.5 · 2^52: adding and subtracting it rounds to a whole number. */
const WHOLE = 6755399441055744;

/**
 * Rounds gradients and hessians to a grid, the multiples of a power of two, so that sums over up to 2^22 rows are
 * exact in 53 bits. The step is at most 2^-29 of the largest value.
 *
 * @param gradHess rows × `stride`, all rows of the table
 */
export function quantise(gradHess: Float64Array, rows: Int32Array, stride: number): void {
  let largest = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * stride;
    for (let at = from; at < from + stride; at++) {
      largest = Math.max(largest, Math.abs(gradHess[at]));
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
    const from = rows[i] * stride;
    for (let at = from; at < from + stride; at++) {
      gradHess[at] = gradHess[at] + grid - grid;
    }
  }
}
