import { powerOfTwo, rootOfTwo } from '../math/numeric';
import { POWERS, ROOTS } from './layout';

/** Numbers of the table that the exponential of the kernels reads. */
export const EXPONENTIAL_NUMBERS = ROOTS + POWERS;

/** Writes it: 2^(i/32), then the powers of two up to 1. 2^-1075 is too small for a number, so 0 stands for it. */
export function writeExponentialTable(table: Float64Array): void {
  for (let i = 0; i < ROOTS; i++) {
    table[i] = rootOfTwo(i);
  }
  for (let i = 0; i < POWERS; i++) {
    table[ROOTS + i] = i === 0 ? 0 : powerOfTwo(i - (POWERS - 1));
  }
}
