import type { Calibration } from '../calibration/calibrate';
import { lowestBit } from '../math/bits';
import { Random } from '../math/random';
import type { Member } from '../model/members';
import { answers } from './answers';
import { addByCoalitions } from './coalitions';
import type { Compared } from './compared';
import type { Games } from './games';
import { keptWays } from './kept-ways';
import { LeafWalk } from './leaf-walk';
import { eachLinearTerm } from './linear-terms';
import { addLeafEffects, type GroupEffects } from './mean-effects';
import { drawOrders, eachOrder, stepScores } from './orders';

/** Differing groups up to which all coalitions are tried, and scores that this may take for a row of the background. */
const EXACT_GROUPS = 10;
const EXACT_SCORES = 12_500;
/** Groups whose coalitions are so few that it does not matter whether they differ. */
const FEW_GROUPS = 7;
/**
 * Beyond that, orders for each row of the background, each with its reverse: as many as their work allows, so many nodes
 * of trees. On the 13 columns of the Titanic two of them came within 0.10 points of probability of the exact values in the
 * mean and 0.6 at most, one within 0.15 and 1.4.
 */
const MOST_PAIRS = 16;
const ORDERED_NODES = 20_000;
/** The same row is explained alike each time. */
const SEED = 7;

export interface ProbabilityOptions {
  /** The class, by its number. */
  of: number;
  /** Differing groups up to which all coalitions are tried, whatever it takes. */
  exactUpTo: number | undefined;
}

/**
 * Shapley values of the probability of a class: the mean over the background's rows of those of each row's game. They are
 * exact where all coalitions of its players can be tried, else by orders of these.
 */
export function probabilityEffects(
  members: Member[],
  calibration: Calibration,
  compared: Compared,
  games: Games,
  { of, exactUpTo }: ProbabilityOptions,
): GroupEffects {
  const found = { base: 0, effects: new Float64Array(compared.groups) };
  const perMixture = members.length * members[0].width;
  const isExact = (count: number) =>
    exactUpTo === undefined
      ? count <= EXACT_GROUPS && 2 ** count * perMixture <= EXACT_SCORES
      : count <= exactUpTo;
  const few = games.common.length <= EXACT_GROUPS && isExact(games.common.length);
  const players = few ? withCommon(games) : games.players;
  let [exact, ordered] = [0, 0];
  players.forEach(({ length }, row) => {
    if (isExact(length)) {
      exact |= 1 << row;
    } else {
      ordered |= 1 << row;
    }
  });
  if (exact !== 0) {
    addByCoalitions(members, calibration, compared, { players, rows: exact, of }, found);
  }
  if (ordered !== 0) {
    addByOrders(members, calibration, compared, { players, rows: ordered, of }, found);
  }
  return found;
}

/**
 * The same players for all of the background's rows, so that leaves count in the same coalitions each time. Those in which
 * a row does not differ have no effect on it; where that makes much more coalitions they are left out all the same.
 */
function withCommon({ players, common }: Games): number[][] {
  const own = players.reduce((sum, { length }) => sum + 2 ** length, 0);
  const isMuchMore = common.length > FEW_GROUPS && 2 * own < players.length * 2 ** common.length;
  return isMuchMore ? players : players.map(() => common);
}

/**
 * The mean over orders of what each group adds as it passes to the row's values. Most of it is known without drawing:
 * the share of a sum of scores that follows the probability from the background's to the row's (a control variate). So
 * only what differs from it depends on the orders drawn.
 */
