/** 1.5 · 2^52: adding and subtracting it rounds to an integer. */
const WHOLE = 6755399441055744;

/**
 * Adding and subtracting this number rounds to a grid, the multiples of a power of two, so that sums over up to 2^22
 * rows are exact in 53 bits. The step is at most 2^-29 of the largest value. Undefined if that is 0 or not finite.
 */
export function gridFor(largest: number): number | undefined {
  if (!(largest > 0) || largest === Infinity) {
    return undefined;
  }
  let step = 1;
  while (step * 1073741824 < largest) {
    step *= 2;
  }
  while (step * 536870912 > largest && step > 1e-290) {
    step /= 2;
  }
  return WHOLE * step;
}

/**
 * Rounds gradients and hessians to a grid.
 *
 * @param gradHess rows × `stride`, for all rows of the table
 */
export function quantise(gradHess: Float64Array, rows: Int32Array, stride: number): void {
  const grid = gridFor(largestOf(gradHess, rows, stride));
  if (grid !== undefined) {
    round(gradHess, rows, stride, grid);
  }
}

function largestOf(gradHess: Float64Array, rows: Int32Array, stride: number): number {
  let largest = 0;
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * stride;
    for (let at = from; at < from + stride; at++) {
      largest = Math.max(largest, Math.abs(gradHess[at]));
    }
  }
  return largest;
}

function round(gradHess: Float64Array, rows: Int32Array, stride: number, grid: number): void {
  for (let i = 0; i < rows.length; i++) {
    const from = rows[i] * stride;
    for (let at = from; at < from + stride; at++) {
      gradHess[at] = gradHess[at] + grid - grid;
    }
  }
}
