import { type Dimensions, kernelRow } from './kernel';

/** What a pivoted Cholesky factorisation makes of the kernel of all rows. */
export interface Inducing {
  /** Rows that stand for all. */
  pivots: Int32Array;
  /** pivots × rows: the kernel of two rows is nearly the product of their columns. */
  factor: Float64Array;
}

/**
 * Rows that tell most of all others: each is the one whose value those before it leave most uncertain, until that is less
 * than `tolerance` (S. Fine and K. Scheinberg, 2001).
 *
 * @param positions rows × dimensions
 */
export function inducingRows(
  dimensions: Dimensions,
  rates: Float64Array,
  positions: Float64Array,
  most: number,
  tolerance: number,
): Inducing {
  const count = rates.length;
  const rows = positions.length / count;
  const left = new Float64Array(rows).fill(1);
  const pivots: number[] = [];
  const factor = new Float64Array(most * rows);
  const isTaken = new Uint8Array(rows);
  while (pivots.length < most) {
    let pivot = -1;
    for (let row = 0; row < rows; row++) {
      if (isTaken[row] === 0 && left[row] > tolerance && (pivot < 0 || left[row] > left[pivot])) {
        pivot = row;
      }
    }
    if (pivot < 0) {
      break;
    }
    const own = factor.subarray(pivots.length * rows, (pivots.length + 1) * rows);
    kernelRow(dimensions, rates, positions.subarray(pivot * count), positions, rows, own);
    for (let i = 0; i < pivots.length; i++) {
      const before = factor.subarray(i * rows, (i + 1) * rows);
      const share = before[pivot];
      for (let row = 0; row < rows; row++) {
        own[row] -= share * before[row];
      }
    }
    const root = Math.sqrt(left[pivot]);
    for (let row = 0; row < rows; row++) {
      own[row] = isTaken[row] === 1 ? 0 : own[row] / root;
      left[row] -= own[row] * own[row];
    }
    own[pivot] = root;
    isTaken[pivot] = 1;
    pivots.push(pivot);
  }
  return { pivots: Int32Array.from(pivots), factor: factor.subarray(0, pivots.length * rows) };
}
