import { lowestBit } from '../../math/bits';
import type { Member, Part } from '../../model/members';
import { addScoresOfVotes } from '../../model/votes';
import type { Compared } from '../shapley/compared';
import { eachOrder, mixturesOf, type Orders } from '../shapley/orders';
import { type KeptWays, keptWays } from './kept-ways';
import { eachLinearTerm } from './linear-terms';

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
  /** Takes part in the scores of every member: what it says of these orders (taken over), and its effects. */
  process?: { changes: Float64Array; effects: Float64Array };
}

/** What the functions below are about. */
interface Steps {
  compared: Compared;
  orders: Orders;
  rows: number;
  kept: KeptWays;
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
  const steps = rows.map(({ compared, rows: about }): Steps => ({ compared, orders, kept, rows: about }));
  const nothing = (): Said => ({
    scores: new Float64Array(mixturesOf(orders) * width),
    effects: new Float64Array(width * groups),
  });
  const sums = rows.map(({ process }): Said =>
    process ? { scores: process.changes, effects: process.effects.slice() } : nothing(),
  );
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
      const votes = rows.map(nothing);
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
  const { kept, orders } = rows[0];
  kept.follower(trees, orders, base.length).add(rows, weight, said);
}

function sumOverSteps(orders: Orders, width: number, scores: Float64Array): void {
  eachOrder(orders, (first) => {
    const end = (first + orders.steps) * width;
    for (let i = (first + 1) * width; i < end; i++) {
      scores[i] += scores[i - width];
    }
  });
}
