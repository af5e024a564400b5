/**
 * The Cholesky factor of a symmetric positive definite matrix (size × size), in its lower triangle; the upper one is
 * unchanged. A pivot lost to rounding becomes infinity, which sets its unknown to 0.
 */
export function cholesky(matrix: Float64Array, size: number): Float64Array {
  const factor = matrix.slice();
  for (let j = 0; j < size; j++) {
    const own = j * size;
    let pivot = factor[own + j];
    for (let k = 0; k < j; k++) {
      pivot -= factor[own + k] * factor[own + k];
    }
    const root = pivot > 1e-10 * Math.abs(matrix[own + j]) ? Math.sqrt(pivot) : Infinity;
    factor[own + j] = root;
    let i = j + 1;
    // Four sums at a time: one alone would wait for each of its additions.
    for (; i + 3 < size; i += 4) {
      const row0 = i * size;
      const row1 = row0 + size;
      const row2 = row1 + size;
      const row3 = row2 + size;
      let sum0 = factor[row0 + j];
      let sum1 = factor[row1 + j];
      let sum2 = factor[row2 + j];
      let sum3 = factor[row3 + j];
      for (let k = 0; k < j; k++) {
        const by = factor[own + k];
        sum0 -= factor[row0 + k] * by;
        sum1 -= factor[row1 + k] * by;
        sum2 -= factor[row2 + k] * by;
        sum3 -= factor[row3 + k] * by;
      }
      factor[row0 + j] = sum0 / root;
      factor[row1 + j] = sum1 / root;
      factor[row2 + j] = sum2 / root;
      factor[row3 + j] = sum3 / root;
    }
    for (; i < size; i++) {
      let sum = factor[i * size + j];
      for (let k = 0; k < j; k++) {
        sum -= factor[i * size + k] * factor[own + k];
      }
      factor[i * size + j] = sum / root;
    }
  }
  return factor;
}

/** Solves factor · factorᵀ · x = right, in place of `right`. The order of additions is fixed, so the bits are the same everywhere. */
export function solve(factor: Float64Array, size: number, right: Float64Array): void {
  for (let i = 0, row = 0; i < size; i++, row += size) {
    right[i] = (right[i] - dotAt(factor, row, right, 0, i)) / factor[row + i];
  }
  // By rows of the factor: a column of it is all over the memory.
  for (let i = size - 1, row = i * size; i >= 0; i--, row -= size) {
    const value = right[i] / factor[row + i];
    right[i] = value;
    for (let k = 0; k < i; k++) {
      right[k] -= factor[row + k] * value;
    }
  }
}

/** Adds `factor` times the values to the sum. */
export function addTimes(factor: number, values: Float64Array, sum: Float64Array): void {
  for (let i = 0; i < sum.length; i++) {
    sum[i] += factor * values[i];
  }
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}

/** The sum of a[i + k] · b[j + k] for k below `count`, four sums at a time. */
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

/** The Gram matrix (columns × columns) of a design (rows × columns) of finite numbers, of which most may be 0. */
export function gram(design: Float64Array, rows: number, columns: number): Float64Array {
  const out = new Float64Array(columns * columns);
  const filled = new Int32Array(columns);
  for (let row = 0; row < rows; row++) {
    const at = row * columns;
    let count = 0;
    for (let i = 0; i < columns; i++) {
      filled[count] = i;
      count += design[at + i] === 0 ? 0 : 1;
    }
    for (let k = 0; k < count; k++) {
      const to = filled[k] * columns;
      const value = design[at + filled[k]];
      for (let l = 0; l <= k; l++) {
        out[to + filled[l]] += value * design[at + filled[l]];
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
