import { logLoss } from '../calibration/calibrate';
import { square } from '../math/numeric';
import type { HeldOutScores } from '../types';

/*
 * Scores of held-out rows from class codes and typed arrays. `src/scoring` has its own, from labels as a service answers
 * them: the two layers import nothing of each other, so the area under the ROC curve is written twice.
 */

/**
 * Accuracy, log-loss and, where both classes occur, ROC AUC (the mean of each class against the rest).
 *
 * @param probas rows × classes, row-major
 */
export function scoreProbabilities(probas: Float64Array, codes: Int32Array, classes: number): HeldOutScores {
  let right = 0;
  for (let row = 0; row < codes.length; row++) {
    if (mostProbable(probas, row, classes) === codes[row]) {
      right++;
    }
  }
  const scores: HeldOutScores = { rows: codes.length };
  if (codes.length === 0) {
    return scores;
  }
  scores.accuracy = right / codes.length;
  scores.log_loss = logLoss(probas, codes, classes);
  const auc = classes === 2 ? areaUnderRoc(probas, codes, 2, 1) : meanAuc(probas, codes, classes);
  if (auc !== undefined) {
    scores.roc_auc = auc;
  }
  return scores;
}

/** The class of the largest probability; the first of equal ones. */
export function mostProbable(probas: Float64Array, row: number, classes: number): number {
  let best = 0;
  for (let k = 1; k < classes; k++) {
    if (probas[row * classes + k] > probas[row * classes + best]) {
      best = k;
    }
  }
  return best;
}

/** Area under the ROC curve of one class against the rest (H. Mann and D. Whitney, 1947); ties count half. */
export function areaUnderRoc(
  probas: Float64Array,
  codes: Int32Array,
  classes: number,
  of: number,
): number | undefined {
  const score = Float64Array.from(codes, (_, row) => probas[row * classes + of]);
  const order = Int32Array.from(codes, (_, row) => row).sort((a, b) => score[a] - score[b]);
  let ranks = 0;
  let positives = 0;
  for (let i = 0; i < order.length;) {
    let end = i;
    let here = 0;
    for (; end < order.length && score[order[end]] === score[order[i]]; end++) {
      if (codes[order[end]] === of) {
        here++;
      }
    }
    ranks += here * ((i + end + 1) / 2);
    positives += here;
    i = end;
  }
  const negatives = codes.length - positives;
  if (positives === 0 || negatives === 0) {
    return undefined;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * negatives);
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

/** RMSE, mean absolute error and R². */
export function scoreNumbers(predicted: Float64Array, actual: Float64Array): HeldOutScores {
  const rows = actual.length;
  if (rows === 0) {
    return { rows };
  }
  let mean = 0;
  for (const value of actual) {
    mean += value / rows;
  }
  let squares = 0;
  let absolute = 0;
  let spread = 0;
  for (let row = 0; row < rows; row++) {
    const error = predicted[row] - actual[row];
    squares += error * error;
    absolute += Math.abs(error);
    spread += square(actual[row] - mean);
  }
  const scores: HeldOutScores = { rows, rmse: Math.sqrt(squares / rows), mae: absolute / rows };
  if (spread > 0) {
    scores.r2 = 1 - squares / spread;
  }
  return scores;
}
