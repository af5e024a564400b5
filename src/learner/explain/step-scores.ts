import { bitCount, lowestBit } from '../math/bits';
import type { Member, Part } from '../model/members';
import { addScoresOfVotes } from '../model/votes';
import { allRows, type Compared } from './compared';
import { type KeptWays, keptWays } from './kept-ways';
import { addLeafEffects } from './leaf-effects';
import { LeafWalk } from './leaf-walk';
import { eachLinearTerm } from './linear-terms';
import { eachOrder, type Orders } from './orders';
import { addProductSteps, type SharedProcess } from './product-steps';

/** What a member says of the mixtures along orders. */
export interface StepScores {
  /** mixtures × width */
  scores: Float64Array;
  /** The same, but votes count along a straight line: so each is a sum over leaves and linear terms. */
  sums: Float64Array;
  /** outputs × groups: the Shapley values of those sums, added up over the background's `rows`. */
  effects: Float64Array;
}

/** What the functions below are about. */
interface Steps {
  compared: Compared;
  orders: Orders;
  /** Rows of the background that effects are about, as bits. */
  rows: number;
  kept: KeptWays;
  walk: LeafWalk;
}

/**
 * A member's scores of the row mixed with the background's rows, step by step in each order.
 *
 * @param rows those of the background that effects are about, as bits
 * @param process takes part in the scores of every member
 */
export function stepScores(
  member: Member,
  compared: Compared,
  orders: Orders,
  rows: number,
  process?: SharedProcess,
): StepScores {
  const { width } = member;
  const { background, groupOf, groups } = compared;
  const kept = keptWays(background, groupOf);
  const steps = { compared, orders, rows, kept, walk: new LeafWalk(compared, kept.ways) };
  const sums = new Float64Array(orders.rows * orders.perRow * orders.steps * width);
  if (process) {
    addProductSteps(process, orders, rows, sums);
  }
  const effects = process?.effects.slice() ?? new Float64Array(width * groups);
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      addLinear(part, steps, sums, effects);
    } else if (part.kind === 'trees') {
      addTrees(part, part.weight, steps, sums, effects);
    }
    if (part.kind === 'linear' || part.kind === 'trees') {
      addBase(part, part.weight, orders, sums);
    }
  }
  sumOverSteps(orders, width, sums);
  const scores = member.parts.some(({ kind }) => kind === 'votes') ? sums.slice() : sums;
  for (const part of member.parts) {
    if (part.kind !== 'votes') {
      continue;
    }
    const votes = new Float64Array(sums.length);
    const ofVotes = new Float64Array(width * groups);
    addTrees(part, 1, steps, votes, ofVotes);
    addBase(part, 1, orders, votes);
    sumOverSteps(orders, width, votes);
    const own = votes.slice();
    addScoresOfVotes(own, width, part.weight, scores);
    for (let k = 0; k < width; k++) {
      const slope = part.weight * steepness(votes, own, k, width, steps);
      for (let i = k; i < sums.length; i += width) {
        sums[i] += slope * votes[i];
      }
      for (let group = 0; group < groups; group++) {
        effects[k * groups + group] += slope * ofVotes[k * groups + group];
      }
    }
  }
  return { scores, sums, effects };
}

/** How much a score of votes rises with them, from the background's rows to the row, in the mean. */
function steepness(
  votes: Float64Array,
  scores: Float64Array,
  output: number,
  width: number,
  { orders, rows }: Steps,
): number {
  let [sum, count] = [0, 0];
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const first = lowestBit(rest) * orders.perRow * orders.steps * width + output;
    const last = first + orders.common.length * width;
    const away = votes[last] - votes[first];
    sum += Math.abs(away) > 1e-9 ? (scores[last] - scores[first]) / away : 1;
    count++;
  }
  return sum / count;
}

/* First come the changes from step to step, then their sums. */

