import { ORDINARY, type Room, roomOf } from '../wasm/scratch';
import { type DenseKernel, denseRooms } from './dense-kernel';
import { type Dimensions, type Kernel, kernelRow } from './kernel';

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
  return pivoted(dimensions, rates, positions, most, (left, isTaken) => {
    let pivot = -1;
    for (let row = 0; row < left.length; row++) {
      if (isTaken[row] === 0 && left[row] > tolerance && (pivot < 0 || left[row] > left[pivot])) {
        pivot = row;
      }
    }
    return pivot;
  });
}

/** Of a kernel the factor of its points alone: points × points, the same bits as among the rows that they were chosen of. */
export function pointFactor({ rates, points, ...dimensions }: Kernel): Float64Array {
  const count = points.length / rates.length;
  let next = 0;
  return pivoted(dimensions, rates, Float64Array.from(points), count, () => next++).factor;
}

/** With fewer numbers in a factor the kernel would take longer to reach. */
const FEW_NUMBERS = 10_000;

function pivoted(
  dimensions: Dimensions,
  rates: Float64Array,
  positions: Float64Array,
  most: number,
  pick: (left: Float64Array, isTaken: Uint8Array) => number,
): Inducing {
  const rows = positions.length / rates.length;
  const room = most * rows < FEW_NUMBERS ? ORDINARY : denseRooms.open(roomOf(most * rows * 8));
  try {
    return pivotedIn(room, dimensions, rates, positions, most, pick);
  } finally {
    room.close();
  }
}

function pivotedIn(
  room: Room<DenseKernel>,
  dimensions: Dimensions,
  rates: Float64Array,
  positions: Float64Array,
  most: number,
  pick: (left: Float64Array, isTaken: Uint8Array) => number,
): Inducing {
  const count = rates.length;
  const rows = positions.length / count;
  const left = new Float64Array(rows).fill(1);
  const pivots: number[] = [];
  const factor = room.numbers(most * rows);
  const isTaken = new Uint8Array(rows);
  while (pivots.length < most) {
    const pivot = pick(left, isTaken);
    if (pivot < 0) {
      break;
    }
    const own = factor.subarray(pivots.length * rows, (pivots.length + 1) * rows);
    kernelRow(dimensions, rates, positions.subarray(pivot * count), positions, rows, own);
    takeShares(room.functions, factor, own, pivots.length, pivot);
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

/** Takes from a row of the factor what the rows before it share with it. */
function takeShares(
  kernel: DenseKernel | undefined,
  factor: Float64Array,
  own: Float64Array,
  before: number,
  pivot: number,
): void {
  const rows = own.length;
  if (kernel) {
    const length = rows * 8;
    kernel.takeShares(factor.byteOffset, own.byteOffset, length, length - (length % 64), pivot * 8);
    return;
  }
  for (let i = 0; i < before; i++) {
    const other = factor.subarray(i * rows, (i + 1) * rows);
    const share = other[pivot];
    for (let row = 0; row < rows; row++) {
      own[row] -= share * other[row];
    }
  }
}

/**
 * Weights of the kernel with each pivot, of weights of the factor's rows.
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
