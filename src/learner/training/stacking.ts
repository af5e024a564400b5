import { errorsOf } from '../../metrics/regression';
import { rocAuc } from '../../metrics/roc-auc';
import type { Scores } from '../../metrics/scores';
import { logLoss, probabilities } from '../calibration/calibrate';
import { dot } from '../math/matrix';
import { log, sigmoid, softmax, square } from '../math/numeric';
import { STACKING } from '../tuned';

/** Out-of-fold scores of the candidates, and the target of the same rows. */
export interface StackInput {
  /** Candidates × (rows × width). */
  scores: Float64Array[];
  /** Scores per row. */
  width: number;
  /** Rows: values, or class codes. */
  target: ArrayLike<number>;
  regression: boolean;
  /** A candidate that makes models larger and slower: it is dropped unless it lowers the loss enough. */
  costly?: number;
}

const SWEEPS = 30;

/**
 * Weights of the candidates' scores in their sum (stacking: D. Wolpert, 1992): non-negative, summing to 1, with the
 * lowest squared error or log-loss.
 */
export function stackWeights(given: StackInput): Float64Array {
  const input = given.regression ? withoutWildErrors(given) : given;
  const all = fitted(input);
  if (input.costly === undefined || all[input.costly] === 0) {
    return normalised(all);
  }
  const without = fitted(input, input.costly);
  const [loss, lowest] = [sumLosses(input, without), sumLosses(input, all)];
  const gain = STACKING.costly * (input.regression ? 2 : 1);
  return normalised(loss - lowest >= gain * loss ? all : without);
}

/** Replaces scores by errors, with targets of 0, and limits the influence of any row. */
function withoutWildErrors(input: StackInput): StackInput {
  const { scores, target } = input;
  const shares = limitErrors(scores, target);
  const errors = scores.map((own) => own.map((score, row) => (score - target[row]) * shares[row]));
  return { ...input, scores: errors, target: new Float64Array(target.length) };
}

/**
 * Weights before the smallest are dropped. For classes they need not sum to 1: their sum sets the confidence of the
 * scores.
 */
function fitted(input: StackInput, leftOut?: number): Float64Array {
  const movable = input.scores.map((_, c) => c !== leftOut);
  const shares = Float64Array.from(movable, (one) => (one ? 1 / movable.filter(Boolean).length : 0));
  return fitWeights(input, shares, STACKING.prior[input.regression ? 'squared_error' : 'log_loss'], movable);
}

/** The loss of the weighted sum: squared error or log-loss, summed over rows. */
function sumLosses({ scores, width, target, regression }: StackInput, weights: Float64Array): number {
  const one = new Float64Array(width);
  let sum = 0;
  for (let row = 0; row < target.length; row++) {
    for (let k = 0; k < width; k++) {
      one[k] = scores.reduce((mixed, own, c) => mixed + weights[c] * own[row * width + k], 0);
    }
    if (regression) {
      sum += square(one[0] - target[row]);
      continue;
    }
    if (width === 1) {
      one[0] = sigmoid(target[row] === 1 ? one[0] : -one[0]);
    } else {
      softmax(one, 0, width, one, 0);
    }
    sum -= log(Math.max(one[width === 1 ? 0 : target[row]], 1e-15));
  }
  return sum;
}