function addBase({ base }: Part, weight: number, orders: Orders, scores: Float64Array): void {
  eachOrder(orders, (first) => {
    for (let k = 0; k < base.length; k++) {
      scores[first * base.length + k] += weight * base[k];
    }
  });
}

function addLinear(
  part: Part & { kind: 'linear' },
  { compared, orders, rows }: Steps,
  scores: Float64Array,
  effects: Float64Array,
): void {
  const width = part.base.length;
  eachLinearTerm(part, compared, (column, output, own, others) => {
    const group = compared.groupOf[column];
    eachOrder(orders, (first, turns, row) => {
      const turn = orders.turns[turns + group];
      scores[first * width + output] += part.weight * others[row];
      scores[(first + turn) * width + output] += part.weight * (own - others[row]);
    });
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      effects[output * compared.groups + group] += part.weight * (own - others[lowestBit(rest)]);
    }
  });
}

function addTrees(
  { base, trees }: Part & { kind: 'trees' | 'votes' },
  weight: number,
  { compared, orders, rows, kept, walk }: Steps,
  scores: Float64Array,
  effects: Float64Array,
): void {
  const width = base.length;
  const { groups, background, bins } = compared;
  const all = allRows(background);
  // Tables are of all the background's rows: for few of them it is quicker to look at these alone.
  const changes = 2 * bitCount(rows) > background.rows ? kept.orderTable(trees, orders, width) : undefined;
  const table = rows === all ? kept.effectTable(trees) : undefined;
  const { reachedSubtrees: reached } = kept;
  let output = 0;
  const visit = (from: number, leaf: LeafWalk) => {
    for (let k = output; k < output + trees.width; k++) {
      const value = weight * trees.values[from + k - output];
      if (!table) {
        addLeafEffects(leaf, value, effects.subarray(k * groups, (k + 1) * groups));
      }
      if (!changes) {
        addLeafSteps(leaf, value, orders, scores.subarray(k), width);
      }
    }
  };
  changes?.addStarts(weight, scores);
  for (let tree = 0; tree < trees.roots.length; tree++) {
    output = trees.width > 1 ? 0 : tree % width;
    if (!changes || !table) {
      walk.tree(trees, tree, rows, visit);
    }
    if (changes) {
      reached.find(changes.subtrees, tree, bins, all);
      changes.addChanges(reached, weight, output, scores);
    }
    if (table) {
      if (table.subtrees !== changes?.subtrees) {
        reached.find(table.subtrees, tree, bins, all);
      }
      table.add(reached, weight, output, effects, groups);
    }
  }
}

/** Adds a leaf of some value where it is reached first in an order, and takes it away after the last step. See `OrderTable`. */
function addLeafSteps(
  { groups, groupsAt, failed, mask, inside, insideAt }: LeafWalk,
  value: number,
  { perRow, steps, turns, groups: groupCount }: Orders,
  scores: Float64Array,
  width: number,
): void {
  for (let rest = mask; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    for (let order = row * perRow; order < (row + 1) * perRow; order++) {
      let begin = 0;
      let end = steps;
      for (let slots = inside[insideAt + row]; slots !== 0; slots &= slots - 1) {
        begin = Math.max(begin, turns[order * groupCount + groups[groupsAt + lowestBit(slots)]]);
      }
      for (let slots = failed; slots !== 0; slots &= slots - 1) {
        end = Math.min(end, turns[order * groupCount + groups[groupsAt + lowestBit(slots)]]);
      }
      if (begin < end) {
        scores[(order * steps + begin) * width] += value;
        if (end < steps) {
          scores[(order * steps + end) * width] -= value;
        }
      }
    }
  }
}

function sumOverSteps(orders: Orders, width: number, scores: Float64Array): void {
  eachOrder(orders, (first) => {
    const end = (first + orders.steps) * width;
    for (let i = (first + 1) * width; i < end; i++) {
      scores[i] += scores[i - width];
    }
  });
}
