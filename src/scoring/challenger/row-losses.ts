import { LEVELS } from '../../metrics/regression';

/** A lower probability counts as this one, so that a single row on which a model was confident and wrong does not decide. */
const MIN_PROBABILITY = 0.001;

/** −ln p(true class) of each row. @param chances the probability of each row's true class */
export function logLosses(chances: ArrayLike<number>): Float64Array {
  return Float64Array.from(chances, (p) => -Math.log(Math.max(p, MIN_PROBABILITY)));
}

/** Mean pinball loss of each row over LEVELS. @param quantiles [level][row] */
export function pinballLosses(
  quantiles: readonly ArrayLike<number>[],
  actual: ArrayLike<number>,
): Float64Array {
  return Float64Array.from(actual, (value, row) => {
    let loss = 0;
    LEVELS.forEach((level, k) => {
      const above = value - quantiles[k]![row]!;
      loss += above >= 0 ? level * above : (level - 1) * above;
    });
    return loss / LEVELS.length;
  });
}

/** Bisection steps: an accuracy of 0.001. */
const STEPS = 24;

/**
 * The part of labels, 0 to 1, that one would have to take for drawn by chance so that these probabilities fit the truth
 * best: near 0 for a model that is calibrated, about twice the part of flipped labels where some are.
 */
export function labelNoise(chances: ArrayLike<number>, classes: number): number {
  // The loss is convex in the part, so its derivative has one root at most.
  const slope = (noise: number): number => {
    let sum = 0;
    for (let row = 0; row < chances.length; row++) {
      const p = chances[row]!;
      sum += (p - 1 / classes) / Math.max(MIN_PROBABILITY, withNoise(p, noise, classes));
    }
    return sum;
  };
  let [low, high] = [0, 1];
  if (slope(low) >= 0) {
    return 0;
  }
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    if (slope(middle) < 0) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return (low + high) / 2;
}

/** The probability of a class if a part of the labels is random. */
export function withNoise(chance: number, noise: number, classes: number): number {
  return (1 - noise) * chance + noise / classes;
}
