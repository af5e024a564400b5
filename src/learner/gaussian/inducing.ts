import { closing, openScratch, type Scratch } from '../kernels/scratch';
import type { Dimensions, Kernel, KernelShape } from './kernel';
import { MaternRows } from './matern-rows';

/** What a pivoted Cholesky factorisation makes of the kernel of all rows. */
export interface Inducing {
  /** Rows that stand for all. */
  pivots: Int32Array;
  /** pivots × rows: the kernel of two rows is nearly the product of their columns. */
  factor: Float64Array;
}

/**
 * Chooses the rows that best represent all others: each is the one that those before it leave most uncertain, until no
 * row's variance exceeds `tolerance` (S. Fine and K. Scheinberg, 2001).
 *
 * @param positions rows × dimensions
 */
export function inducingRows(
  dimensions: Dimensions,
  shape: KernelShape,
  positions: Float64Array,
  most: number,
  tolerance: number,
): Inducing {
  return pivoted(dimensions, shape, positions, most, (left, isTaken) => {
    let pivot = -1;
    for (let row = 0; row < left.length; row++) {
      if (isTaken[row] === 0 && left[row] > tolerance && (pivot < 0 || left[row] > left[pivot])) {
        pivot = row;
      }
    }
    return pivot;
  });
}

/** The factor of a kernel's points alone (points × points), identical to the bit to their columns in the factor over all rows. */
export function pointFactor({ rates, additive, points, ...dimensions }: Kernel): Float64Array {
  const count = points.length / rates.length;
  let next = 0;
  return pivoted(dimensions, { rates, additive }, Float64Array.from(points), count, () => next++).factor;
}

function pivoted(
  dimensions: Dimensions,
  shape: KernelShape,
  positions: Float64Array,
  most: number,
  pick: (left: Float64Array, isTaken: Uint8Array) => number,
): Inducing {
  const width = shape.rates.length;
  const rows = positions.length / width;
  return closing(openScratch(), (scratch) =>
    closing(new MaternRows(dimensions, positions), (matern) => {
      const kernelOf = (row: number) => matern.row(shape, positions.subarray(row * width, (row + 1) * width));
      return pivotedIn(scratch, rows, kernelOf, most, pick);
    }),
  );
}

function pivotedIn(
  scratch: Scratch,
  rows: number,
  kernelOf: (row: number) => Float64Array,
  most: number,
  pick: (left: Float64Array, isTaken: Uint8Array) => number,
): Inducing {
  const left = new Float64Array(rows).fill(1);
  const pivots: number[] = [];
  const factor = scratch.numbers(most * rows);
  const isTaken = new Uint8Array(rows);
  while (pivots.length < most) {
    const pivot = pick(left, isTaken);
    if (pivot < 0) {
      break;
    }
    const own = factor.subarray(pivots.length * rows, (pivots.length + 1) * rows);
    own.set(kernelOf(pivot));
    // What the rows before it share with it.
    const length = rows * 8;
    scratch.kernels.takeShares(factor.byteOffset, own.byteOffset, length, length - (length % 64), pivot * 8);
    const root = Math.sqrt(left[pivot]);
    for (let row = 0; row < rows; row++) {
      own[row] = isTaken[row] === 1 ? 0 : own[row] / root;
      left[row] -= own[row] * own[row];
    }
    own[pivot] = root;
    isTaken[pivot] = 1;
    pivots.push(pivot);
  }
  return { pivots: Int32Array.from(pivots), factor: factor.slice(0, pivots.length * rows) };
}

/**
 * Converts weights of the factor's rows to weights of the kernel with each pivot.
 *
 * @param rows columns of the factor
 */
export function kernelWeights(
  ofFactor: ArrayLike<number>,
  factor: Float64Array,
  pivots: Int32Array,
  rows: number,
): Float64Array {
  const weights = Float64Array.from(ofFactor);
  for (let i = weights.length - 1; i >= 0; i--) {
    let sum = weights[i];
    for (let j = i + 1; j < weights.length; j++) {
      sum -= factor[i * rows + pivots[j]] * weights[j];
    }
    weights[i] = sum / factor[i * rows + pivots[i]];
  }
  return weights;
}
