import { exp, log, softmax, square } from '../math/numeric';
import { CALIBRATION } from '../tuned';

/** How the ensemble's scores become probabilities: temperature, then label noise. */
export interface Calibration {
  /** Divides the scores before the softmax. Fitted. */
  temperature: number;
  /** Fraction of labels that are drawn from the class frequencies. Fitted. */
  noise: number;
  /** Class frequencies of the train set. */
  priors: Float64Array;
  averageScores: boolean;
  /** Requested by the user: divides the calibrated logits. 1 changes nothing. */
  softmaxTemperature: number;
  /** Whether to divide probabilities by the class frequencies. */
  balance: boolean;
}

const MIN_PROBABILITY = 1e-15;

/** Mean log-loss. `probas`: rows × classes. */
export function logLoss(probas: Float64Array, codes: ArrayLike<number>, classes: number): number {
  let sum = 0;
  for (let row = 0; row < codes.length; row++) {
    sum -= log(Math.max(probas[row * classes + codes[row]], MIN_PROBABILITY));
  }
  return codes.length > 0 ? sum / codes.length : 0;
}

/** The log-loss of each row. */
export function rowLogLosses(probas: Float64Array, codes: ArrayLike<number>, classes: number): Float64Array {
  return Float64Array.from(
    codes,
    (code, row) => -log(Math.max(probas[row * classes + code], MIN_PROBABILITY)),
  );
}

/**
 * Mean of the prior on the logarithm of the temperature. Scores that explain little are overconfident. Those that explain nearly everything are
 * underconfident, because the ensemble learns from more rows than each member that scored held-out ones.
 *
 * @param explainedPart D. McFadden's pseudo-R² (1974) of the scores: 1 - log-loss / log-loss of the class frequencies
 */
function usualLogTemperature(explainedPart: number): number {
  return CALIBRATION.usual.low - CALIBRATION.usual.fall * square(Math.max(0, Math.min(1, explainedPart)));
}

/**
 * The temperature (C. Guo et al., 2017) and label noise of highest likelihood on out-of-fold scores. A temperature
 * alone cannot express "certain of the pattern, but one label in ten is wrong". Golden-section search over the
 * logarithm of the temperature, from 1/4 to 4, with the best noise for each.
 *
 * @param scores rows × width
 */
export function fitCalibration(
  scores: Float64Array,
  codes: ArrayLike<number>,
  width: number,
  priors: Float64Array,
): { temperature: number; noise: number } {
  const classes = priors.length;
  if (codes.length < 10 || classes < 2) {
    return { temperature: 1, noise: 0 };
  }
  const share = Float64Array.from(codes, (code) => priors[code]);
  const trivial = share.reduce((sum, p) => sum - log(p), 0) / codes.length;
  const loss = logLoss(probabilities(scores, width, classes, 1), codes, classes);
  const center = usualLogTemperature(trivial > 0 ? 1 - loss / trivial : 0);
  const likely = new Float64Array(codes.length);
  let best = { pulled: Infinity, temperature: 1, noise: 0 };
  const costOf = (logTemperature: number) => {
    const temperature = exp(logTemperature);
    const probas = probabilities(scores, width, classes, temperature);
    for (let row = 0; row < codes.length; row++) {
      likely[row] = probas[row * classes + codes[row]];
    }
    const { noise, cost } = fitNoise(likely, share);
    const pulled = cost + (CALIBRATION.strength / 2) * square(logTemperature - center);
    if (pulled < best.pulled) {
      best = { pulled, temperature, noise };
    }
    return pulled;
  };
  minimise(costOf, -1.386, 1.386, 24);
  return { temperature: best.temperature, noise: best.noise };
}

/**
 * The noise of highest likelihood, by bisection on the slope of the cost, which is convex.
 *
 * @param likely the model's probability of each row's true class
 * @param share the frequency of that class
 */
