import { LEVELS, quantileOf, regressionScores } from '../../metrics/regression';
import type { Scores } from '../../metrics/scores';
import { sortedCopy } from './sort';

/** The scores of always predicting the mean and the quantiles of the rows that were fitted. */
export async function baselineOf(kept: Float64Array, truth: ArrayLike<number>): Promise<Scores> {
  const sorted = await sortedCopy(kept);
  const mean = kept.reduce((sum, value) => sum + value / kept.length, 0);
  const constant = (value: number): Float64Array => new Float64Array(truth.length).fill(value);
  const levels = LEVELS.map((level) => constant(quantileOf(sorted, level)));
  return regressionScores(constant(mean), levels, truth);
}
