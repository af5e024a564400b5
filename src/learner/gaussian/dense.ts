import { solve } from '../math/matrix';
import { alignedBytes, type Scratch } from '../wasm/scratch';
import { type DenseKernel, ROWS_AT_ONCE } from './dense-kernel';

/*
 * Products of dense matrices with several sums at a time: one sum alone would wait for each of its additions. The order of
 * additions is fixed, so the bits are the same everywhere.
 */

/** The sum of a[i + k] · b[j + k] for k below `count`. */
export function dotAt(a: Float64Array, i: number, b: Float64Array, j: number, count: number): number {
  let sum0 = 0;
  let sum1 = 0;
  let sum2 = 0;
  let sum3 = 0;
  const even = count & ~3;
  let k = 0;
  for (; k < even; k += 4) {
    sum0 += a[i + k] * b[j + k];
    sum1 += a[i + k + 1] * b[j + k + 1];
    sum2 += a[i + k + 2] * b[j + k + 2];
    sum3 += a[i + k + 3] * b[j + k + 3];
  }
  for (; k < count; k++) {
    sum0 += a[i + k] * b[j + k];
  }
  return sum0 + sum1 + (sum2 + sum3);
}

/**
 * The Cholesky factor of the lower triangle of a positive definite matrix (size × size), in its place. A pivot lost to
 * rounding is set to infinity, which makes its unknown 0.
 *
 * @param kernel of the scratch memory that the matrix is in
 */
export function factorise(matrix: Float64Array, size: number, kernel?: DenseKernel): void {
  let i = 0;
  for (; kernel && i + ROWS_AT_ONCE <= size; i += ROWS_AT_ONCE) {
    const { byteOffset } = matrix;
    kernel.factoriseFour(byteOffset, byteOffset + i * size * 8, size * 8);
    for (let next = i; next < i + ROWS_AT_ONCE; next++) {
      factoriseRow(matrix, size, next, i);
    }
  }
  for (; i < size; i++) {
    factoriseRow(matrix, size, i, 0);
  }
}

/** One row, from a column on; the columns before it are done. */
function factoriseRow(matrix: Float64Array, size: number, i: number, from: number): void {
  const row = i * size;
  for (let j = from; j < i; j++) {
    const other = j * size;
    matrix[row + j] = (matrix[row + j] - dotAt(matrix, row, matrix, other, j)) / matrix[other + j];
  }
  const whole = matrix[row + i];
  const left = whole - dotAt(matrix, row, matrix, row, i);
  matrix[row + i] = left > 1e-12 * Math.abs(whole) ? Math.sqrt(left) : Infinity;
}

/**
 * Solves factor · factorᵀ · x = right, in place, for several right sides of `size` numbers one after the other: three at a
 * time, whose sums need not wait for each other.
 */
export function solveSeveral(factor: Float64Array, size: number, right: Float64Array): void {
  let from = 0;
  for (; from + 3 * size <= right.length; from += 3 * size) {
    solveThree(factor, size, right, from);
  }
  for (; from < right.length; from += size) {
    solve(factor, size, right.subarray(from, from + size));
  }
}

/** The sums of `solve`, in its order. */
function solveThree(factor: Float64Array, size: number, right: Float64Array, first: number): void {
  const second = first + size;
  const third = second + size;
  for (let i = 0; i < size; i++) {
    const row = i * size;
    let sum0 = right[first + i];
    let sum1 = right[second + i];
    let sum2 = right[third + i];
    for (let k = 0; k < i; k++) {
      const by = factor[row + k];
      sum0 -= by * right[first + k];
      sum1 -= by * right[second + k];
      sum2 -= by * right[third + k];
    }
    right[first + i] = sum0 / factor[row + i];
    right[second + i] = sum1 / factor[row + i];
    right[third + i] = sum2 / factor[row + i];
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum0 = right[first + i];
    let sum1 = right[second + i];
    let sum2 = right[third + i];
    for (let k = i + 1; k < size; k++) {
      const by = factor[k * size + i];
      sum0 -= by * right[first + k];
      sum1 -= by * right[second + k];
      sum2 -= by * right[third + k];
    }
    const own = factor[i * size + i];
    right[first + i] = sum0 / own;
    right[second + i] = sum1 / own;
    right[third + i] = sum2 / own;
  }
}

