import { bitCount, lowestBit } from '../math/bits';
import type { Member, Part } from '../model/members';
import { addScoresOfVotes } from '../model/votes';
import type { Trees } from '../trees/trees';
import { allRows, type Compared } from './compared';
import type { EffectTable } from './effect-table';
import { type KeptWays, keptWays } from './kept-ways';
import { addLeafEffects } from './leaf-effects';
import { LeafWalk } from './leaf-walk';
import { eachLinearTerm } from './linear-terms';
import type { OrderTable } from './order-table';
import { eachOrder, mixturesOf, type Orders } from './orders';

/** What a member says of the mixtures along orders. */
export interface StepScores {
  /** mixtures × width */
  scores: Float64Array;
  /** The same, but votes count along a straight line: so each is a sum over leaves and linear terms. */
  sums: Float64Array;
  /** outputs × groups: the Shapley values of those sums, added up over the background's `rows`. */
  effects: Float64Array;
}

/** A row whose mixtures are followed. */
export interface SteppedRow {
  compared: Compared;
  /** Rows of the background that effects are about, as bits. */
  rows: number;
  /** Takes part in the scores of every member: what it says of these orders, and its effects. */
  process?: { changes: Float64Array; effects: Float64Array };
}

/** What the functions below are about. */
interface Steps {
  compared: Compared;
  orders: Orders;
  rows: number;
  kept: KeptWays;
  walk: LeafWalk;
}

/** What one kind of part says: mixtures × width, and outputs × groups. */
interface Said {
  scores: Float64Array;
  effects: Float64Array;
}

/**
 * A member's scores of some rows mixed with the background's rows, step by step in each order. Trees are looked at for
 * one row after another, since what is kept of a tree is then close to the processor.
 *
 * @param rows all with the same background and groups
 */
export function stepScores(member: Member, rows: SteppedRow[], orders: Orders): StepScores[] {
  const { width } = member;
  const { background, groupOf, groups } = rows[0].compared;
  const kept = keptWays(background, groupOf);
  const steps = rows.map(({ compared, rows: about }): Steps => ({
    ...{ compared, orders, kept, rows: about },
    walk: new LeafWalk(compared, kept.ways),
  }));
  const nothing = (): Said[] =>
    rows.map(() => ({
      scores: new Float64Array(mixturesOf(orders) * width),
      effects: new Float64Array(width * groups),
    }));
  const sums = nothing();
  rows.forEach(({ process }, i) => {
    if (process) {
      sums[i].scores.set(process.changes);
      sums[i].effects.set(process.effects);
    }
  });
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      steps.forEach((own, i) => addLinear(part, own, sums[i]));
    } else if (part.kind === 'trees') {
      addTrees(part, part.weight, steps, sums);
    }
    if (part.kind === 'linear' || part.kind === 'trees') {
      sums.forEach(({ scores }) => addBase(part, part.weight, orders, scores));
    }
  }
  sums.forEach(({ scores }) => sumOverSteps(orders, width, scores));
  const isVoting = member.parts.some(({ kind }) => kind === 'votes');
  const found = sums.map(({ scores, effects }): StepScores => ({
    ...{ sums: scores, effects },
    scores: isVoting ? scores.slice() : scores,
  }));
  for (const part of member.parts) {
    if (part.kind === 'votes') {
      const votes = nothing();
      addTrees(part, 1, steps, votes);
      votes.forEach((own, i) => addVotes(part, own, steps[i], found[i]));
    }
  }
  return found;
}

function addVotes(part: Part, { scores: votes, effects }: Said, steps: Steps, found: StepScores): void {
  const width = part.base.length;
  const { groups } = steps.compared;
  addBase(part, 1, steps.orders, votes);
  sumOverSteps(steps.orders, width, votes);
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
  { scores, effects }: Said,
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
  rows: Steps[],
  said: Said[],
): void {
  const width = base.length;
  const { kept, orders } = rows[0];
  const tables = {
    changes: rows.some(takesChanges) ? kept.orderTable(trees, orders, width) : undefined,
    effects: rows.some(takesEffects) ? kept.effectTable(trees) : undefined,
  };
  const adders = rows.map((steps, i) => addTree(trees, weight, width, tables, steps, said[i]));
  for (let tree = 0; tree < trees.roots.length; tree++) {
    for (const add of adders) {
      add(tree);
    }
  }
}

/** Tables are of all the background's rows: for few of them it is quicker to look at these alone. */
function takesChanges({ rows, compared: { background } }: Steps): boolean {
  return 2 * bitCount(rows) > background.rows;
}

function takesEffects({ rows, compared: { background } }: Steps): boolean {
  return rows === allRows(background);
}

/** What adds one tree after another to what is said of a row. */
function addTree(
  trees: Trees,
  weight: number,
  width: number,
  tables: { changes: OrderTable | undefined; effects: EffectTable | undefined },
  steps: Steps,
  { scores, effects }: Said,
): (tree: number) => void {
  const { compared, orders, rows, kept, walk } = steps;
  const { groups, background, bins } = compared;
  const all = allRows(background);
  const changes = takesChanges(steps) ? tables.changes : undefined;
  const table = takesEffects(steps) ? tables.effects : undefined;
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
  return (tree) => {
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
  };
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
