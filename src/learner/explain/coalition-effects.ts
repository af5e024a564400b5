import type { Calibration } from '../calibration/calibrate';
import { type Apart, withShared } from '../model/ensemble';
import { addScoresOfVotes, type Member, type Part } from '../model/model';
import { answeredProbabilities, eachLinearTerm, type GroupEffects } from './effects';
import type { ExplanationCache } from './explanation-cache';
import { productCoalitions } from './process-scores';
import {
  type CoalitionLayout,
  type ForegroundRow,
  layOutCoalitions,
  lowestBit,
  shapleyValues,
} from './shapley';
import { bytesForCoalitions } from './tree-blocks';

/**
 * Adds the exact Shapley values of the probability of class `of`: the mean over the background, restricted to `rows`.
 *
 * @param ensemble members without their Gaussian processes, and the process they share
 * @param players per background row, the groups in which it differs
 * @param rows background rows, as bits
 */
export function addCoalitionEffects(
  ensemble: Apart,
  calibration: Calibration,
  foreground: ForegroundRow,
  { players, rows, of }: { players: number[][]; rows: number; of: number },
  cache: ExplanationCache,
  found: GroupEffects,
): void {
  const coalitions = layOutCoalitions(foreground, players, rows);
  const { at } = coalitions;
  const values = probabilitiesOf(ensemble, calibration, foreground, coalitions, of, cache);
  const all = foreground.background.rows;
  // Games with the same players can be averaged before their Shapley values are computed.
  const sums = new Map<string, { players: number[]; values: Float64Array }>();
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    const key = players[row].join();
    const own = values.subarray(at[row], at[row + 1]);
    const known = sums.get(key);
    if (known) {
      own.forEach((value, i) => (known.values[i] += value));
    } else {
      sums.set(key, { players: players[row], values: own.slice() });
    }
  }
  for (const game of sums.values()) {
    found.base += game.values[0] / all;
    shapleyValues(game.values, game.players.length).forEach((effect, i) => {
      found.effects[game.players[i]] += effect / all;
    });
  }
}

/** The probability of class `of` in each mixture. */
function probabilitiesOf(
  { process, others: members }: Apart,
  calibration: Calibration,
  foreground: ForegroundRow,
  coalitions: CoalitionLayout,
  of: number,
  cache: ExplanationCache,
): Float64Array {
  const mixtures = coalitions.at[foreground.background.rows];
  const classes = calibration.priors.length;
  const scores = new Float64Array(mixtures * members[0].width);
  cache.reserve(bytesForCoalitions(mixtures, cache.sizeOf(members[0].width)));
  const shared = process && productCoalitions(process, foreground, coalitions);
  const scoresOf = (member: Member) =>
    withShared(coalitionScores(member, foreground, coalitions, cache, scores), shared);
  const probas = answeredProbabilities(members, scoresOf, mixtures, calibration);
  const values = new Float64Array(mixtures);
  for (let i = 0; i < mixtures; i++) {
    values[i] = probas[i * classes + of];
  }
  return values;
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
  const row = { foreground, rows: coalitions.rows };
  scores.fill(0);
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      addBase(part, part.weight, coalitions, scores);
      addLinear(part, foreground, coalitions, scores);
    } else if (part.kind === 'trees') {
      addBase(part, part.weight, coalitions, scores);
      cache.blocks(part.trees, width).addCoalitions(row, coalitions, part.weight, scores);
    }
  }
  sumOverParts(coalitions.at, width, scores);
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      const votes = new Float64Array(scores.length);
      addBase(part, 1, coalitions, votes);
      cache.blocks(part.trees, width).addCoalitions(row, coalitions, 1, votes);
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

function addBase({ base }: Part, weight: number, { rows, at }: CoalitionLayout, scores: Float64Array): void {
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const to = at[lowestBit(rest)] * base.length;
    for (let k = 0; k < base.length; k++) {
      scores[to + k] += weight * base[k];
    }
  }
}

function addLinear(
  part: Part & { kind: 'linear' },
  foreground: ForegroundRow,
  { rows, at, bitOf }: CoalitionLayout,
  scores: Float64Array,
): void {
  const { groups, groupOf } = foreground;
  const width = part.base.length;
  eachLinearTerm(part, foreground, (column, output, own, others) => {
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      const row = lowestBit(rest);
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
