import { regressionScores } from '../../../metrics/regression';
import type { Scores } from '../../../metrics/scores';
import { numberBaseline } from '../../evaluation/baseline';
import { usualNumbers } from '../../evaluation/usual-target';
import type { UsualNumbers } from '../../reference/types';
import { HELD, KEPT } from './holdout-plan';
import type { RowFacts } from './row-facts';

/** What predicting no change would score. */
export interface NowScores {
  /** Over the rows that are fitted, and over those kept back. */
  kept: Scores;
  held: Scores;
  /** Regression: the target of the rows that are fitted, and always predicting its mean and quantiles. */
  usual?: UsualNumbers;
  baseline?: Scores;
  /** Regression: the variance of the target over the rows that are fitted. */
  variance?: number;
}

/** Undefined where the table does not say what the target is now. */
export async function nowScores(
  facts: RowFacts,
  plan: Uint8Array = new Uint8Array(facts.rows),
): Promise<NowScores | undefined> {
  const { relative, sameAsNow, values } = facts;
  if (sameAsNow !== undefined) {
    const accuracy = (what: number): Scores => {
      const same = sameAsNow.filter((_, row) => plan[row] === what);
      const rows = same.length;
      return { rows, ...(rows > 0 && { accuracy: same.reduce((sum, one) => sum + one, 0) / rows }) };
    };
    return { kept: accuracy(KEPT), held: accuracy(HELD) };
  }
  if (relative === undefined) {
    return undefined;
  }
  const pick = (all: Float64Array, what: number): Float64Array => all.filter((_, row) => plan[row] === what);
  const level = pick(values, KEPT);
  const usual = await usualNumbers(level);
  return {
    kept: regressionScores(pick(relative, KEPT), [], level),
    held: regressionScores(pick(relative, HELD), [], pick(values, HELD)),
    usual,
    baseline: numberBaseline(usual, level),
    variance: level.reduce((sum, value) => sum + (value - usual.mean) ** 2 / level.length, 0),
  };
}
