import { powerOfTwo } from '../../math/numeric';

/** Grid steps on either side of zero: a leaf value takes 16 bits in a stored model. */
const STEPS = 32_767;
/** 1.5 · 2^52: adding and subtracting it rounds to an integer. */
const WHOLE = 6755399441055744;
const LOWEST = -1000;

/**
 * The exponent of the finest power of two whose grid covers numbers up to `largest`; undefined if that is not finite.
 */
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
 * Rounds all leaf values of a tree to their common grid, in place: an error of at most 2^-15 of the largest. Later
 * trees learn to correct it.
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
