import { Yielder } from '../../util/event-loop';
import type { Scores } from '../types';

/** The quantile levels that pinball loss is the mean over. */
export const LEVELS: readonly number[] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
const MIN_PROBABILITY = 1e-15;

/**
 * @param probas [row][class]
 * @param codes the true class of each row; −1 for one that the model does not know, which counts as wrong
 */
export async function classificationScores(
  probas: readonly (readonly number[])[],
  codes: ArrayLike<number>,
  classes: number,
): Promise<Scores> {
  const rows = probas.length;
  const scores: Scores = { rows };
  if (rows === 0) {
    return scores;
  }
  let right = 0;
  let loss = 0;
  probas.forEach((row, i) => {
    const code = codes[i]!;
    const most = row.reduce((best, p, k) => (p > row[best]! ? k : best), 0);
    right += most === code ? 1 : 0;
    loss -= Math.log(Math.max(row[code] ?? 0, MIN_PROBABILITY));
  });
  scores.accuracy = right / rows;
  scores.log_loss = loss / rows;
  const yielder = new Yielder();
  let sum = 0;
  let count = 0;
  for (let k = classes === 2 ? 1 : 0; k < classes; k++) {
    await yielder.due();
    const area = rocAuc(
      Float64Array.from(probas, (row) => row[k] ?? 0),
      codes,
      k,
    );
    if (area !== undefined) {
      sum += area;
      count++;
    }
  }
  if (count > 0) {
    scores.roc_auc = sum / count;
  }
  return scores;
}

/**
 * Area under the ROC curve of one class against the rest: the chance that a row of it has a higher score than a row
 * of the others, ties counting half (Mann and Whitney, 1947). Undefined where one of the two has no rows.
 */
export function rocAuc(score: Float64Array, codes: ArrayLike<number>, of: number): number | undefined {
  const order = Int32Array.from(score, (_, row) => row).sort((a, b) => score[a]! - score[b]!);
  let ranks = 0;
  let positives = 0;
  for (let from = 0; from < order.length;) {
    let end = from;
    let here = 0;
    for (; end < order.length && score[order[end]!] === score[order[from]!]; end++) {
      here += codes[order[end]!] === of ? 1 : 0;
    }
    // Ranks count from 1; tied rows share the mean of theirs.
    ranks += here * ((from + end + 1) / 2);
    positives += here;
    from = end;
  }
  const negatives = order.length - positives;
  if (positives === 0 || negatives === 0) {
    return undefined;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * negatives);
}

/**
 * @param predicted the mean of each row
 * @param quantiles [level][row] for LEVELS
 */
export function regressionScores(
  predicted: ArrayLike<number>,
  quantiles: readonly ArrayLike<number>[],
  actual: ArrayLike<number>,
): Scores {
  const rows = actual.length;
  const scores: Scores = { rows };
  if (rows === 0) {
    return scores;
  }
  let mean = 0;
  for (let row = 0; row < rows; row++) {
    mean += actual[row]! / rows;
  }
  let squares = 0;
  let absolute = 0;
  let spread = 0;
  for (let row = 0; row < rows; row++) {
    const error = predicted[row]! - actual[row]!;
    squares += error * error;
    absolute += Math.abs(error);
    spread += (actual[row]! - mean) ** 2;
  }
  scores.rmse = Math.sqrt(squares / rows);
  scores.mae = absolute / rows;
  if (spread > 0) {
    scores.r2 = 1 - squares / spread;
  }
  if (quantiles.length === LEVELS.length) {
    scores.pinball = pinball(quantiles, actual);
    const [low, high] = [quantiles[0]!, quantiles[LEVELS.length - 1]!];
    let inside = 0;
    for (let row = 0; row < rows; row++) {
      inside += low[row]! <= actual[row]! && actual[row]! <= high[row]! ? 1 : 0;
    }
    scores.coverage_80 = inside / rows;
  }
  return scores;
}

/** Mean over rows and LEVELS of (y − v) q where y is above the quantile's value v, else (v − y)(1 − q). */
function pinball(quantiles: readonly ArrayLike<number>[], actual: ArrayLike<number>): number {
  let loss = 0;
  LEVELS.forEach((level, k) => {
    for (let row = 0; row < actual.length; row++) {
      const above = actual[row]! - quantiles[k]![row]!;
      loss += above >= 0 ? level * above : (level - 1) * above;
    }
  });
  return loss / (LEVELS.length * actual.length);
}

/** Quantile of ascending values, between two of them by linear interpolation (type 7 of Hyndman and Fan, 1996). */
export function quantileOf(sorted: ArrayLike<number>, level: number): number {
  const at = level * (sorted.length - 1);
  const below = Math.floor(at);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low + (at - below) * (high - low);
}