/**
 * Writes the lower triangle of the inverse of factor · factorᵀ to `out`.
 *
 * @param columns scratch, size × size
 */
export function invert(factor: Float64Array, size: number, columns: Float64Array, out: Float64Array): void {
  // The inverse of the factor, transposed: row j holds column j, from its diagonal on.
  for (let j = 0; j < size; j++) {
    const own = j * size;
    columns[own + j] = 1 / factor[own + j];
    for (let i = j + 1; i < size; i++) {
      const row = i * size;
      columns[own + i] = -dotAt(factor, row + j, columns, own + j, i - j) / factor[row + i];
    }
  }
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      out[i * size + j] = dotAt(columns, i * size + i, columns, j * size + i, size - i);
    }
  }
}

/**
 * Adds `sign` times the products of the columns of some rows to the lower triangle of `out` (size × size).
 *
 * @param matrix rows × size
 * @param kernel of the scratch memory that both are in
 */
export function addGram(
  matrix: Float64Array,
  rows: Int32Array,
  size: number,
  sign: 1 | -1,
  out: Float64Array,
  kernel?: DenseKernel,
): void {
  const together = rows.length - (rows.length % ROWS_AT_ONCE);
  for (let r = 0; r < together; r += ROWS_AT_ONCE) {
    const [at0, at1, at2, at3] = [rows[r] * size, rows[r + 1] * size, rows[r + 2] * size, rows[r + 3] * size];
    if (kernel) {
      const first = matrix.byteOffset;
      kernel.addGramFour(
        first + at0 * 8,
        first + at1 * 8,
        first + at2 * 8,
        first + at3 * 8,
        size * 8,
        sign,
        out.byteOffset,
      );
    } else {
      addFour(matrix, at0, at1, at2, at3, size, sign, out);
    }
  }
  for (let r = together; r < rows.length; r++) {
    const at = rows[r] * size;
    for (let i = 0; i < size; i++) {
      const by = sign * matrix[at + i];
      for (let j = 0; j <= i; j++) {
        out[i * size + j] += by * matrix[at + j];
      }
    }
  }
}

function addFour(
  matrix: Float64Array,
  at0: number,
  at1: number,
  at2: number,
  at3: number,
  size: number,
  sign: 1 | -1,
  out: Float64Array,
): void {
  for (let i = 0; i < size; i++) {
    const by0 = sign * matrix[at0 + i];
    const by1 = sign * matrix[at1 + i];
    const by2 = sign * matrix[at2 + i];
    const by3 = sign * matrix[at3 + i];
    const to = i * size;
    for (let j = 0; j <= i; j++) {
      out[to + j] +=
        by0 * matrix[at0 + j] + by1 * matrix[at1 + j] + (by2 * matrix[at2 + j] + by3 * matrix[at3 + j]);
    }
  }
}

/** Bytes of scratch memory for the products of `count` sets of rows beside those of all. */
export function bytesOfGram(rows: number, size: number, count: number): number {
  return alignedBytes(rows * size * 8) + (1 + count) * alignedBytes(size * size * 8);
}

/**
 * The products of the columns of any rows, from those of all rows less those of the rows left out: the lower triangle.
 *
 * @param matrix rows × size
 * @param scratch that the matrix is in
 * @returns writes the products of some rows to a matrix in the scratch memory
 */
export function gramOfSome(
  matrix: Float64Array,
  size: number,
  scratch: Scratch<DenseKernel>,
): (rows: Int32Array, products: Float64Array) => void {
  const { functions } = scratch;
  const all = Int32Array.from({ length: matrix.length / size }, (_, row) => row);
  const whole = scratch.numbers(size * size).fill(0);
  addGram(matrix, all, size, 1, whole, functions);
  return (rows, products) => {
    const isIn = new Uint8Array(all.length);
    rows.forEach((row) => (isIn[row] = 1));
    const isFew = rows.length * 2 < all.length;
    if (isFew) {
      products.fill(0);
    } else {
      products.set(whole);
    }
    const counted = isFew ? rows : all.filter((row) => isIn[row] === 0);
    addGram(matrix, counted, size, isFew ? 1 : -1, products, functions);
  };
}
