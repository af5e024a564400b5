import { factorisePenalised } from '../linear/dense';
import { descendByNewton } from '../math/newton';
import { sigmoid, softmax } from '../math/numeric';
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

/**
 * Penalised logistic regression. Updates `weights` (outputs × size) in place, as a warm start. Returns the number of steps.
 */
export function denseLogistic(input: DenseLogistic, penalty: number, weights: Float64Array): number {
  const { products, slopes } = input;
  const { size, outputs, factor, scratch } = slopes;
  const by = outputs === 1 ? 0.25 : 0.5;
  factorisePenalised(products, { size, by, penalty }, factor, scratch.kernels);
  const gradient = (at: Float64Array) => penalisedGradient(input, penalty, at);
  return descendByNewton({ factor, size, gradient }, weights, { steps: MOST_STEPS, tolerance: TOLERANCE });
}

/** The gradient of the log-loss summed over the rows: outputs × size. */
function penalisedGradient(
  { slopes, rows, codes }: DenseLogistic,
  penalty: number,
  weights: Float64Array,
): Float64Array {
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
  return slope;
}
