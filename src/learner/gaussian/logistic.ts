import { sigmoid, softmax } from '../math/numeric';
import { factorise, solveSeveral } from './dense';
import type { Slopes } from './slopes';

/** Rows to fit a penalised logistic regression to. */
export interface DenseLogistic {
  /** Holds the features of all rows of the table. The first is always 1, and its weight is not penalised. */
  slopes: Slopes;
  rows: Int32Array;
  /** Size × size, the lower triangle: the Gram matrix of the features over `rows`. */
  products: Float64Array;
  /** Class of each row of the table. */
  codes: Int32Array;
}

const MOST_STEPS = 40;
/** The fit ends when no weight moves by more than this. */
const TOLERANCE = 3e-3;
const NEXT_TO_NONE = 1e-6;

/**
 * Logistic regression by Newton steps with a fixed upper bound of the Hessian (D. Böhning, 1992) and Nesterov
 * momentum, which restarts when it points uphill (B. O'Donoghue and E. Candès, 2015). Updates `weights` (outputs ×
 * size) in place, as a warm start. Returns the number of steps.
 */
export function denseLogistic(input: DenseLogistic, penalty: number, weights: Float64Array): number {
  const { products, slopes } = input;
  const { size, outputs, slope, factor, scratch } = slopes;
  for (let i = 0; i < factor.length; i++) {
    factor[i] = products[i] * (outputs === 1 ? 0.25 : 0.5);
  }
  for (let i = 0; i < size; i++) {
    factor[i * size + i] += i === 0 ? NEXT_TO_NONE : penalty;
  }
  factorise(factor, size, scratch.kernels);
  const ahead = weights.slice();
  const next = new Float64Array(weights.length);
  let pace = 1;
  let step = 0;
  for (let furthest = Infinity; step < MOST_STEPS && furthest >= TOLERANCE; step++) {
    penalisedGradient(input, penalty, ahead);
    furthest = 0;
    let uphill = 0;
    solveSeveral(factor, size, slope);
    for (let i = 0; i < weights.length; i++) {
      next[i] = ahead[i] - slope[i];
      furthest = Math.max(furthest, Math.abs(slope[i]));
      uphill += slope[i] * (next[i] - weights[i]);
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

/** The gradient of the log-loss summed over the rows: outputs × size. */
function penalisedGradient(
  { slopes, rows, codes }: DenseLogistic,
  penalty: number,
  weights: Float64Array,
): void {
  const { size, outputs, errors, slope } = slopes;
  for (let i = 0; i < slope.length; i++) {
    slope[i] = i % size === 0 ? 0 : penalty * weights[i];
  }
  slopes.weights.set(weights);
  slopes.score(rows);
  for (let i = 0; i < rows.length; i++) {
    const code = codes[rows[i]];
    if (outputs === 1) {
      errors[i] = sigmoid(errors[i]) - code;
      continue;
    }
    softmax(errors, i * outputs, outputs, errors, i * outputs);
    errors[i * outputs + code] -= 1;
  }
  slopes.addErrors(rows);
}
