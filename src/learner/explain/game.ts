import { balance, type Calibration } from '../calibration/calibrate';
import { bitCount, lowestBit } from '../math/bits';
import { Random } from '../math/random';
import { calibratedProbabilities, type Member } from '../model/members';
import { addShares } from './additive';
import { coalitionScores, shapleyValues } from './coalitions';
import { type Compared, LeafWalk } from './compared';
import { type Contribution, contributions, voteContributions, votingParts } from './contributions';
import { drawOrders, stepScores } from './orders';

/** Shapley values of a row's answer: `base` and `effects` (per group) add up to it. */
export interface GroupEffects {
  base: number;
  effects: Float64Array;
}

/** Of the ensemble's mean, on the scale that members learn: exact for any number of groups. */
export function meanEffects(members: Member[], compared: Compared): GroupEffects {
  const effects = new Float64Array(compared.groups);
  let base = 0;
  const walk = new LeafWalk(compared);
  for (const member of members) {
    const share = member.weight / compared.background.rows;
    contributions(member, compared, walk, (_, value, mask, conditions) => {
      const sum = share * value * bitCount(mask);
      if (conditions.insideCount === 0) {
        base += sum;
      }
      addShares(sum, conditions, effects);
    });
  }
  return { base, effects };
}

/** Groups up to which all coalitions are tried, and scores that this may take. */
const EXACT_GROUPS = 10;
const EXACT_SCORES = 400_000;
/**
 * Beyond that, orders for each row of the background, each with its reverse: as many as their work allows, so many nodes
 * of trees. On the 13 columns of the Titanic two of them came within 0.10 points of probability of the exact values in the
 * mean and 0.6 at most, one within 0.15 and 1.4.
 */
const MOST_PAIRS = 16;
const ORDERED_NODES = 20_000;
/** The same row is explained alike each time. */
const SEED = 7;

/**
 * Of the probability of class `of`: exact where all coalitions can be tried (up to `exactUpTo` groups, where that is
 * given), else by orders of groups.
 */
export function probabilityEffects(
  members: Member[],
  calibration: Calibration,
  compared: Compared,
  of: number,
  exactUpTo?: number,
): GroupEffects {
  const { groups, background } = compared;
  const perMixture = background.rows * members.length * members[0].width;
  const isSmall = groups <= EXACT_GROUPS && (1 << groups) * perMixture <= EXACT_SCORES;
  return (exactUpTo === undefined ? isSmall : groups <= exactUpTo)
    ? byCoalitions(members, calibration, compared, of)
    : byOrders(members, calibration, compared, of);
}

function byCoalitions(
  members: Member[],
  calibration: Calibration,
  compared: Compared,
  of: number,
): GroupEffects {
  const { rows } = compared.background;
  const classes = calibration.priors.length;
  const coalitions = 1 << compared.groups;
  const scoresOf = (member: Member) => coalitionScores(member, compared);
  const probas = answers(members, scoresOf, coalitions * rows, calibration);
  const values = new Float64Array(coalitions);
  for (let at = 0; at < coalitions * rows; at++) {
    values[Math.floor(at / rows)] += probas[at * classes + of] / rows;
  }
  return { base: values[0], effects: shapleyValues(values, compared.groups) };
}

/**
 * The mean over orders of what each group adds as it passes to the row's values. Most of it is known without drawing:
 * the share of a sum of scores that follows the probability from the background's to the row's (a control variate). So
 * only what differs from it depends on the orders drawn.
 */
function byOrders(members: Member[], calibration: Calibration, compared: Compared, of: number): GroupEffects {
  const { groups, background } = compared;
  const { rows } = background;
  const { width } = members[0];
  const classes = calibration.priors.length;
  const pairs = Math.max(1, Math.min(MOST_PAIRS, Math.round(ORDERED_NODES / nodesOf(members))));
  const orders = drawOrders(pairs, compared, new Random(SEED));
  const mixtures = 2 * orders.pairs * (groups + 1) * rows;
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
  const slopes = new Float64Array(rows * width);
  for (let row = 0; row < rows; row++) {
    const scores = { from: row * width, to: (groups * rows + row) * width };
    const chances = { from: row * classes, to: (groups * rows + row) * classes };
    slopeBetween(mean, scores, probas, chances, { width, classes, of }, slopes.subarray(row * width));
  }
  const effects = sumOfScoresEffects(members, compared, slopes, chordsOf);
  let base = 0;
  for (let row = 0; row < rows; row++) {
    base += probas[row * classes + of] / rows;
  }
  const share = 1 / (rows * 2 * orders.pairs);
  for (let order = 0; order < 2 * orders.pairs; order++) {
    for (let row = 0; row < rows; row++) {
      const places = (row * orders.pairs + (order >> 1)) * groups;
      for (let group = 0; group < groups; group++) {
        const place = orders.places[places + group];
        const before = (order * (groups + 1) + (order & 1 ? groups - 1 - place : place)) * rows + row;
        const after = before + rows;
        let beyond = probas[after * classes + of] - probas[before * classes + of];
        for (let k = 0; k < width; k++) {
          beyond -= slopes[row * width + k] * (mean[after * width + k] - mean[before * width + k]);
        }
        effects[group] += share * beyond;
      }
    }
  }
  return { base, effects };
}

function nodesOf(members: Member[]): number {
  const parts = members.flatMap((member) => member.parts);
  return parts.reduce((sum, part) => sum + (part.kind === 'linear' ? 1 : part.trees.left.length), 0);
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
 * Shapley values of the mean over the background of its rows' sums of scores.
 *
 * @param slopes rows × width
 * @param chordsOf per member and part that votes, what its votes count for: rows × width
 */
function sumOfScoresEffects(
  members: Member[],
  compared: Compared,
  slopes: Float64Array,
  chordsOf: Float64Array[][],
): Float64Array {
  const { rows } = compared.background;
  const effects = new Float64Array(compared.groups);
  const walk = new LeafWalk(compared);
  members.forEach((member, m) => {
    const addWith =
      (factors: Float64Array): Contribution =>
      (output, value, mask, conditions) => {
        if (conditions.insideCount + conditions.outsideCount === 0) {
          return;
        }
        let sum = 0;
        for (let rest = mask; rest !== 0; rest &= rest - 1) {
          sum += factors[lowestBit(rest) * member.width + output];
        }
        addShares((member.weight * value * sum) / rows, conditions, effects);
      };
    contributions(member, compared, walk, addWith(slopes));
    votingParts(member).forEach((part, i) => {
      const chords = chordsOf[m][i].map((chord, at) => part.weight * chord * slopes[at]);
      voteContributions(part, walk, addWith(chords));
    });
  });
  return effects;
}

/** Probabilities as a prediction gives them: mixtures × classes. */
function answers(
  members: Member[],
  scoresOf: (member: Member) => Float64Array,
  mixtures: number,
  calibration: Calibration,
): Float64Array {
  const probas = calibratedProbabilities(members, scoresOf, mixtures, calibration);
  if (calibration.balance) {
    balance(probas, calibration.priors);
  }
  return probas;
}
