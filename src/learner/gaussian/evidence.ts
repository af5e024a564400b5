import type { Scratch } from '../kernels/scratch';
import { solve } from '../math/matrix';
import { exp, log, square } from '../math/numeric';
import { factorise, invert } from './dense';
import { type Dimensions, distance, KIND } from './kernel';
import { MaternRows } from './matern-rows';

/**
 * Inputs of the marginal likelihood of `variance` × kernel + `linearVariance` × linear kernel + `noise`. The parameters
 * are the logarithms of each dimension's rate, then of the three variances.
 */
export interface EvidenceInput {
  dimensions: Dimensions;
  /** From `pairsOf`. */
  pairs: MaternRows;
  /** rows × rows: the linear kernel. */
  linear: Float64Array;
  /** rows. */
  target: Float64Array;
  /** For four times as many numbers as `linear` has. */
  scratch: Scratch;
}

/** Log-normal priors. The length scale grows with the number of dimensions (C. Hvarfner et al., 2024). */
const PRIOR_SPREAD = { rate: 1.5, linearVariance: 2, noise: 2 };
const PRIOR_LINEAR_VARIANCE = 0.05;
const PRIOR_NOISE = 0.1;
const START_NOISE = 0.2;
/** Added to the noise, so that the matrix stays positive definite. */
export const JITTER = 1e-6;

/** √5 over e^0.5 · √dimensions. */
function priorRate(dimensions: number): number {
  return log(Math.sqrt(5 / Math.max(1, dimensions))) - 0.5;
}

export function startOf({ columns }: Dimensions): Float64Array {
  const rates = new Float64Array(columns.length).fill(priorRate(columns.length));
  return Float64Array.of(...rates, 0, log(PRIOR_LINEAR_VARIANCE), log(START_NOISE));
}

/**
 * The negative log posterior density of the parameters, up to a constant, with its gradient (Rasmussen and Williams, 2006,
 * 5.9), as a function of the parameters. Without a place for the gradient it takes a third of the time.
 */
export function evidenceOf({ dimensions, pairs, linear, target, scratch }: EvidenceInput) {
  const size = target.length;
  const count = dimensions.columns.length;
  const origin = new Float64Array(count);
  const shares = new Float64Array((size * (size - 1)) / 2);
  const matrix = scratch.numbers(size * size);
  const columns = scratch.numbers(size * size);
  const rows = scratch.numbers(size * size);
  const inverse = scratch.numbers(size * size);
  const weights = new Float64Array(size);
  const rate = new Float64Array(count);
  const unused = new Float64Array(count + 3);
  return (parameters: Float64Array, gradient?: Float64Array): number => {
    for (let d = 0; d < count; d++) {
      rate[d] = exp(parameters[d]);
    }
    const variance = exp(parameters[count]);
    const linearVariance = exp(parameters[count + 1]);
    const noise = exp(parameters[count + 2]);
    const kernel = pairs.row(rate, origin);
    for (let i = 0, pair = 0; i < size; i++) {
      for (let j = 0; j < i; j++, pair++) {
        matrix[i * size + j] = variance * kernel[pair] + linearVariance * linear[i * size + j];
      }
      matrix[i * size + i] = variance + linearVariance * linear[i * size + i] + noise + JITTER;
    }
    factorise(matrix, size, scratch.kernels);
    if (gradient === undefined) {
      weights.set(target);
      solve(matrix, size, weights);
      let value = addPriors(parameters, unused, count);
      for (let i = 0; i < size; i++) {
        value += 0.5 * target[i] * weights[i] + log(matrix[i * size + i]);
      }
      return value;
    }
    invert(matrix, size, { columns, rows, out: inverse }, scratch.kernels);
    weights.fill(0);
    let value = 0;
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) {
        weights[i] += (j < i ? inverse[i * size + j] : inverse[j * size + i]) * target[j];
      }
      value += 0.5 * target[i] * weights[i] + log(matrix[i * size + i]);
    }
    gradient.fill(0);
    for (let i = 0, pair = 0; i < size; i++) {
      for (let j = 0; j < i; j++, pair++) {
        const share = inverse[i * size + j] - weights[i] * weights[j];
        const own = share * kernel[pair];
        shares[pair] = own;
        gradient[count] += own;
        gradient[count + 1] += share * linear[i * size + j];
      }
      const share = (inverse[i * size + i] - weights[i] * weights[i]) / 2;
      gradient[count] += share;
      gradient[count + 1] += share * linear[i * size + i];
      gradient[count + 2] += share;
    }
    gradient.set(pairs.slopes(rate, shares));
    for (let d = 0; d <= count; d++) {
      gradient[d] *= variance;
    }
    gradient[count + 1] *= linearVariance;
    gradient[count + 2] *= noise;
    return value + addPriors(parameters, gradient, count);
  };
}

/** What the priors add to the value, and to the gradient. */
function addPriors(parameters: Float64Array, gradient: Float64Array, count: number): number {
  const prior = priorRate(count);
  let value = 0;
  for (let d = 0; d < count; d++) {
    value += addPrior(parameters, gradient, d, prior, PRIOR_SPREAD.rate);
  }
  value += addPrior(parameters, gradient, count + 1, log(PRIOR_LINEAR_VARIANCE), PRIOR_SPREAD.linearVariance);
  return value + addPrior(parameters, gradient, count + 2, log(PRIOR_NOISE), PRIOR_SPREAD.noise);
}

function addPrior(
  parameters: Float64Array,
  gradient: Float64Array,
  at: number,
  mean: number,
  spread: number,
): number {
  const away = (parameters[at] - mean) / spread;
  gradient[at] += away / spread;
  return square(away) / 2;
}

/**
 * All pairs of rows i > j, each as a position: its distance in each dimension. The kernel with the origin is that of the
 * pair. Must be closed.
 */
export function pairsOf({ kinds }: Dimensions, positions: Float64Array): MaternRows {
  const count = kinds.length;
  const size = positions.length / count;
  const gaps = new Float64Array(((size * (size - 1)) / 2) * count);
  let at = 0;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < i; j++) {
      for (let d = 0; d < count; d++) {
        gaps[at++] = distance(kinds[d], positions[i * count + d], positions[j * count + d]);
      }
    }
  }
  return new MaternRows({ kinds: kinds.map(() => KIND.number) }, gaps);
}
