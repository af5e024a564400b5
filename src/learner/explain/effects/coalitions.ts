import type { Calibration } from '../../calibration/calibrate';
import { lowestBit } from '../../math/bits';
import type { Member, Part } from '../../model/members';
import { withShared } from '../../model/predict/ensemble-probabilities';
import type { Apart } from '../../model/predict/process-apart';
import { addScoresOfVotes } from '../../model/votes';
import { productCoalitions } from '../gaussian-process/product-coalitions';
import { type Coalitions, coalitionsOf } from '../shapley/coalition-layout';
import { allRows, type Compared } from '../shapley/compared';
import { shapleyValues } from '../shapley/shapley-values';
import { LeafWalk } from '../tree-shap/leaf-walk';
import { answers } from './answers';
import { keptWays } from './kept-ways';
import { eachLinearTerm } from './linear-terms';
import type { GroupEffects } from './mean-effects';

/** Players at most. */
const MOST_PLAYERS = 16;
/** Coalitions of groups outside, and what a leaf counts for in each: used again and again. */
const some = new Int32Array(1 << MOST_PLAYERS);
const counts = new Float64Array(1 << MOST_PLAYERS);

/**
 * Adds the Shapley values of the probability of class `of` in the mean over the background, as far as it is about `rows`.
 *
 * @param ensemble members without their Gaussian processes, and the mean of these
 * @param players per row of the background the groups in which the row differs
 * @param rows those of the background, as bits
 */
export function addByCoalitions(
  ensemble: Apart,
  calibration: Calibration,
  compared: Compared,
  { players, rows, of }: { players: number[][]; rows: number; of: number },
  found: GroupEffects,
): void {
  const coalitions = coalitionsOf(compared, players, rows);
  const { at } = coalitions;
  const values = probabilitiesOf(ensemble, calibration, compared, coalitions, of);
  const all = compared.background.rows;
  // Games of the same players are one game in the mean.
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

/** The probability of class `of`, per mixture. */
function probabilitiesOf(
  { process, others: members }: Apart,
  calibration: Calibration,
  compared: Compared,
  coalitions: Coalitions,
  of: number,
): Float64Array {
  const mixtures = coalitions.at[compared.background.rows];
  const classes = calibration.priors.length;
  const scores = new Float64Array(mixtures * members[0].width);
  const shared = process && productCoalitions(process, compared, coalitions);
  const scoresOf = (member: Member) =>
    withShared(coalitionScores(member, compared, coalitions, scores), shared);
  const probas = answers(members, scoresOf, mixtures, calibration);
  const values = new Float64Array(mixtures);
  for (let i = 0; i < mixtures; i++) {
    values[i] = probas[i * classes + of];
  }
  return values;
}

/**
 * A member's scores of the mixtures.
 *
 * @param scores to write them to: mixtures × width
 */
function coalitionScores(
  member: Member,
  compared: Compared,
  coalitions: Coalitions,
  scores: Float64Array,
): Float64Array {
  const { width } = member;
  const walk = new LeafWalk(compared, keptWays(compared.background, compared.groupOf).ways);
  scores.fill(0);
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      addBase(part, part.weight, coalitions, scores);
      addLinear(part, compared, coalitions, scores);
    } else if (part.kind === 'trees') {
      addBase(part, part.weight, coalitions, scores);
      addTrees(part, part.weight, compared, walk, coalitions, scores);
    }
  }
  sumOverParts(coalitions.at, width, scores);
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      const votes = new Float64Array(scores.length);
      addBase(part, 1, coalitions, votes);
      addTrees(part, 1, compared, walk, coalitions, votes);
      sumOverParts(coalitions.at, width, votes);
      addScoresOfVotes(votes, width, part.weight, scores);
    }
  }
  return scores;
}

/*
 * First each coalition has what it adds to its parts (the Möbius transform of its score): so a leaf counts in those
 * coalitions alone that hold the groups `inside` and some of the groups `outside`, by turns added and taken away. Then
 * comes the sum over all parts of a coalition.
 */

function addBase({ base }: Part, weight: number, { rows, at }: Coalitions, scores: Float64Array): void {
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const to = at[lowestBit(rest)] * base.length;
    for (let k = 0; k < base.length; k++) {
      scores[to + k] += weight * base[k];
    }
  }
}

function addLinear(
  part: Part & { kind: 'linear' },
  compared: Compared,
  { rows, at, bitOf }: Coalitions,
  scores: Float64Array,
): void {
  const { groups, groupOf } = compared;
  const width = part.base.length;
  eachLinearTerm(part, compared, (column, output, own, others) => {
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

function addTrees(
  { base, trees }: Part & { kind: 'trees' | 'votes' },
  weight: number,
  { bins, background, groupOf, groups: groupCount }: Compared,
  walk: LeafWalk,
  { rows, at, bitOf, common }: Coalitions,
  scores: Float64Array,
): void {
  const width = base.length;
  const { width: perLeaf, values } = trees;
  let output = 0;
  const visit = (from: number, leaf: LeafWalk) => {
    const { groups, groupsAt, failed, mask, inside: insideOf, insideAt } = leaf;
    let known = -1;
    let length = 0;
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const row = lowestBit(rest);
      let first = at[row];
      for (let slots = insideOf[insideAt + row]; slots !== 0; slots &= slots - 1) {
        first += bitOf[row * groupCount + groups[groupsAt + lowestBit(slots)]];
      }
      let outside = 0;
      for (let slots = failed; slots !== 0; slots &= slots - 1) {
        outside |= bitOf[row * groupCount + groups[groupsAt + lowestBit(slots)]];
      }
      if (outside !== known) {
        known = outside;
        length = 1;
        counts[0] = weight;
        for (let bit = outside; bit !== 0; bit &= bit - 1) {
          for (let i = 0; i < length; i++) {
            some[length + i] = some[i] | (bit & -bit);
            counts[length + i] = -counts[i];
          }
          length *= 2;
        }
      }
      if (perLeaf === 1) {
        const value = values[from];
        for (let i = 0; i < length; i++) {
          scores[(first + some[i]) * width + output] += counts[i] * value;
        }
        continue;
      }
      for (let i = 0; i < length; i++) {
        const to = (first + some[i]) * width;
        for (let k = 0; k < perLeaf; k++) {
          scores[to + k] += counts[i] * values[from + k];
        }
      }
    }
  };
  const kept = keptWays(background, groupOf);
  const ways = kept.ways(trees);
  const table = common && kept.coalitionTable(trees, common);
  for (let tree = 0; tree < trees.roots.length; tree++) {
    output = perLeaf > 1 ? 0 : tree % width;
    if (ways && table) {
      kept.reached.find(trees, ways, tree, bins, allRows(background));
      table.add(kept.reached, trees, weight, output, scores, width);
    } else {
      walk.tree(trees, tree, rows, visit);
    }
  }
}

/** Turns what each coalition adds to its parts into its score, for two groups at a time. */
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
