import { sigmoid, softmax } from '../math/numeric';

/** Out-of-fold scores of the candidates, and the target of the same rows. */
export interface StackInput {
  /** Per candidate: `width` scores per row. */
  scores: Float64Array[];
  width: number;
  target: ArrayLike<number>;
  regression: boolean;
  /** Candidates that only a longer search adds. They get a weight where the rows speak for it, not by default. */
  extra?: boolean[];
}

/** Pull of the weights towards equal shares, in rows. */
const PULL = 3;
/** Pull of all weights towards those found without the extra candidates, in rows. */
const EXTRA_PULL = 30;
const SWEEPS = 30;
/** Candidates of less weight are left out. */
const LEAST = 0.03;

/**
 * Weights with which the candidates' scores are added (stacking, D. Wolpert, 1992): not negative, and summing to 1.
 * Coordinate-wise Newton steps on the squared error or the log-loss.
 */
export function stackWeights(input: StackInput): Float64Array {
  const { extra, scores } = input;
  const usual = scores.map((_, c) => extra?.[c] !== true);
  const shares = Float64Array.from(usual, (one) => (one ? 1 / usual.filter(Boolean).length : 0));
  const weights = moved(input, shares, PULL, usual);
  if (!usual.includes(false)) {
    return normalised(weights);
  }
  return normalised(moved(input, normalised(weights), EXTRA_PULL));
}

/** Weights from `start` on, pulled back there; of the `movable` candidates alone, where given. */
function moved(input: StackInput, start: Float64Array, pull: number, movable?: boolean[]): Float64Array {
  const count = input.scores.length;
  const weights = start.slice();
  if (count === 1 || input.target.length === 0) {
    return weights;
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let furthest = 0;
    for (let c = 0; c < count; c++) {
      if (movable?.[c] === false) {
        continue;
      }
      const { slope, curvature } = input.regression
        ? squaredSlope(input, weights, c)
        : logSlope(input, weights, c);
      const pulled = slope + pull * (weights[c]! - start[c]!);
      const next = Math.max(0, weights[c]! - pulled / (curvature + pull));
      furthest = Math.max(furthest, Math.abs(next - weights[c]!));
      weights[c] = next;
    }
    if (furthest < 1e-4) {
      break;
    }
  }
  return weights;
}

function normalised(weights: Float64Array): Float64Array {
  const sum = weights.reduce((a, b) => a + b, 0);
  if (!(sum > 0)) {
    return weights.fill(1 / weights.length);
  }
  const kept = weights.map((weight) => (weight / sum < LEAST ? 0 : weight));
  const rest = kept.reduce((a, b) => a + b, 0);
  return kept.map((weight) => weight / rest);
}

function squaredSlope({ scores, target }: StackInput, weights: Float64Array, c: number) {
  let slope = 0;
  let curvature = 0;
  for (let row = 0; row < target.length; row++) {
    let error = -target[row]!;
    for (let k = 0; k < scores.length; k++) {
      error += weights[k]! * scores[k]![row]!;
    }
    const own = scores[c]![row]!;
    slope += error * own;
    curvature += own * own;
  }
  return { slope, curvature };
}

function logSlope({ scores, width, target }: StackInput, weights: Float64Array, c: number) {
  const mixed = new Float64Array(width);
  const own = scores[c]!;
  let slope = 0;
  let curvature = 0;
  for (let row = 0; row < target.length; row++) {
    const at = row * width;
    for (let k = 0; k < width; k++) {
      let sum = 0;
      for (let i = 0; i < scores.length; i++) {
        sum += weights[i]! * scores[i]![at + k]!;
      }
      mixed[k] = sum;
    }
    const code = target[row]!;
    if (width === 1) {
      const p = sigmoid(mixed[0]!);
      slope += (p - code) * own[at]!;
      curvature += p * (1 - p) * own[at]! * own[at]!;
      continue;
    }
    softmax(mixed, 0, width, mixed, 0);
    let mean = 0;
    let square = 0;
    for (let k = 0; k < width; k++) {
      mean += mixed[k]! * own[at + k]!;
      square += mixed[k]! * own[at + k]! * own[at + k]!;
    }
    slope += mean - own[at + code]!;
    curvature += square - mean * mean;
  }
  return { slope, curvature };
}