function addByOrders(
  members: Member[],
  calibration: Calibration,
  compared: Compared,
  { players, rows, of }: { players: number[][]; rows: number; of: number },
  found: GroupEffects,
): void {
  const { background } = compared;
  const { width } = members[0];
  const classes = calibration.priors.length;
  const pairs = Math.max(1, Math.min(MOST_PAIRS, Math.round(ORDERED_NODES / nodesOf(members))));
  const orders = drawOrders(pairs, compared, players, rows, new Random(SEED));
  const mixtures = orders.at[background.rows];
  const mean = new Float64Array(mixtures * width);
  const chordsOf: Float64Array[][] = [];
  const scoresOf = (member: Member) => {
    const { sums, scores, chords } = stepScores(member, compared, orders);
    chordsOf.push(chords);
    for (let i = 0; i < sums.length; i++) {
      mean[i] += member.weight * sums[i];
    }
    return scores;
  };
  const probas = answers(members, scoresOf, mixtures, calibration);
  const slopes = new Float64Array(background.rows * width);
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    const first = orders.at[row];
    const last = first + players[row].length;
    const scores = { from: first * width, to: last * width };
    const chances = { from: first * classes, to: last * classes };
    slopeBetween(mean, scores, probas, chances, { width, classes, of }, slopes.subarray(row * width));
    found.base += probas[first * classes + of] / background.rows;
  }
  addSumOfScores(members, compared, rows, slopes, chordsOf, found.effects);
  const share = 1 / (background.rows * 2 * orders.pairs);
  eachOrder(orders, (first, row, turns) => {
    for (const group of players[row]) {
      const after = first + orders.turns[turns + group];
      const before = after - 1;
      let beyond = probas[after * classes + of] - probas[before * classes + of];
      for (let k = 0; k < width; k++) {
        beyond -= slopes[row * width + k] * (mean[after * width + k] - mean[before * width + k]);
      }
      found.effects[group] += share * beyond;
    }
  });
}

function nodesOf(members: Member[]): number {
  const parts = members.flatMap((member) => member.parts);
  return parts.reduce((sum, part) => sum + ('trees' in part ? part.trees.left.length : 1), 0);
}

interface Span {
  from: number;
  to: number;
}

/** How much of each score makes up the rise of the probability along the straight way between two mixtures. */
function slopeBetween(
  scores: Float64Array,
  score: Span,
  probas: Float64Array,
  chance: Span,
  { width, classes, of }: { width: number; classes: number; of: number },
  out: Float64Array,
): void {
  let rise = 0;
  for (let k = 0; k < width; k++) {
    const middle = (probas[chance.from + k] + probas[chance.to + k]) / 2;
    // With one score for two classes it is the second one's.
    out[k] = width < classes ? (of === 1 ? 1 : -1) : (k === of ? 1 : 0) - middle;
    rise += out[k] * (scores[score.to + k] - scores[score.from + k]);
  }
  const wanted = probas[chance.to + of] - probas[chance.from + of];
  const slope = Math.abs(rise) > 1e-6 ? Math.max(-1, Math.min(1, wanted / rise)) : 0;
  for (let k = 0; k < width; k++) {
    out[k] *= slope;
  }
}

/**
 * Adds the Shapley values of a sum of scores, in the mean over the background, as far as it is about `rows`.
 *
 * @param rows those of the background, as bits
 * @param slopes what each score counts for: rows of the background × width
 * @param chordsOf per member and part that votes, what its votes count for: rows of the background × width
 */
function addSumOfScores(
  members: Member[],
  compared: Compared,
  rows: number,
  slopes: Float64Array,
  chordsOf: Float64Array[][],
  effects: Float64Array,
): void {
  const walk = new LeafWalk(compared, keptWays(compared.background, compared.groupOf).ways);
  members.forEach((member, m) => {
    const { width } = member;
    const chords = chordsOf[m].values();
    for (const part of member.parts) {
      const weight = (member.weight * part.weight) / compared.background.rows;
      if (part.kind === 'linear') {
        eachLinearTerm(part, compared, (column, k, own, others) => {
          for (let rest = rows; rest !== 0; rest &= rest - 1) {
            const row = lowestBit(rest);
            effects[compared.groupOf[column]] += weight * slopes[row * width + k] * (own - others[row]);
          }
        });
        continue;
      }
      if (part.kind === 'gaussian') {
        // Of numbers alone.
        continue;
      }
      const chord = part.kind === 'votes' ? chords.next().value : undefined;
      const factors = slopes.map((slope, i) => weight * slope * (chord ? chord[i] : 1));
      const { roots, width: perLeaf, values } = part.trees;
      let output = 0;
      const visit = (from: number, leaf: LeafWalk) => {
        const valueOf = (row: number) => {
          let value = 0;
          for (let k = 0; k < perLeaf; k++) {
            value += factors[row * width + output + k] * values[from + k];
          }
          return value;
        };
        addLeafEffects(leaf, valueOf, effects);
      };
      for (let tree = 0; tree < roots.length; tree++) {
        output = perLeaf > 1 ? 0 : tree % width;
        walk.tree(part.trees, tree, rows, visit);
      }
    }
  });
}