function fitNoise(likely: Float64Array, share: Float64Array): { noise: number; cost: number } {
  const slope = (noise: number) => {
    let sum = CALIBRATION.noisePenalty;
    for (let row = 0; row < likely.length; row++) {
      const away = share[row] - likely[row];
      sum -= away / Math.max(likely[row] + noise * away, MIN_PROBABILITY);
    }
    return sum;
  };
  let low = 0;
  let high = CALIBRATION.mostNoise;
  if (slope(0) < 0) {
    for (let step = 0; step < 12; step++) {
      const middle = (low + high) / 2;
      if (slope(middle) < 0) {
        low = middle;
      } else {
        high = middle;
      }
    }
  }
  let cost = CALIBRATION.noisePenalty * low;
  for (let row = 0; row < likely.length; row++) {
    cost -= log(Math.max((1 - low) * likely[row] + low * share[row], MIN_PROBABILITY));
  }
  return { noise: low, cost };
}

/**
 * Class probabilities: rows × classes.
 *
 * @param scores rows × width; with a width of 1, the log-odds of the second of two classes
 */
export function probabilities(
  scores: Float64Array,
  width: number,
  classes: number,
  temperature: number,
): Float64Array {
  if (width > 1) {
    const out = new Float64Array(scores.length);
    for (let at = 0; at < scores.length; at += width) {
      softmax(scores, at, width, out, at, temperature);
    }
    return out;
  }
  const out = new Float64Array(scores.length * classes);
  for (let row = 0; row < scores.length; row++) {
    if (classes < 2) {
      out[row] = 1;
    } else {
      const score = scores[row] / temperature;
      const e = exp(-Math.abs(score));
      out[row * 2 + (score >= 0 ? 1 : 0)] = 1 / (1 + e);
      out[row * 2 + (score >= 0 ? 0 : 1)] = e / (1 + e);
    }
  }
  return out;
}

/** The probabilities that a calibration answers, by all that it holds. @param scores rows × width @returns rows × classes */
export function toProbabilities(scores: Float64Array, width: number, calibration: Calibration): Float64Array {
  const { priors, temperature } = calibration;
  return calibrated(probabilities(scores, width, priors.length, temperature), calibration);
}

/** The probabilities, with all that comes after the first temperature, in place. */
export function calibrated(probas: Float64Array, calibration: Calibration): Float64Array {
  mixWithPriors(probas, calibration);
  applyTemperature(probas, calibration);
  if (calibration.balance) {
    balance(probas, calibration.priors);
  }
  return probas;
}

/** Mixes probabilities with the class frequencies according to the fitted noise, in place. */
export function mixWithPriors(probas: Float64Array, { noise, priors }: Calibration): void {
  if (noise === 0) {
    return;
  }
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    for (let k = 0; k < classes; k++) {
      probas[at + k] = (1 - noise) * probas[at + k] + noise * priors[k];
    }
  }
}

/** Divides the calibrated logits (the logarithms of the probabilities) by the requested temperature, in place. */
function applyTemperature(probas: Float64Array, { softmaxTemperature, priors }: Calibration): void {
  if (softmaxTemperature === 1) {
    return;
  }
  const logits = probas.map((p) => log(Math.max(p, MIN_PROBABILITY)));
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    softmax(logits, at, classes, probas, at, softmaxTemperature);
  }
}

/** Divides probabilities by the frequency of their class and normalises each row, in place. */
function balance(probas: Float64Array, priors: Float64Array): void {
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    let sum = 0;
    for (let k = 0; k < classes; k++) {
      const p = priors[k] > 0 ? probas[at + k] / priors[k] : 0;
      probas[at + k] = p;
      sum += p;
    }
    for (let k = 0; k < classes; k++) {
      probas[at + k] = sum > 0 ? probas[at + k] / sum : 1 / classes;
    }
  }
}

/** The minimum of a unimodal function between `low` and `high`, by golden-section search. */
function minimise(f: (x: number) => number, low: number, high: number, steps: number): number {
  const ratio = 0.6180339887498949;
  let a = high - ratio * (high - low);
  let b = low + ratio * (high - low);
  let fa = f(a);
  let fb = f(b);
  for (let step = 0; step < steps; step++) {
    if (fa <= fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - ratio * (high - low);
      fa = f(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + ratio * (high - low);
      fb = f(b);
    }
  }
  return (low + high) / 2;
}
