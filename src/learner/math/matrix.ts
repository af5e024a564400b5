/**
 * The Cholesky factor of a symmetric positive definite matrix (size × size), in its lower triangle; the upper one is
 * unchanged. A pivot lost to rounding becomes infinity, which sets its unknown to 0.
 */
export function cholesky(matrix: Float64Array, size: number): Float64Array {
  const factor = matrix.slice();
  for (let j = 0; j < size; j++) {
    for (let i = j; i < size; i++) {
      let sum = factor[i * size + j];
      for (let k = 0; k < j; k++) {
        sum -= factor[i * size + k] * factor[j * size + k];
      }
      if (i > j) {
        factor[i * size + j] = sum / factor[j * size + j];
      } else {
        factor[j * size + j] = sum > 1e-10 * Math.abs(matrix[j * size + j]) ? Math.sqrt(sum) : Infinity;
      }
    }
  }
  return factor;
}

/** Solves factor · factorᵀ · x = right, in place of `right`. */
export function solve(factor: Float64Array, size: number, right: Float64Array): void {
  for (let i = 0; i < size; i++) {
    let sum = right[i];
    for (let k = 0; k < i; k++) {
      sum -= factor[i * size + k] * right[k];
    }
    right[i] = sum / factor[i * size + i];
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = right[i];
    for (let k = i + 1; k < size; k++) {
      sum -= factor[k * size + i] * right[k];
    }
    right[i] = sum / factor[i * size + i];
  }
}

/** The Gram matrix (columns × columns) of a design (rows × columns). */
export function gram(design: Float64Array, rows: number, columns: number): Float64Array {
  const out = new Float64Array(columns * columns);
  for (let row = 0; row < rows; row++) {
    const at = row * columns;
    for (let i = 0; i < columns; i++) {
      const value = design[at + i];
      if (value === 0) {
        continue;
      }
      const to = i * columns;
      for (let j = 0; j <= i; j++) {
        out[to + j] += value * design[at + j];
      }
    }
  }
  for (let i = 0; i < columns; i++) {
    for (let j = i + 1; j < columns; j++) {
      out[i * columns + j] = out[j * columns + i];
    }
  }
  return out;
}
