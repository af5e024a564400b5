import { cholesky, solve } from '../math/matrix';
import type { SparseSlopes, SparseSlopesInput } from './sparse-slopes';

/** What a logistic regression is fitted to. */
export interface LogisticInput extends SparseSlopesInput {
  /** Size × size: the Gram matrix of the design. */
  products: Float64Array;
}

/**
 * The fit ends when no weight moves by more than this: terms are standardised, and held-out rows choose the penalty.
 */
const TOLERANCE = 1e-3;

/**
 * Logistic regression by Newton steps with a fixed upper bound of the Hessian (D. Böhning, 1992): one factorisation
 * serves all steps, and the loss never rises. Updates `weights` (size × width) in place, as a warm start.
 *
 * @param slopes of `input`: opened once for all penalties
 */
export function logistic(
  slopes: SparseSlopes,
  input: LogisticInput,
  penalty: number,
  steps: number,
  weights: Float64Array,
): void {
  const { size, width, products } = input;
  const factor = penalised(products, size, width === 1 ? 0.25 : 0.5, penalty);
  const gradient = new Float64Array(size * width);
  const one = new Float64Array(size);
  for (let step = 0; step < steps; step++) {
    penalisedGradient(slopes, input, penalty, weights, gradient);
    let furthest = 0;
    for (let k = 0; k < width; k++) {
      for (let t = 0; t < size; t++) {
        one[t] = gradient[t * width + k];
      }
      solve(factor, size, one);
      for (let t = 0; t < size; t++) {
        weights[t * width + k] -= one[t];
        furthest = Math.max(furthest, Math.abs(one[t]));
      }
    }
    if (furthest < TOLERANCE) {
      break;
    }
  }
}

/** The Cholesky factor of `factor` · `products` plus the penalty on every term but the first. */
export function penalised(
  products: Float64Array,
  size: number,
  factor: number,
  penalty: number,
): Float64Array {
  const matrix = products.map((value) => value * factor);
  for (let i = 0; i < size; i++) {
    matrix[i * size + i] += i === 0 ? 1e-6 : penalty;
  }
  return cholesky(matrix, size);
}

/** The gradient of the penalised log-loss: size × width. */
function penalisedGradient(
  slopes: SparseSlopes,
  { design, size, width }: LogisticInput,
  penalty: number,
  weights: Float64Array,
  out: Float64Array,
): void {
  const { common } = design;
  const everywhere = new Float64Array(width);
  for (let t = 0; t < size; t++) {
    for (let k = 0; k < width; k++) {
      everywhere[k] += common[t] * weights[t * width + k];
      out[t * width + k] = t === 0 ? 0 : penalty * weights[t * width + k];
    }
  }
  const errors = slopes.addRows(everywhere, weights, out);
  for (let t = 0; t < size; t++) {
    for (let k = 0; k < width; k++) {
      out[t * width + k] += common[t] * errors[k];
    }
  }
}
