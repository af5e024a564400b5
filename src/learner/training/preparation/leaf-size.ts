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
import { RANDOMISED } from '../tuned';

const { manyRows, single: TRIAL } = RANDOMISED;

/** A train set of many rows, and the part of each row. */
export interface ManyTrial extends EncodedTable, Omit<RandomisedInput, 'columns' | 'rows' | 'base'> {
  part: Uint8Array;
}

/**
 * Whether randomised trees of many rows, of a number or of classes, should have single-row leaves: which of two rules for a
 * whole model has the lower squared error, as two trees of each say of one part. Single rows help most with targets without
 * noise, and with rows that come in groups of nearly equal ones.
 */
export function wantsSingleRowsOfMany(
  input: ManyTrial,
  [own, single]: [RandomisedRules, RandomisedRules],
  random: Random,
): boolean {
  const { part } = input;
  if (part.length <= manyRows || own.minLeaf === 1 || input.columns.length > TRIAL.triedColumns) {
    return false;
  }
  const all = Int32Array.from(part, (_, row) => row);
  const rows = thinned(all.filter((row) => part[row] !== 0));
  const heldOut = thinned(all.filter((row) => part[row] === 0));
  if (rows.length === 0 || heldOut.length === 0) {
    return false;
  }
  const errorOf = (rules: RandomisedRules) => expectedError({ ...input, rows, heldOut }, rules, random);
  return errorOf(single) < TRIAL.left * errorOf(own);
}

/** At most `TRIAL.tried` of them, at equal distances. */
function thinned(rows: Int32Array): Int32Array {
  const step = Math.max(1, rows.length / TRIAL.tried);
  return Int32Array.from(
    { length: Math.min(rows.length, TRIAL.tried) },
    (_, i) => rows[Math.floor(i * step)],
  );
}

/**
 * The expected squared error of the mean of all trees: the part that more trees do not lower, and some of the rest. A tree
 * differs from the next one by as much as the mean of a few is better than each of them.
 */
function expectedError(
  { heldOut, ...input }: ManyTrial & { rows: Int32Array; heldOut: Int32Array },
  rules: RandomisedRules,
  random: Random,
): number {
  const { classes, target, rows } = input;
  const width = classes > 2 ? classes : 1;
  const base = classes > 0 ? new Float64Array(width) : squaredError(Float64Array.from(target)).base(rows);
  const mean = new Float64Array(heldOut.length * width);
  const errorOf = (scores: Float64Array) =>
    scores.reduce((sum, score, i) => {
      const wanted = target[heldOut[Math.floor(i / width)]];
      return sum + square(score - (width === 1 ? wanted : wanted === i % width ? 1 : 0));
    }, 0);
  let alone = 0;
  for (let tree = 0; tree < TRIAL.trees; tree++) {
    const { trees } = growRandomised({ ...input, base }, { ...rules, trees: 1 }, random);
    const scores = partScores({ kind: 'trees', weight: 1, base, trees }, input, heldOut);
    alone += errorOf(scores) / TRIAL.trees;
    scores.forEach((score, i) => (mean[i] += score / TRIAL.trees));
  }
  const smoothed = (TRIAL.trees * errorOf(mean) - alone) / (TRIAL.trees - 1);
  return smoothed + (alone - smoothed) / rules.trees;
}
