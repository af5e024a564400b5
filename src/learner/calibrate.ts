import { exp, log } from './numeric';
import { probabilities } from './members';

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
 * The softmax temperature that makes out-of-fold scores most probable (C. Guo et al., 2017), by golden section
 * over its logarithm; between 1/4 and 4.
 */
export function fitTemperature(
  scores: Float64Array,
  codes: ArrayLike<number>,
  width: number,
  classes: number,
): number {
  if (codes.length < 10 || classes < 2) return 1;
  const loss = (logTemperature: number) =>
    logLoss(probabilities(scores, width, classes, exp(logTemperature)), codes, classes);
  return exp(minimise(loss, -1.386, 1.386, 24));
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
