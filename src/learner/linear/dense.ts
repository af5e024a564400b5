import type { Kernels } from '../kernels/bytes';
import { ROWS_TOGETHER } from '../kernels/layout';
import type { Scratch } from '../kernels/scratch';
import { dotAt } from '../math/matrix';

/*
 * Products of dense matrices with several sums at a time: one sum alone would wait for each of its additions. The order of
 * additions is fixed, so the bits are the same everywhere.
 */

/**
 * The Cholesky factor of the lower triangle of a positive definite matrix (size × size), in its place. A pivot lost to
 * rounding is set to infinity, which makes its unknown 0.
 *
 * @param kernels of the scratch memory that the matrix is in
 */
export function factorise(matrix: Float64Array, size: number, kernels: Kernels): void {
  let i = 0;
  for (; i + ROWS_TOGETHER <= size; i += ROWS_TOGETHER) {
    const { byteOffset } = matrix;
    const rows = byteOffset + i * size * 8;
    kernels.factoriseFour(byteOffset, rows, rows, size * 8);
    for (let next = i; next < i + ROWS_TOGETHER; next++) {
      factoriseRow(matrix, size, next, i);
    }
  }
  for (; i < size; i++) {
    factoriseRow(matrix, size, i, 0);
  }
}

/** Keeps a matrix positive definite whose first term has no penalty. */
const NEXT_TO_NONE = 1e-6;

/**
 * Writes the Cholesky factor of `by` times some products (the lower triangle of size × size), with a penalty on every term
 * but the first.
 *
 * @param kernels of the scratch memory that `out` is in
 */
export function factorisePenalised(
  products: Float64Array,
  { size, by, penalty }: { size: number; by: number; penalty: number },
  out: Float64Array,
  kernels: Kernels,
): void {
  for (let i = 0; i < products.length; i++) {
    out[i] = products[i] * by;
  }
  for (let i = 0; i < size; i++) {
    out[i * size + i] += i === 0 ? NEXT_TO_NONE : penalty;
  }
  factorise(out, size, kernels);
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
 * Writes the lower triangle of the inverse of factor · factorᵀ to `out`.
 *
 * @param columns scratch, size × size, as is `rows`
 * @param kernels of the scratch memory that all of them are in
 */
export function invert(
  factor: Float64Array,
  size: number,
  { columns, rows, out }: { columns: Float64Array; rows: Float64Array; out: Float64Array },
  kernels: Kernels,
): void {
  const length = size * 8;
  const together = size - (size % ROWS_TOGETHER);
  // The inverse of the factor, transposed: row j holds column j, from its diagonal on.
  columns.fill(0);
  for (let j = 0; j < together; j += ROWS_TOGETHER) {
    for (let own = j; own < j + ROWS_TOGETHER; own++) {
      columns[own * size + own] = 1;
    }
    const at = j * length + j * 8;
    const end = factor.byteOffset + size * length;
    kernels.factoriseFour(factor.byteOffset + at, end, columns.byteOffset + at, length);
  }
  for (let j = together; j < size; j++) {
    const own = j * size;
    columns[own + j] = 1 / factor[own + j];
    for (let i = j + 1; i < size; i++) {
      const row = i * size;
      columns[own + i] = -dotAt(factor, row + j, columns, own + j, i - j) / factor[row + i];
    }
  }
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      rows[i * size + j] = columns[j * size + i];
    }
  }
  out.fill(0);
  for (let i = 0; i < together; i += ROWS_TOGETHER) {
    const at = rows.byteOffset + i * length;
    const used = (i + ROWS_TOGETHER) * 8;
    const [second, third, fourth] = [at + length, at + 2 * length, at + 3 * length];
    kernels.addGramFour(at, second, third, fourth, used, length, 1, out.byteOffset);
  }
  for (let i = together; i < size; i++) {
    addRow(rows, i * size, size, 1, out);
  }
}

/**
 * Adds `sign` times the products of the columns of some rows to the lower triangle of `out` (size × size).
 *
 * @param matrix rows × size
 * @param kernels of the scratch memory that both are in
 */
export function addGram(
  matrix: Float64Array,
  rows: Int32Array,
  size: number,
  sign: 1 | -1,
  out: Float64Array,
  kernels: Kernels,
): void {
  const together = rows.length - (rows.length % ROWS_TOGETHER);
  const length = size * 8;
  const at = (r: number) => matrix.byteOffset + rows[r] * length;
  for (let r = 0; r < together; r += ROWS_TOGETHER) {
    kernels.addGramFour(at(r), at(r + 1), at(r + 2), at(r + 3), length, length, sign, out.byteOffset);
  }
  for (let r = together; r < rows.length; r++) {
    addRow(matrix, rows[r] * size, size, sign, out);
  }
}

function addRow(matrix: Float64Array, from: number, size: number, sign: 1 | -1, out: Float64Array): void {
  for (let i = 0; i < size; i++) {
    const by = sign * matrix[from + i];
    for (let j = 0; j <= i; j++) {
      out[i * size + j] += by * matrix[from + j];
    }
  }
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
  scratch: Scratch,
): (rows: Int32Array, products: Float64Array) => void {
  const { kernels } = scratch;
  const all = Int32Array.from({ length: matrix.length / size }, (_, row) => row);
  const whole = scratch.numbers(size * size).fill(0);
  addGram(matrix, all, size, 1, whole, kernels);
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
    addGram(matrix, counted, size, isFew ? 1 : -1, products, kernels);
  };
}