/** Fits the `movable` weights with a prior of `strength` rows at `start`. */
function fitWeights(
  input: StackInput,
  start: Float64Array,
  strength: number,
  movable: boolean[],
): Float64Array {
  const count = input.scores.length;
  const weights = start.slice();
  if (count === 1 || input.target.length === 0) {
    return weights;
  }
  if (input.regression) {
    const errors = input.scores.map((own) => own.map((score, row) => score - input.target[row]));
    return weightsOfErrors({ errors, start, strength, movable });
  }
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let furthest = 0;
    for (let c = 0; c < count; c++) {
      if (!movable[c]) {
        continue;
      }
      const { gradient, hessian } = logLossStep(input, weights, c);
      const penalised = gradient + strength * (weights[c] - start[c]);
      const next = Math.max(0, weights[c] - penalised / (hessian + strength));
      furthest = Math.max(furthest, Math.abs(next - weights[c]));
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
  const kept = weights.map((weight) => (weight / sum < STACKING.least ? 0 : weight));
  const rest = kept.reduce((a, b) => a + b, 0);
  return kept.map((weight) => weight / rest);
}

/** Gradient and hessian of the log-loss in the weight of candidate `c`, summed over rows. */
function logLossStep({ scores, width, target }: StackInput, weights: Float64Array, c: number) {
  const mixed = new Float64Array(width);
  const own = scores[c];
  let gradient = 0;
  let hessian = 0;
  for (let row = 0; row < target.length; row++) {
    const at = row * width;
    for (let k = 0; k < width; k++) {
      let sum = 0;
      for (let i = 0; i < scores.length; i++) {
        sum += weights[i] * scores[i][at + k];
      }
      mixed[k] = sum;
    }
    const code = target[row];
    if (width === 1) {
      const p = sigmoid(mixed[0]);
      gradient += (p - code) * own[at];
      hessian += p * (1 - p) * own[at] * own[at];
      continue;
    }
    softmax(mixed, 0, width, mixed, 0);
    let mean = 0;
    let squares = 0;
    for (let k = 0; k < width; k++) {
      mean += mixed[k] * own[at + k];
      squares += mixed[k] * own[at + k] * own[at + k];
    }
    gradient += mean - own[at + code];
    hessian += squares - mean * mean;
  }
  return { gradient, hessian };
}

/** Metrics that thinking can optimise; sign 1 if more is better. */
const METRICS: Record<string, { score: keyof Scores; sign: 1 | -1 }> = {
  accuracy: { score: 'accuracy', sign: 1 },
  roc_auc: { score: 'roc_auc', sign: 1 },
  log_loss: { score: 'log_loss', sign: -1 },
  rmse: { score: 'rmse', sign: -1 },
  mae: { score: 'mae', sign: -1 },
  r2: { score: 'r2', sign: 1 },
};

/** Whether thinking can optimise this metric for this task. */
export function knownMetric(metric: string, task: 'classification' | 'regression'): boolean {
  const forClasses = ['accuracy', 'roc_auc', 'log_loss'].includes(metric);
  return metric in METRICS && forClasses === (task === 'classification');
}

/**
 * Weights of the candidates: from stacking or, for a metric that stacking does not optimise, the best by that metric
 * of stacking, equal shares, and each candidate alone.
 */
export function chooseWeights(input: StackInput, classes: number, metric: string | undefined): Float64Array {
  const stacked = stackWeights(input);
  const count = stacked.length;
  if (metric === undefined || metric === 'log_loss' || metric === 'rmse' || metric === 'r2') {
    return stacked;
  }
  const options = [stacked, new Float64Array(count).fill(1 / count)];
  for (let c = 0; c < count; c++) {
    options.push(Float64Array.from({ length: count }, (_, i) => (i === c ? 1 : 0)));
  }
  let best = stacked;
  let bestValue = -Infinity;
  for (const weights of options) {
    const value = metricValue(input, weights, classes, metric);
    if (value > bestValue) {
      bestValue = value;
      best = weights;
    }
  }
  return best;
}

/** The weighted sum of the candidates' scores: rows × width. */
export function weightedSum(scores: Float64Array[], weights: Float64Array): Float64Array {
  const sum = new Float64Array(scores[0].length);
  scores.forEach((one, c) => {
    for (let i = 0; i < sum.length; i++) {
      sum[i] += weights[c] * one[i];
    }
  });
  return sum;
}

function metricValue(input: StackInput, weights: Float64Array, classes: number, metric: string): number {
  const mixed = weightedSum(input.scores, weights);
  const scores = input.regression
    ? errorsOf(mixed, Float64Array.from(input.target))
    : scoreProbabilities(
        probabilities(mixed, input.width, classes, 1),
        Int32Array.from(input.target),
        classes,
      );
  const { score, sign } = METRICS[metric];
  return sign * (scores[score] ?? -Infinity);
}

const MOST_SWEEPS = 500;
const TOLERANCE = 1e-6;

/** `start`: weights that sum to 1; those that are not `movable` stay as they are. */
interface ErrorInput {
  /** Candidates × rows: the error of each prediction. */
  errors: Float64Array[];
  start: Float64Array;
  /** Strength of the prior at `start`, in rows with the best candidate's errors. */
  strength: number;
  movable: boolean[];
}

/**
 * Weights of lowest squared error that are non-negative and sum to 1. Because they sum to 1, the error of the
 * weighted sum is the weighted sum of the errors, so noise that all candidates share does not affect the choice.
 * Minimises over pairs of weights in turn, each exactly (as in SMO: J. Platt, 1998).
 */
export function weightsOfErrors({ errors, start, strength, movable }: ErrorInput): Float64Array {
  const count = errors.length;
  const products = errors.map((one) => errors.map((other) => dot(one, other)));
  const squares = products.map((row, c) => row[c]);
  const best = errors[squares.indexOf(Math.min(...squares))];
  const prior = (strength * dot(best, best)) / Math.max(1, evenRows(best));
  const weights = start.slice();
  const slope = (c: number) => {
    let sum = prior * (weights[c] - start[c]);
    for (let other = 0; other < count; other++) {
      sum += products[c][other] * weights[other];
    }
    return sum;
  };
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let furthest = 0;
    for (let a = 1; a < count; a++) {
      for (let b = 0; b < a; b++) {
        const curvature = products[a][a] + products[b][b] - 2 * products[a][b] + 2 * prior;
        if (!movable[a] || !movable[b] || !(curvature > 0)) {
          continue;
        }
        const step = Math.max(-weights[a], Math.min(weights[b], (slope(b) - slope(a)) / curvature));
        weights[a] += step;
        weights[b] -= step;
        furthest = Math.max(furthest, square(step));
      }
    }
    if (furthest < square(TOLERANCE)) {
      break;
    }
  }
  return weights;
}

