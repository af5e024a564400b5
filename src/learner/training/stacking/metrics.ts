import { rocAuc } from '../../../metrics/roc-auc';
import type { Scores } from '../../../metrics/scores';
import { logLoss } from '../../calibration/calibrate';

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
