import type { Calibration } from '../calibration/calibrate';
import { addScoresOfVotes, type Member, type Part } from '../model/model';
import { backgroundScores, classProbability, eachLinearTerm, type GroupEffects } from './effects';
import type { ExplanationCache } from './explanation-cache';
import {
  bitCount,
  eachPermutation,
  type ForegroundRow,
  lowestBit,
  mixtureCount,
  type Permutations,
} from './shapley';
import type { MixedRow, ScoresAndEffects } from './tree-blocks';

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

/** A member's scores along permutations. */
interface PermutationScores {
  /** Mixtures × width. */
  scores: Float64Array;
  /**
   * The same with votes replaced by a linear approximation, so that every score is a sum over leaves and linear
   * terms.
   */
  sums: Float64Array;
  /** Outputs × groups: the exact Shapley values of `sums`, summed over the background rows in `rows`. */
  effects: Float64Array;
}

/** A row whose mixtures a member is to score. */
export interface RowToScore extends MixedRow {
  /**
   * The share of a Gaussian process common to all members: its score changes along these permutations (overwritten)
   * and its effects.
   */
  process?: { changes: Float64Array; effects: Float64Array };
}

/** Context of the functions below. */
interface RowSteps extends MixedRow {
  permutations: Permutations;
  cache: ExplanationCache;
}

/**
 * A member's scores of the mixtures of some rows with the background, along every permutation. The loop over trees is
 * outside the loop over rows, so that a tree's tables stay in the processor's cache.
 *
 * @param rows all with the same background and groups
 */
export function permutationScores(
  member: Member,
  rows: RowToScore[],
  permutations: Permutations,
  cache: ExplanationCache,
): PermutationScores[] {
  const { width } = member;
  const { groups } = rows[0].foreground;
  const steps = rows.map((row): RowSteps => ({
    foreground: row.foreground,
    rows: row.rows,
    permutations,
    cache,
  }));
  const zeros = (): ScoresAndEffects => ({
    scores: new Float64Array(mixtureCount(permutations) * width),
    effects: new Float64Array(width * groups),
  });
  const sums = rows.map(({ process }): ScoresAndEffects =>
    process ? { scores: process.changes, effects: process.effects.slice() } : zeros(),
  );
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      steps.forEach((own, i) => addLinear(part, own, sums[i]));
    } else if (part.kind === 'trees') {
      addTrees(part, part.weight, steps, sums);
    }
    if (part.kind === 'linear' || part.kind === 'trees') {
      sums.forEach(({ scores }, i) => addStarts(part, part.weight, steps[i], scores));
    }
  }
  sums.forEach(({ scores }) => sumOverSteps(permutations, width, scores));
  const isVoting = member.parts.some(({ kind }) => kind === 'votes');
  const found = sums.map(({ scores, effects }): PermutationScores => ({
    ...{ sums: scores, effects },
    scores: isVoting ? scores.slice() : scores,
  }));
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      const votes = rows.map(zeros);
      addTrees(part, 1, steps, votes);
      votes.forEach((own, i) => addVotes(part, own, steps[i], found[i]));
    }
  }
  return found;
}

function addVotes(
  part: Part,
  { scores: votes, effects }: ScoresAndEffects,
  steps: RowSteps,
  found: PermutationScores,
): void {
  const width = part.base.length;
  const { groups } = steps.foreground;
  addStarts(part, 1, steps, votes);
  sumOverSteps(steps.permutations, width, votes);
  const own = votes.slice();
  addScoresOfVotes(own, width, part.weight, found.scores);
  for (let k = 0; k < width; k++) {
    const slope = part.weight * steepness(votes, own, k, width, steps);
    for (let i = k; i < votes.length; i += width) {
      found.sums[i] += slope * votes[i];
    }
    for (let i = k * groups; i < (k + 1) * groups; i++) {
      found.effects[i] += slope * effects[i];
    }
  }
}

/** The mean slope of the score of the votes from the background rows to the foreground row. */
function steepness(
  votes: Float64Array,
  scores: Float64Array,
  output: number,
  width: number,
  { permutations, rows }: RowSteps,
): number {
  let [sum, count] = [0, 0];
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const first = lowestBit(rest) * permutations.perRow * permutations.steps * width + output;
    const last = first + permutations.common.length * width;
    const away = votes[last] - votes[first];
    sum += Math.abs(away) > 1e-9 ? (scores[last] - scores[first]) / away : 1;
    count++;
  }
  return sum / count;
}

/* Scores are first written as changes from step to step, then summed. */

/** The scores of the background rows: every permutation starts with one. */
function addStarts(
  part: Part,
  weight: number,
  { foreground, permutations }: RowSteps,
  scores: Float64Array,
): void {
  const own = backgroundScores(part, foreground.background);
  const width = part.base.length;
  eachPermutation(permutations, (first, _, row) => {
    for (let k = 0; k < width; k++) {
      scores[first * width + k] += weight * own[row * width + k];
    }
  });
}

function addLinear(
  part: Part & { kind: 'linear' },
  { foreground, permutations, rows }: RowSteps,
  { scores, effects }: ScoresAndEffects,
): void {
  const width = part.base.length;
  eachLinearTerm(part, foreground, (column, output, own, others) => {
    const group = foreground.groupOf[column];
    eachPermutation(permutations, (first, flips, row) => {
      const flip = permutations.flips[flips + group];
      scores[(first + flip) * width + output] += part.weight * (own - others[row]);
    });
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      effects[output * foreground.groups + group] += part.weight * (own - others[lowestBit(rest)]);
    }
  });
}

function addTrees(
  { base, trees }: Part & { kind: 'trees' | 'votes' },
  weight: number,
  rows: RowSteps[],
  said: ScoresAndEffects[],
): void {
  const { cache, permutations } = rows[0];
  cache.blocks(trees, base.length, permutations).add(rows, weight, said);
}

function sumOverSteps(permutations: Permutations, width: number, scores: Float64Array): void {
  eachPermutation(permutations, (first) => {
    const end = (first + permutations.steps) * width;
    for (let i = (first + 1) * width; i < end; i++) {
      scores[i] += scores[i - width];
    }
  });
}
