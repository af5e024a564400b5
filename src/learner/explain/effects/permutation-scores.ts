import { lowestBit } from '../../math/bits';
import type { Member, Part } from '../../model/members';
import { addScoresOfVotes } from '../../model/votes';
import type { MixedRow, ScoresAndEffects } from '../blocks/tree-blocks';
import { eachPermutation, mixtureCount, type Permutations } from '../shapley/permutations';
import { backgroundScores } from './background-scores';
import type { ExplanationCache } from './explanation-cache';
import { eachLinearTerm } from './linear-terms';

/** A member's scores along permutations. */
export interface PermutationScores {
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
