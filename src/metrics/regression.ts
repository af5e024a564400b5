import type { Scores } from './scores';

/** The quantile levels that pinball loss is the mean over. */
export const LEVELS: readonly number[] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** RMSE, mean absolute error and R² of the mean predicted for each row. */
export function errorsOf(predicted: ArrayLike<number>, actual: ArrayLike<number>): Scores {
  const rows = actual.length;
  if (rows === 0) {
    return { rows };
  }
  let mean = 0;
  for (let row = 0; row < rows; row++) {
    mean += actual[row] / rows;
  }
  let squares = 0;
  let absolute = 0;
  let spread = 0;
  for (let row = 0; row < rows; row++) {
    const error = predicted[row] - actual[row];
    const deviation = actual[row] - mean;
    squares += error * error;
    absolute += Math.abs(error);
    spread += deviation * deviation;
  }
  const scores: Scores = { rows, rmse: Math.sqrt(squares / rows), mae: absolute / rows };
  if (spread > 0) {
    scores.r2 = 1 - squares / spread;
  }
  return scores;
}

/**
 * The same, with the mean pinball loss and the coverage of 80 % where quantiles are given.
 *
 * @param predicted the mean of each row
 * @param quantiles [level][row] for LEVELS
 */
export function regressionScores(
  predicted: ArrayLike<number>,
  quantiles: readonly ArrayLike<number>[],
  actual: ArrayLike<number>,
): Scores {
  const scores = errorsOf(predicted, actual);
  const { rows } = scores;
  if (rows > 0 && quantiles.length === LEVELS.length) {
    scores.pinball = pinballLoss(quantiles, actual);
    const low = quantiles[0];
    const high = quantiles[LEVELS.length - 1];
    let inside = 0;
    for (let row = 0; row < rows; row++) {
      inside += low[row] <= actual[row] && actual[row] <= high[row] ? 1 : 0;
    }
    scores.coverage_80 = inside / rows;
  }
  return scores;
}

/** Mean over rows and LEVELS of (y − v) q where y is above the quantile's value v, else (v − y)(1 − q). */
function pinballLoss(quantiles: readonly ArrayLike<number>[], actual: ArrayLike<number>): number {
  let loss = 0;
  LEVELS.forEach((level, k) => {
    for (let row = 0; row < actual.length; row++) {
      const above = actual[row] - quantiles[k][row];
      loss += above >= 0 ? level * above : (level - 1) * above;
    }
  });
  return loss / (LEVELS.length * actual.length);
}

/** Quantile of ascending values, between two of them by linear interpolation (type 7 of Hyndman and Fan, 1996). */
export function quantileOf(sorted: ArrayLike<number>, level: number): number {
  const at = level * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below];
  const high = sorted[Math.min(below + 1, sorted.length - 1)];
  return low + (at - below) * (high - low);
}
