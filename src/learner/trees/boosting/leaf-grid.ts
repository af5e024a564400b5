import { powerOfTwo } from '../../math/numeric';

/** Steps of the grid on either side of zero: a leaf's value takes 16 bits of a stored model. */
const STEPS = 32_767;
/** 1.5 · 2^52: adding and subtracting it rounds to a whole number. */
const WHOLE = 6755399441055744;
const LOWEST = -1000;

/** The exponent of the finest power of two whose grid holds numbers up to `largest`; undefined for one that is not finite. */
export function gridExponent(largest: number): number | undefined {
  if (!(largest < Infinity)) {
    return undefined;
  }
  let exponent = 0;
  while (largest > STEPS * powerOfTwo(exponent)) {
    exponent++;
  }
  while (largest > 0 && exponent > LOWEST && largest <= STEPS * powerOfTwo(exponent - 1)) {
    exponent--;
  }
  return exponent;
}

/**
 * Rounds the values of a tree's leaves, all together, to their grid, in place: to 2^-15 of the largest at worst. Trees
 * that come after it learn what that leaves.
 */
export function roundToGrid(leaves: readonly (Float64Array | Float32Array)[]): void {
  let largest = 0;
  for (const values of leaves) {
    for (let k = 0; k < values.length; k++) {
      largest = Math.max(largest, Math.abs(values[k]));
    }
  }
  const exponent = gridExponent(largest);
  if (exponent === undefined) {
    return;
  }
  const grid = WHOLE * powerOfTwo(exponent);
  for (const values of leaves) {
    for (let k = 0; k < values.length; k++) {
      values[k] = values[k] + grid - grid;
    }
  }
}
