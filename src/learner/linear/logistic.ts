import { cholesky, solve } from '../math/matrix';
import { sigmoid, softmax } from '../math/numeric';
import type { SparseDesign } from './design';

/** What a logistic regression is fitted to. */
export interface LogisticInput {
  design: SparseDesign;
  /** Size × size: the Gram matrix of the design. */
  products: Float64Array;
  size: number;
  /** Outputs: 1 for two classes, else one per class. */
  width: number;
  /** The class of each row of the design. */
  codes: Int32Array;
}

/**
 * The fit ends when no weight moves by more than this: terms are standardised, and held-out rows choose the penalty.
 */
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
    score(design, i, weights, width, everywhere, scores);
    softmax(scores, 0, width, scores, 0);
    scores[codes[i]] -= 1;
    for (let k = 0; k < width; k++) {
      errors[k] += scores[k];
    }
    spread(design, i, scores, width, out);
  }
  for (let t = 0; t < size; t++) {
    for (let k = 0; k < width; k++) {
      out[t * width + k] += common[t] * errors[k];
    }
  }
}

/** The scores of a row, three at a time: a sum kept in memory would wait for the previous store. */
function score(
  { starts, terms, by }: SparseDesign,
  row: number,
  weights: Float64Array,
  width: number,
  everywhere: Float64Array,
  out: Float64Array,
): void {
  const end = starts[row + 1];
  let k = 0;
  for (; k + 2 < width; k += 3) {
    let first = everywhere[k];
    let second = everywhere[k + 1];
    let third = everywhere[k + 2];
    for (let e = starts[row]; e < end; e++) {
      const at = terms[e] * width + k;
      const value = by[e];
      first += value * weights[at];
      second += value * weights[at + 1];
      third += value * weights[at + 2];
    }
    out[k] = first;
    out[k + 1] = second;
    out[k + 2] = third;
  }
  for (; k < width; k++) {
    let sum = everywhere[k];
    for (let e = starts[row]; e < end; e++) {
      sum += by[e] * weights[terms[e] * width + k];
    }
    out[k] = sum;
  }
}

/** Adds the errors of a row to the gradient. */
function spread(
  { starts, terms, by }: SparseDesign,
  row: number,
  errors: Float64Array,
  width: number,
  out: Float64Array,
): void {
  const end = starts[row + 1];
  let k = 0;
  for (; k + 2 < width; k += 3) {
    const first = errors[k];
    const second = errors[k + 1];
    const third = errors[k + 2];
    for (let e = starts[row]; e < end; e++) {
      const at = terms[e] * width + k;
      const value = by[e];
      out[at] += value * first;
      out[at + 1] += value * second;
      out[at + 2] += value * third;
    }
  }
  for (; k < width; k++) {
    const error = errors[k];
    for (let e = starts[row]; e < end; e++) {
      out[terms[e] * width + k] += by[e] * error;
    }
  }
}
