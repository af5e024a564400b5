import { regressionScores } from '../../metrics/regression';
import type { Scores } from '../../metrics/scores';
import type { Label } from '../../table';
import type { UsualClasses, UsualNumbers } from '../reference/types';
import { classificationScores } from './classification-scores';
import { codesOfLabels } from './labels';

/** The scores of always predicting the mean and the quantiles of the rows that were fitted. */
export function numberBaseline({ mean, quantiles }: UsualNumbers, truth: ArrayLike<number>): Scores {
  const constant = (value: number): Float64Array => new Float64Array(truth.length).fill(value);
  return regressionScores(constant(mean), quantiles.map(constant), truth);
}

/**
 * The scores of always predicting how frequent each class was.
 *
 * @param classes those of the model
 * @param codes the true class of each row as an index of them; −1 for one that the model does not know
 */
export function labelBaseline(
  { labels, counts }: UsualClasses,
  classes: readonly Label[],
  codes: ArrayLike<number>,
): Promise<Scores> {
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const codeOf = codesOfLabels(classes, labels);
  const frequencies = classes.map(() => 0);
  counts.forEach((count, at) => {
    if (codeOf[at]! >= 0) {
      frequencies[codeOf[at]!] = count / rows;
    }
  });
  const always = Array.from(codes, () => frequencies);
  return classificationScores(always, codes, classes.length);
}
