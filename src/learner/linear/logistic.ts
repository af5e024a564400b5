import { cholesky, solve } from '../math/matrix';
import { sigmoid, softmax } from '../math/numeric';
import type { SparseDesign } from './design';

/** What a logistic regression is fitted to. */
export interface LogisticInput {
  design: SparseDesign;
  /** size × size: the Gram matrix of the design. */
  products: Float64Array;
  size: number;
  /** Outputs: 1 for two classes, else one per class. */
  width: number;
  /** Class of each row of the design. */
  codes: Int32Array;
}

/** The fit ends when no weight moves further: terms are standardised, and held-out rows choose the penalty. */
const TOLERANCE = 1e-3;

/**
 * Logistic regression by Newton steps with a fixed upper bound of the Hessian (D. Böhning, 1992): one factorisation
 * serves all steps, and the loss never rises. Updates `weights` (size × width) in place, as a warm start.
 */
export function logistic(input: LogisticInput, penalty: number, steps: number, weights: Float64Array): void {
  const { size, width, products } = input;
  const factor = penalised(products, size, width === 1 ? 0.25 : 0.5, penalty);
  const gradient = new Float64Array(size * width);
  const one = new Float64Array(size);
  for (let step = 0; step < steps; step++) {
    penalisedGradient(input, penalty, weights, gradient);
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

/** Cholesky factor of `factor` · `products` plus the penalty on every term but the first. */
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

/** Gradient of the penalised log-loss: size × width. */
function penalisedGradient(
  { design, size, width, codes }: LogisticInput,
  penalty: number,
  weights: Float64Array,
  out: Float64Array,
): void {
  const { common, starts, terms, by } = design;
  const everywhere = new Float64Array(width);
  for (let t = 0; t < size; t++) {
    for (let k = 0; k < width; k++) {
      everywhere[k] += common[t] * weights[t * width + k];
      out[t * width + k] = t === 0 ? 0 : penalty * weights[t * width + k];
    }
  }
  const scores = new Float64Array(width);
  const errors = new Float64Array(width);
  for (let i = 0; i < codes.length; i++) {
    const end = starts[i + 1];
    if (width === 1) {
      let score = everywhere[0];
      for (let e = starts[i]; e < end; e++) {
        score += by[e] * weights[terms[e]];
      }
      const error = sigmoid(score) - codes[i];
      errors[0] += error;
      for (let e = starts[i]; e < end; e++) {
        out[terms[e]] += by[e] * error;
      }
      continue;
    }
    scores.set(everywhere);
    for (let e = starts[i]; e < end; e++) {
      const at = terms[e] * width;
      const value = by[e];
      for (let k = 0; k < width; k++) {
        scores[k] += value * weights[at + k];
      }
    }
    softmax(scores, 0, width, scores, 0);
    scores[codes[i]] -= 1;
    for (let k = 0; k < width; k++) {
      errors[k] += scores[k];
    }
    for (let e = starts[i]; e < end; e++) {
      const at = terms[e] * width;
      const value = by[e];
      for (let k = 0; k < width; k++) {
        out[at + k] += value * scores[k];
      }
    }
  }
  for (let t = 0; t < size; t++) {
    for (let k = 0; k < width; k++) {
      out[t * width + k] += common[t] * errors[k];
    }
  }
}
