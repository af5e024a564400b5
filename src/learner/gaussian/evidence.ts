import type { Scratch } from '../kernels/scratch';
import { factorise, invert } from '../linear/dense';
import { solve } from '../math/matrix';
import { exp, log, square } from '../math/numeric';
import { type Additive, type Dimensions, distance, KIND } from './kernel';
import { MaternRows } from './matern-rows';
import { RidgePairs, type RidgeShape } from './ridges';

/**
 * Inputs of the marginal likelihood of `variance` × product + `additiveVariance` × additive kernel + `linearVariance` × linear
 * kernel + `noise`. The parameters are logarithms: of each dimension's rate in the product, of the variances of the product, of
 * the linear kernel and of the noise, of each dimension's rate in the additive kernel, of the odds of its weight there, and of the
 * variance of the additive kernel. Then, for each kernel of one direction, the logarithm of its variance and the weight of each
 * dimension as it is: √5 over its length scale, with a sign.
 */
export interface EvidenceInput {
  dimensions: Dimensions;
  /** Rows × dimensions. */
  positions: Float64Array;
  /** From `listPairs`. */
  pairs: MaternRows;
  /** rows × rows: the linear kernel. */
  linear: Float64Array;
  /** rows. */
  target: Float64Array;
  scratch: Scratch;
}

/** Log-normal priors: where the logarithm is, and how far around. */
interface Prior {
  at: number;
  spread: number;
}
const LINEAR_VARIANCE: Prior = { at: log(0.05), spread: 2 };
const NOISE: Prior = { at: log(0.1), spread: 2 };
/** Only a start: where there is hardly any noise, what bends little over its whole range has a large variance. */
const VARIANCE: Prior = { at: -1, spread: Infinity };
/** In the additive kernel columns begin alone, with length scales of √5 standard deviations. */
const ADDITIVE_RATE: Prior = { at: 0, spread: 1.5 };
const ADDITIVE_ODDS: Prior = { at: -2, spread: 2 };
const ADDITIVE_VARIANCE: Prior = { at: 0, spread: 2 };
const RIDGE_VARIANCE: Prior = { at: -1, spread: 2 };
const RIDGE_WEIGHT: Prior = { at: 0, spread: 3 };
const START_NOISE = 0.2;
/** Added to the noise, so that the matrix stays positive definite. */
export const JITTER = 1e-6;

/** √5 over e^0.5 · √dimensions: the length scale grows with the number of dimensions (C. Hvarfner et al., 2024). */
function expectRate(dimensions: number): Prior {
  return { at: log(Math.sqrt(5 / Math.max(1, dimensions))) - 0.5, spread: 1.5 };
}

/** Of each parameter, in their order. */
function listPriors({ columns }: Dimensions, ridges = 0): Prior[] {
  const each = (prior: Prior): Prior[] => Array.from(columns, () => prior);
  return [
    ...each(expectRate(columns.length)),
    ...[VARIANCE, LINEAR_VARIANCE, NOISE],
    ...each(ADDITIVE_RATE),
    ...each(ADDITIVE_ODDS),
    ADDITIVE_VARIANCE,
    ...Array.from({ length: ridges }, () => [RIDGE_VARIANCE, ...each(RIDGE_WEIGHT)]).flat(),
  ];
}

export function chooseStart(dimensions: Dimensions): Float64Array {
  const start = Float64Array.from(listPriors(dimensions), ({ at }) => at);
  start[dimensions.columns.length + 2] = log(START_NOISE);
  return start;
}

/** What the parameters stand for. */
export interface KernelParameters {
  rates: Float64Array;
  variance: number;
  linearVariance: number;
  noise: number;
  /** Its `share` is its variance. */
  additive: Additive;
  ridges: RidgeShape[];
}

export function readParameters(parameters: Float64Array, count: number): KernelParameters {
  const ofColumns = 3 * count + 4;
  const found = parameters.subarray(0, ofColumns).map(exp);
  const ridges: RidgeShape[] = [];
  for (let at = ofColumns; at < parameters.length; at += count + 1) {
    ridges.push({ variance: exp(parameters[at]), weights: parameters.slice(at + 1, at + 1 + count) });
  }
  const [variance, linearVariance, noise] = found.subarray(count, count + 3);
  return {
    rates: found.slice(0, count),
    variance,
    linearVariance,
    noise,
    additive: {
      share: found[3 * count + 3],
      rates: found.slice(count + 3, 2 * count + 3),
      weights: found.slice(2 * count + 3, 3 * count + 3).map((odds) => odds / (1 + odds)),
    },
    ridges,
  };
}

