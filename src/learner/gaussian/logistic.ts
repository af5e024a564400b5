import { solve } from '../math/matrix';
import { sigmoid, softmax } from '../math/numeric';
import { dotAt, factorise } from './dense';

/** Rows to fit a penalised logistic regression to. */
export interface DenseLogistic {
  /** Table rows × size, the first of them always 1: its weight has no penalty. */
  features: Float64Array;
  size: number;
  rows: Int32Array;
  /** size × size, the lower triangle: products of the features over `rows`. */
  products: Float64Array;
  /** Class of each row of the table. */
  codes: Int32Array;
  /** 1 for two classes, else one per class. */
  outputs: number;
}

const MOST_STEPS = 40;
/** The fit ends when no weight moves further. */
const TOLERANCE = 3e-3;
const NEXT_TO_NONE = 1e-6;

/**
 * Logistic regression by Newton steps with a fixed upper bound of the Hessian (D. Böhning, 1992), with the momentum of
 * Y. Nesterov, begun again where it leads astray (B. O'Donoghue and E. Candès, 2015). Updates `weights` (outputs × size)
 * in place, as a warm start. Returns the number of steps.
 */
export function denseLogistic(input: DenseLogistic, penalty: number, weights: Float64Array): number {
  const { size, products, outputs } = input;
  const factor = products.map((value) => value * (outputs === 1 ? 0.25 : 0.5));
  for (let i = 0; i < size; i++) {
    factor[i * size + i] += i === 0 ? NEXT_TO_NONE : penalty;
  }
  factorise(factor, size);
  const ahead = weights.slice();
  const gradient = new Float64Array(weights.length);
  const next = new Float64Array(weights.length);
  let pace = 1;
  let step = 0;
  for (let furthest = Infinity; step < MOST_STEPS && furthest >= TOLERANCE; step++) {
    penalisedGradient(input, penalty, ahead, gradient);
    furthest = 0;
    let uphill = 0;
    for (let from = 0; from < weights.length; from += size) {
      solve(factor, size, gradient.subarray(from, from + size));
    }
    for (let i = 0; i < weights.length; i++) {
      next[i] = ahead[i] - gradient[i];
      furthest = Math.max(furthest, Math.abs(gradient[i]));
      uphill += gradient[i] * (next[i] - weights[i]);
    }
    const before = uphill > 0 ? 1 : pace;
    pace = (1 + Math.sqrt(1 + 4 * before * before)) / 2;
    const momentum = (before - 1) / pace;
    for (let i = 0; i < weights.length; i++) {
      ahead[i] = next[i] + momentum * (next[i] - weights[i]);
    }
    weights.set(next);
  }
  return step;
}

/** Of the log-loss summed over the rows: outputs × size. */
function penalisedGradient(
  { features, size, rows, codes, outputs }: DenseLogistic,
  penalty: number,
  weights: Float64Array,
  out: Float64Array,
): void {
  for (let i = 0; i < out.length; i++) {
    out[i] = i % size === 0 ? 0 : penalty * weights[i];
  }
  const errors = new Float64Array(outputs);
  for (const row of rows) {
    const at = row * size;
    for (let k = 0; k < outputs; k++) {
      errors[k] = dotAt(features, at, weights, k * size, size);
    }
    if (outputs === 1) {
      errors[0] = sigmoid(errors[0]) - codes[row];
    } else {
      softmax(errors, 0, outputs, errors, 0);
      errors[codes[row]] -= 1;
    }
    for (let k = 0; k < outputs; k++) {
      const error = errors[k];
      const to = k * size;
      for (let i = 0; i < size; i++) {
        out[to + i] += error * features[at + i];
      }
    }
  }
}
