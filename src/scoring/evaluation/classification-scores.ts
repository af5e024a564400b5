import { rocAuc } from '../../metrics/roc-auc';
import type { Scores } from '../../metrics/scores';
import { Yielder } from '../../util/event-loop';

/** A probability counts as so much at least, so that its loss is finite. */
export const MIN_PROBABILITY = 1e-15;

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
  // Probabilities that add up to a little more than 1 are no better than certain.
  scores.log_loss = Math.max(0, loss / rows);
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
