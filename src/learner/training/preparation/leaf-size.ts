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
import { MANY_ROWS } from '../plan/randomised-rules';

/** Of more columns a trial takes too long. */
const MOST_COLUMNS = 50;
/** Each trial holds out every third part. */
const ROUNDS = 3;
const TREES = 16;
/** What single rows may leave of the squared error: they have to be clearly better, since they take longer and more bytes. */
const MOST_LEFT = 0.97;
/** Trees of a trial of many rows, and what single rows may leave there, where they make models of megabytes. */
const FEW_TREES = 2;
const MOST_LEFT_OF_MANY = 0.93;

export interface LeafTrial extends EncodedTable, Pick<RandomisedInput, 'specs' | 'centers'> {
  /** Standardised target, and part, of each row. */
  values: Float64Array;
  part: Uint8Array;
}

/**
 * Whether randomised trees for regression should have single-row leaves, judged by a few of them on held-out rows. These
 * help most with targets without noise, and with rows that come in groups of nearly equal ones.
 */
export function wantsSingleRows(input: LeafTrial, rules: RandomisedRules, random: Random): boolean {
  const { values, part } = input;
  if (rules.minLeaf === 1 || values.length > MANY_ROWS || input.columns.length > MOST_COLUMNS) {
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

/** A train set of many rows, and the part of each row. */
export interface ManyTrial extends EncodedTable, Omit<RandomisedInput, 'columns' | 'rows' | 'base'> {
  part: Uint8Array;
}

/**
 * The same of many rows, of a number or of classes: which of some rules for a model of `planned` trees has the lower
 * squared error, as two trees of each say of one part.
 */
export function wantsSingleRowsOfMany(
  input: ManyTrial,
  [own, single]: [RandomisedRules, RandomisedRules],
  random: Random,
): boolean {
  const { part } = input;
  if (part.length <= MANY_ROWS || own.minLeaf === 1 || input.columns.length > MOST_COLUMNS) {
    return false;
  }
  const all = Int32Array.from(part, (_, row) => row);
  const rows = all.filter((row) => part[row] !== 0);
  const heldOut = all.filter((row) => part[row] === 0);
  if (rows.length === 0 || heldOut.length === 0) {
    return false;
  }
  const errorOf = (rules: RandomisedRules) => expectedError({ ...input, rows, heldOut }, rules, random);
  return errorOf(single) < MOST_LEFT_OF_MANY * errorOf(own);
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
  for (let tree = 0; tree < FEW_TREES; tree++) {
    const { trees } = growRandomised({ ...input, base }, { ...rules, trees: 1 }, random);
    const scores = partScores({ kind: 'trees', weight: 1, base, trees }, input, heldOut);
    alone += errorOf(scores) / FEW_TREES;
    scores.forEach((score, i) => (mean[i] += score / FEW_TREES));
  }
  const smoothed = (FEW_TREES * errorOf(mean) - alone) / (FEW_TREES - 1);
  return smoothed + (alone - smoothed) / rules.trees;
}
