import type { EncodedTable } from '../../features/encode';
import { square } from '../../math/numeric';
import type { Random } from '../../math/random';
import { partScores } from '../../model/members';
import { squaredError } from '../../trees/boosting/loss';
import {
  growRandomised,
  type RandomisedInput,
  type RandomisedRules,
} from '../../trees/randomised/randomised';

/** With more rows, trees with a row in each leaf would make models large. */
const MAX_ROWS = 3000;
/** Of more columns a trial takes too long. */
const MOST_COLUMNS = 50;
/** Each trial holds out every third part. */
const ROUNDS = 3;
const TREES = 16;
/** What single rows may leave of the squared error: they have to be clearly better, since they take longer and more bytes. */
const MOST_LEFT = 0.97;

export interface LeafTrial extends EncodedTable, Pick<RandomisedInput, 'specs' | 'centers'> {
  /** Standardised target, and part, of each row. */
  values: Float64Array;
  part: Uint8Array;
}

/**
 * Whether randomised trees of a number had better have single rows in their leaves, as a few of them say of rows held out.
 * They tell the most of targets without noise, and of rows that come in groups of nearly equal ones.
 */
export function wantsSingleRows(input: LeafTrial, rules: RandomisedRules, random: Random): boolean {
  const { values, part } = input;
  if (rules.minLeaf === 1 || values.length > MAX_ROWS || input.columns.length > MOST_COLUMNS) {
    return false;
  }
  const all = Int32Array.from(part, (_, row) => row);
  let [own, single] = [0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const rows = all.filter((row) => part[row] % ROUNDS !== round);
    const heldOut = all.filter((row) => part[row] % ROUNDS === round);
    if (rows.length === 0) {
      return false;
    }
    const errorOf = (minLeaf: number) => {
      const grown = growRandomised(
        { ...input, rows, target: values, classes: 0, base: squaredError(values).base(rows) },
        { ...rules, minLeaf, trees: TREES },
        random,
      );
      const scores = partScores({ kind: 'trees', weight: 1, ...grown }, input, heldOut);
      return scores.reduce((sum, score, i) => sum + square(score - values[heldOut[i]]), 0);
    };
    own += errorOf(rules.minLeaf);
    single += errorOf(1);
  }
  return single < MOST_LEFT * own;
}
