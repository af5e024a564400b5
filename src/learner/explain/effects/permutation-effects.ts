import type { Calibration } from '../../calibration/calibrate';
import { bitCount, lowestBit } from '../../math/bits';
import type { Member } from '../../model/members';
import type { ForegroundRow } from '../shapley/foreground';
import { mixtureCount, type Permutations } from '../shapley/permutations';
import { classProbability } from './class-probabilities';
import type { GroupEffects } from './mean-effects';
import type { PermutationScores } from './permutation-scores';

/** A row explained by sampling permutations. */
export interface SampledRow {
  foreground: ForegroundRow;
  /** The index of the class whose probability is explained. */
  of: number;
  common: number[];
  /** Background rows, as bits. */
  rows: number;
  found: GroupEffects;
}

/**
 * Estimates Shapley values of a probability as the mean, over permutations, of what each group adds when it flips,
 * and adds `share` times the estimate. A control variate removes most of the variance: a linear function of the
 * scores, whose Shapley values are known exactly, chosen to rise as the probability does between the background and
 * the foreground row. Only the difference between the two is sampled.
 *
 * @param byMember the scores of each member
 */
export function addPermutationEffects(
  permutations: Permutations,
  members: Member[],
  byMember: PermutationScores[],
  calibration: Calibration,
  { foreground: { background, groups }, common, rows, of, found }: SampledRow,
  share: number,
): void {
  const { width } = members[0];
  const mixtures = mixtureCount(permutations);
  const { sums, effects } = meanOf(members, byMember);
  const answered = classProbability(
    members,
    byMember.map(({ scores }) => scores),
    mixtures,
    calibration,
    of,
  );
  const slopes = new Float64Array(width);
  // Every permutation ends with the foreground row.
  const last = lowestBit(rows) * permutations.perRow * permutations.steps + common.length;
  const end = answered.allAt(last);
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const first = lowestBit(rest) * permutations.perRow * permutations.steps;
    const start = answered.allAt(first);
    slopeBetween(sums, { first, last, start, end }, width, of).forEach((slope, k) => {
      slopes[k] += slope / bitCount(rows);
    });
    found.base += (share * answered.probabilities[first]) / background.rows;
  }
  for (let k = 0; k < width; k++) {
    for (let group = 0; group < groups; group++) {
      found.effects[group] += ((share * slopes[k]) / background.rows) * effects[k * groups + group];
    }
  }
  const each = share / (background.rows * permutations.perRow);
  const size = permutations.perRow * permutations.steps;
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    addResiduals(
      permutations,
      { from: row * size, end: (row + 1) * size },
      answered.probabilities,
      sums,
      slopes,
      each,
      found,
    );
  }
}

/** Adds `each` times what a flip adds to the probability beyond the control variate. */
function addResiduals(
  { flipped }: Permutations,
  { from, end }: { from: number; end: number },
  probabilities: Float64Array,
  sums: Float64Array,
  slopes: Float64Array,
  each: number,
  { effects }: GroupEffects,
): void {
  const { length } = slopes;
  let before = 0;
  for (let i = from, at = from * length; i < end; i++) {
    let beyond = probabilities[i];
    for (let k = 0; k < length; k++, at++) {
      beyond -= slopes[k] * sums[at];
    }
    if (flipped[i] >= 0) {
      effects[flipped[i]] += each * (beyond - before);
    }
    before = beyond;
  }
}

/** The members' mean score sums and their Shapley values. */
function meanOf(
  members: Member[],
  byMember: PermutationScores[],
): Pick<PermutationScores, 'sums' | 'effects'> {
  if (members.length === 1) {
    return byMember[0];
  }
  const weights = members.reduce((sum, { weight }) => sum + weight, 0);
  const mean = (lists: Float64Array[]): Float64Array => {
    const out = new Float64Array(lists[0].length);
    members.forEach(({ weight }, m) => {
      for (let i = 0; i < out.length; i++) {
        out[i] += (weight / weights) * lists[m][i];
      }
    });
    return out;
  };
  return { sums: mean(byMember.map(({ sums }) => sums)), effects: mean(byMember.map((one) => one.effects)) };
}

/** The mixtures at both ends of a permutation, and their probabilities of all classes. */
interface Ends {
  first: number;
  last: number;
  start: Float64Array;
  end: Float64Array;
}

/**
 * The gradient of the probability along the line between two mixtures, per score, scaled so that it accounts for the
 * whole change.
 */
function slopeBetween(
  scores: Float64Array,
  { first, last, start, end }: Ends,
  width: number,
  of: number,
): Float64Array {
  const out = new Float64Array(width);
  let rise = 0;
  for (let k = 0; k < width; k++) {
    // A single score is the log-odds of the second of two classes.
    out[k] = width < start.length ? (of === 1 ? 1 : -1) : (k === of ? 1 : 0) - (start[k] + end[k]) / 2;
    rise += out[k] * (scores[last * width + k] - scores[first * width + k]);
  }
  const wanted = end[of] - start[of];
  const slope = Math.abs(rise) > 1e-6 ? Math.max(-1, Math.min(1, wanted / rise)) : 0;
  for (let k = 0; k < width; k++) {
    out[k] *= slope;
  }
  return out;
}
