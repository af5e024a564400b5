import type { Calibration } from '../calibration/calibrate';
import { type Apart, calibratedProbabilities, withShared } from '../model/ensemble';
import { addScoresOfVotes, type Member, type Part } from '../model/model';
import { eachLinearTerm, type GroupEffects } from './effects';
import type { ExplanationCache } from './explanation-cache';
import { processCoalitions } from './process-effects';
import { type CoalitionLayout, type ForegroundRow, layOutCoalitions, shapleyValues } from './shapley';
import { bytesForCoalitions } from './tree-blocks';

/**
 * The exact Shapley values of the probability of class `of`, averaged over the background.
 *
 * @param ensemble members without their Gaussian processes, and the process they share
 * @param players per background row, the groups in which it differs
 */
export function coalitionEffects(
  { process, others: members }: Apart,
  calibration: Calibration,
  { foreground, players, of }: { foreground: ForegroundRow; players: number[][]; of: number },
  cache: ExplanationCache,
): GroupEffects {
  const { groups, background } = foreground;
  const coalitions = layOutCoalitions(players, groups);
  const { at } = coalitions;
  const mixtures = at[background.rows];
  const classes = calibration.priors.length;
  const scores = new Float64Array(mixtures * members[0].width);
  cache.reserve(bytesForCoalitions(mixtures, cache.sizeOf(members[0].width)));
  const shared = process && processCoalitions(process, foreground, coalitions);
  const scoresOf = (member: Member) =>
    withShared(coalitionScores(member, foreground, coalitions, cache, scores), shared);
  const probas = calibratedProbabilities(members, scoresOf, mixtures, calibration);
  const found = { base: 0, effects: new Float64Array(groups) };
  players.forEach((own, row) => {
    const values = Float64Array.from(
      { length: at[row + 1] - at[row] },
      (_, coalition) => probas[(at[row] + coalition) * classes + of],
    );
    found.base += values[0] / background.rows;
    shapleyValues(values, own.length).forEach((effect, i) => {
      found.effects[own[i]] += effect / background.rows;
    });
  });
  return found;
}

/**
 * A member's scores of the mixtures.
 *
 * @param scores receives them: mixtures × width
 */
function coalitionScores(
  member: Member,
  foreground: ForegroundRow,
  coalitions: CoalitionLayout,
  cache: ExplanationCache,
  scores: Float64Array,
): Float64Array {
  const { width } = member;
  scores.fill(0);
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      addBase(part, part.weight, coalitions, scores);
      addLinear(part, foreground, coalitions, scores);
    } else if (part.kind === 'trees') {
      addBase(part, part.weight, coalitions, scores);
      cache.blocks(part.trees, width).addCoalitions(foreground, coalitions, part.weight, scores);
    }
  }
  sumOverParts(coalitions.at, width, scores);
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      const votes = new Float64Array(scores.length);
      addBase(part, 1, coalitions, votes);
      cache.blocks(part.trees, width).addCoalitions(foreground, coalitions, 1, votes);
      sumOverParts(coalitions.at, width, votes);
      addScoresOfVotes(votes, width, part.weight, scores);
    }
  }
  return scores;
}

/*
 * First compute the Möbius transform of the scores: what each coalition adds to its subsets. Then sum over the subsets of
 * each coalition to get its score.
 */

function addBase({ base }: Part, weight: number, { at }: CoalitionLayout, scores: Float64Array): void {
  for (let row = 0; row + 1 < at.length; row++) {
    for (let k = 0; k < base.length; k++) {
      scores[at[row] * base.length + k] += weight * base[k];
    }
  }
}

function addLinear(
  part: Part & { kind: 'linear' },
  foreground: ForegroundRow,
  { at, bitOf }: CoalitionLayout,
  scores: Float64Array,
): void {
  const { groups, groupOf } = foreground;
  const width = part.base.length;
  eachLinearTerm(part, foreground, (column, output, own, others) => {
    for (let row = 0; row < others.length; row++) {
      const bit = bitOf[row * groups + groupOf[column]];
      scores[at[row] * width + output] += part.weight * others[row];
      if (bit !== 0) {
        scores[(at[row] + bit) * width + output] += part.weight * (own - others[row]);
      }
    }
  });
}

/** Turns the Möbius transform into scores (a sum over subsets), two groups per pass. */
function sumOverParts(at: Int32Array, width: number, scores: Float64Array): void {
  for (let row = 0; row + 1 < at.length; row++) {
    const start = at[row] * width;
    const end = at[row + 1] * width;
    let half = width;
    for (; start + 2 * half < end; half *= 4) {
      for (let from = start; from < end; from += 4 * half) {
        for (let i = from; i < from + half; i++) {
          const none = scores[i];
          const second = scores[i + 2 * half];
          scores[i + half] += none;
          scores[i + 2 * half] = none + second;
          scores[i + 3 * half] += scores[i + half] + second;
        }
      }
    }
    if (start + half < end) {
      for (let i = start; i < start + half; i++) {
        scores[i + half] += scores[i];
      }
    }
  }
}