/**
 * The effective number of rows: that many normal errors would determine the mean square as precisely. A few large
 * errors make it uncertain.
 */
function evenRows(errors: Float64Array): number {
  const second = dot(errors, errors);
  const fourth = errors.reduce((sum, error) => sum + square(square(error)), 0);
  return fourth > 0 ? Math.min(errors.length, (3 * square(second)) / fourth) : errors.length;
}

/**
 * Per row, the factor for its errors. If the candidates' mean is far off, the errors of all candidates are scaled
 * down: otherwise a single row, such as a typing error, would choose between them.
 */
function limitErrors(scores: Float64Array[], target: ArrayLike<number>): Float64Array {
  const sizes = Float64Array.from(target, (value, row) =>
    Math.abs(scores.reduce((sum, own) => sum + (own[row] - value) / scores.length, 0)),
  );
  const most = STACKING.mostOff * sizes.slice().sort()[Math.floor(STACKING.usualPart * (sizes.length - 1))];
  return sizes.map((size) => (most > 0 && size > most ? most / size : 1));
}

/**
 * The fraction of a standardised target's variance that the best candidate leaves, with outliers scaled down as
 * above.
 */
export function leastLeft(scores: Float64Array[], target: Float64Array): number {
  const shares = limitErrors(scores, target);
  const squares = (own: (row: number) => number) =>
    shares.reduce((sum, share, row) => sum + square(share * own(row)), 0);
  const errors = scores.map((score) => squares((row) => score[row] - target[row]));
  return Math.min(...errors) / squares((row) => target[row]);
}

/**
 * Accuracy, log-loss and, if both classes occur, ROC AUC (the mean over classes of each against the rest).
 *
 * @param probas rows × classes
 */
export function scoreProbabilities(probas: Float64Array, codes: Int32Array, classes: number): Scores {
  let right = 0;
  for (let row = 0; row < codes.length; row++) {
    if (mostProbable(probas, row, classes) === codes[row]) {
      right++;
    }
  }
  const scores: Scores = { rows: codes.length };
  if (codes.length === 0) {
    return scores;
  }
  scores.accuracy = right / codes.length;
  // Probabilities that add up to a little more than 1 are no better than certain.
  scores.log_loss = Math.max(0, logLoss(probas, codes, classes));
  const auc = classes === 2 ? areaUnderRoc(probas, codes, 2, 1) : meanAuc(probas, codes, classes);
  if (auc !== undefined) {
    scores.roc_auc = auc;
  }
  return scores;
}

/** The class of the largest probability; the first one of a tie. */
function mostProbable(probas: Float64Array, row: number, classes: number): number {
  let best = 0;
  for (let k = 1; k < classes; k++) {
    if (probas[row * classes + k] > probas[row * classes + best]) {
      best = k;
    }
  }
  return best;
}

/** The ROC AUC of the probabilities of class `of`. */
export function areaUnderRoc(
  probas: Float64Array,
  codes: Int32Array,
  classes: number,
  of: number,
): number | undefined {
  const score = Float64Array.from(codes, (_, row) => probas[row * classes + of]);
  return rocAuc(score, codes, of);
}

function meanAuc(probas: Float64Array, codes: Int32Array, classes: number): number | undefined {
  let sum = 0;
  let count = 0;
  for (let k = 0; k < classes; k++) {
    const auc = areaUnderRoc(probas, codes, classes, k);
    if (auc === undefined) {
      continue;
    }
    sum += auc;
    count++;
  }
  return count > 0 ? sum / count : undefined;
}
