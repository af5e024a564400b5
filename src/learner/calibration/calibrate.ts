import { exp, log, sigmoid, softmax, square } from '../math/numeric';

/** How the ensemble's scores become probabilities. */
export interface Calibration {
  /** Divides the scores before the softmax; fitted. */
  temperature: number;
  /** Part of the probability, 0 to 1, that goes to the class frequencies: what labels owe to chance. */
  noise: number;
  /** Class frequencies of the train set. */
  priors: Float64Array;
  averageScores: boolean;
  /** What was asked for: divides the logits that temperature and noise have calibrated. 1 changes nothing. */
  softmaxTemperature: number;
  /** Are the probabilities to be divided by the class frequencies? */
  balance: boolean;
}

const LEAST = 1e-15;

/** Mean log-loss of class probabilities, `classes` per row. */
export function logLoss(probas: Float64Array, codes: ArrayLike<number>, classes: number): number {
  let sum = 0;
  for (let row = 0; row < codes.length; row++) {
    sum -= log(Math.max(probas[row * classes + codes[row]!]!, LEAST));
  }
  return codes.length > 0 ? sum / codes.length : 0;
}

/**
 * Pull of the temperature's logarithm, in nats, towards what is usual for scores that tell as much. A few dozen rows
 * hardly say how sure one may be, and what they seem to say is mostly luck. Found on 300 random tasks of 30 to 300 rows
 * (linear, stepwise, pairwise and clustered classes, 2 to 6 of them, with and without label noise).
 */
const PULL = 3;

/**
 * The usual logarithm of the temperature. Scores that tell little are too sure of themselves, those that tell
 * nearly all are too modest: the ensemble learns from more rows than each model that scored the held-out ones.
 *
 * @param told part of the trivial log-loss that the scores save as they are (D. McFadden's pseudo-R², 1974)
 */
function usual(told: number): number {
  return 0.3 - 0.9 * square(Math.max(0, Math.min(1, told)));
}

/** Nats that a noise of 1 costs: without evidence there is none. */
const NOISE_COST = 5;
const MOST_NOISE = 0.6;

/**
 * The temperature (C. Guo et al., 2017) and the noise that make out-of-fold scores most probable. A temperature alone
 * cannot say "certain of the pattern, but one label in ten is wrong". By golden section over the temperature's
 * logarithm, between 1/4 and 4, with the best noise for each.
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
  const share = Float64Array.from(codes, (code) => priors[code]!);
  const trivial = share.reduce((sum, p) => sum - log(p), 0) / codes.length;
  const loss = logLoss(probabilities(scores, width, classes, 1), codes, classes);
  const center = usual(trivial > 0 ? 1 - loss / trivial : 0);
  const likely = new Float64Array(codes.length);
  let best = { pulled: Infinity, temperature: 1, noise: 0 };
  const costOf = (logTemperature: number) => {
    const temperature = exp(logTemperature);
    const probas = probabilities(scores, width, classes, temperature);
    for (let row = 0; row < codes.length; row++) {
      likely[row] = probas[row * classes + codes[row]!]!;
    }
    const { noise, cost } = fitNoise(likely, share);
    const pulled = cost + (PULL / 2) * square(logTemperature - center);
    if (pulled < best.pulled) {
      best = { pulled, temperature, noise };
    }
    return pulled;
  };
  minimise(costOf, -1.386, 1.386, 24);
  return { temperature: best.temperature, noise: best.noise };
}

/**
 * The noise that makes rows most probable whose true class has probability `likely` by the model and `share` by
 * frequency; the cost is convex in it. Bisection on the slope.
 */
function fitNoise(likely: Float64Array, share: Float64Array): { noise: number; cost: number } {
  const slope = (noise: number) => {
    let sum = NOISE_COST;
    for (let row = 0; row < likely.length; row++) {
      const away = share[row]! - likely[row]!;
      sum -= away / Math.max(likely[row]! + noise * away, LEAST);
    }
    return sum;
  };
  let low = 0;
  let high = MOST_NOISE;
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
  let cost = NOISE_COST * low;
  for (let row = 0; row < likely.length; row++) {
    cost -= log(Math.max((1 - low) * likely[row]! + low * share[row]!, LEAST));
  }
  return { noise: low, cost };
}

/** Scores as class probabilities; one score per row is the log-odds of the second of two classes. */
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
      out[row * 2 + 1] = sigmoid(scores[row]! / temperature);
      out[row * 2] = sigmoid(-scores[row]! / temperature);
    }
  }
  return out;
}

/** Gives the noise's part of each row's probability to the class frequencies, in place. */
export function blur(probas: Float64Array, { noise, priors }: Calibration): void {
  if (noise === 0) {
    return;
  }
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    for (let k = 0; k < classes; k++) {
      probas[at + k] = (1 - noise) * probas[at + k]! + noise * priors[k]!;
    }
  }
}

/** Divides calibrated logits, which are the logarithms of the probabilities, by the temperature that was asked for, in place. */
export function temper(probas: Float64Array, { softmaxTemperature, priors }: Calibration): void {
  if (softmaxTemperature === 1) {
    return;
  }
  const logits = probas.map((p) => log(Math.max(p, LEAST)));
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    softmax(logits, at, classes, probas, at, softmaxTemperature);
  }
}

/** Divides probabilities by the frequency of their class, and makes each row sum to 1 again. */
export function balance(probas: Float64Array, priors: Float64Array): void {
  const classes = priors.length;
  for (let at = 0; at < probas.length; at += classes) {
    let sum = 0;
    for (let k = 0; k < classes; k++) {
      const p = priors[k]! > 0 ? probas[at + k]! / priors[k]! : 0;
      probas[at + k] = p;
      sum += p;
    }
    for (let k = 0; k < classes; k++) {
      probas[at + k] = sum > 0 ? probas[at + k]! / sum : 1 / classes;
    }
  }
}

/** The minimum of a function with a single one between `low` and `high`, by golden section. */
export function minimise(f: (x: number) => number, low: number, high: number, steps: number): number {
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