/**
 * The negative log posterior density of the parameters, up to a constant, with its gradient (Rasmussen and Williams, 2006,
 * 5.9), as a function of the parameters. Without a place for the gradient it takes a third of the time.
 */
export function makeEvidence({ dimensions, positions, pairs, linear, target, scratch }: EvidenceInput) {
  const size = target.length;
  const count = dimensions.columns.length;
  const { kinds } = dimensions;
  // A direction is of numbers alone.
  const along = positions.map((value, i) => (kinds[i % count] === KIND.number ? value : 0));
  const ofRidges = new RidgePairs(along, size);
  const origin = new Float64Array(count);
  const shares = new Float64Array((size * (size - 1)) / 2);
  const sharesOfAdditive = new Float64Array(shares.length);
  const matrix = scratch.numbers(size * size);
  const columns = scratch.numbers(size * size);
  const rows = scratch.numbers(size * size);
  const inverse = scratch.numbers(size * size);
  const weights = new Float64Array(size);
  return (parameters: Float64Array, gradient?: Float64Array): number => {
    const { rates, variance, linearVariance, noise, additive, ridges } = readParameters(parameters, count);
    const priors = listPriors(dimensions, ridges.length);
    const kernel = pairs.plainRow(rates, origin);
    const ofAdditive = pairs.additiveRow(additive, origin);
    for (let i = 0, pair = 0; i < size; i++) {
      for (let j = 0; j < i; j++, pair++) {
        matrix[i * size + j] =
          variance * kernel[pair] + additive.share * ofAdditive[pair] + linearVariance * linear[i * size + j];
      }
      matrix[i * size + i] =
        variance + additive.share + linearVariance * linear[i * size + i] + noise + JITTER;
    }
    ofRidges.add(ridges, matrix);
    factorise(matrix, size, scratch.kernels);
    if (gradient === undefined) {
      weights.set(target);
      solve(matrix, size, weights);
      let value = addPriors(parameters, priors);
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
    const at = { variance: count, linear: count + 1, noise: count + 2, additive: 3 * count + 3 };
    const sharesOfRidges = new Float64Array(ridges.length > 0 ? shares.length : 0);
    let ofDiagonal = 0;
    for (let i = 0, pair = 0; i < size; i++) {
      for (let j = 0; j < i; j++, pair++) {
        const share = inverse[i * size + j] - weights[i] * weights[j];
        sharesOfRidges[pair] = share;
        shares[pair] = variance * share * kernel[pair];
        sharesOfAdditive[pair] = additive.share * share * ofAdditive[pair];
        gradient[at.variance] += shares[pair];
        gradient[at.additive] += sharesOfAdditive[pair];
        gradient[at.linear] += share * linear[i * size + j];
      }
      const share = (inverse[i * size + i] - weights[i] * weights[i]) / 2;
      gradient[at.variance] += variance * share;
      gradient[at.additive] += additive.share * share;
      gradient[at.linear] += share * linear[i * size + i];
      gradient[at.noise] += share;
      ofDiagonal += share;
    }
    gradient[at.linear] *= linearVariance;
    gradient[at.noise] *= noise;
    gradient.set(pairs.slopes(rates, shares));
    pairs.additiveSlopes(additive, sharesOfAdditive).forEach((slope, i) => {
      gradient[(i % 2 === 0 ? count + 3 : 2 * count + 3) + (i >> 1)] = slope;
    });
    ofRidges.writeSlopes(ridges, sharesOfRidges, ofDiagonal, gradient.subarray(at.additive + 1));
    return value + addPriors(parameters, priors, gradient);
  };
}

/** What the priors add to the value, and to the gradient. */
function addPriors(parameters: Float64Array, priors: readonly Prior[], gradient?: Float64Array): number {
  let value = 0;
  priors.forEach(({ at, spread }, i) => {
    const away = (parameters[i] - at) / spread;
    if (gradient !== undefined) {
      gradient[i] += away / spread;
    }
    value += square(away) / 2;
  });
  return value;
}

/**
 * All pairs of rows i > j, each as a position: its distance in each dimension. The kernel with the origin is that of the
 * pair. Must be closed.
 */
export function listPairs({ kinds }: Dimensions, positions: Float64Array): MaternRows {
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
