import { lowestBit } from '../math/bits';
import type { Random } from '../math/random';
import type { Member, Part } from '../model/members';
import { addScoresOfVotes } from '../model/votes';
import type { Compared } from './compared';
import { keptWays } from './kept-ways';
import { LeafWalk } from './leaf-walk';
import { eachLinearTerm } from './linear-terms';

/**
 * For some of the background's rows orders in which the groups that differ pass from that row's values to the row's, one
 * at each step: `pairs` for each, each followed by its reverse.
 */
export interface Orders {
  /** The background's rows, as bits. */
  rows: number;
  pairs: number;
  groups: number;
  /** Per row of the background the groups that differ. */
  players: number[][];
  /** rows of the background × 2 pairs × groups: the step from which on the group is the row's; 0 where none differs. */
  turns: Int32Array;
  /** Per row of the background where its mixtures begin, 2 pairs × (players + 1 steps); one more for the end of the last. */
  at: Int32Array;
}

/** @param rows those of the background, as bits */
export function drawOrders(
  pairs: number,
  { background, groups }: Compared,
  players: number[][],
  rows: number,
  random: Random,
): Orders {
  const turns = new Int32Array(background.rows * 2 * pairs * groups);
  const at = new Int32Array(background.rows + 1);
  for (let row = 0; row < background.rows; row++) {
    at[row + 1] = at[row];
    if (((rows >>> row) & 1) === 0) {
      continue;
    }
    const count = players[row].length;
    at[row + 1] += 2 * pairs * (count + 1);
    const order = Int32Array.from(players[row]);
    for (let pair = 0; pair < pairs; pair++) {
      const from = (row * 2 * pairs + 2 * pair) * groups;
      random.shuffle(order).forEach((group, place) => {
        turns[from + group] = place + 1;
        turns[from + groups + group] = count - place;
      });
    }
  }
  return { rows, pairs, groups, players, turns, at };
}

/** Scores of the mixtures: each mixtures × width. */
export interface StepScores {
  scores: Float64Array;
  /** The same, but votes count along the straight line from the background's row to the row. */
  sums: Float64Array;
  /** Per part that votes how steep that line is: rows of the background × width. */
  chords: Float64Array[];
}

/** A member's score of the row mixed with the background's rows, step by step in each order. */
export function stepScores(member: Member, compared: Compared, orders: Orders): StepScores {
  const { width } = member;
  const walk = new LeafWalk(compared, keptWays(compared.background, compared.groupOf).ways);
  const { at, rows, players } = orders;
  const length = at[at.length - 1] * width;
  const sums = new Float64Array(length);
  for (const part of member.parts) {
    if (part.kind === 'linear') {
      addLinear(part, compared, orders, sums);
    } else if (part.kind === 'trees') {
      addTrees(part, part.weight, walk, orders, sums);
    }
    if (part.kind !== 'votes') {
      addBase(part, part.weight, orders, sums);
    }
  }
  sumOverSteps(orders, width, sums);
  const scores = sums.slice();
  const chords: Float64Array[] = [];
  for (const part of member.parts) {
    if (part.kind !== 'votes') {
      continue;
    }
    const votes = new Float64Array(length);
    addTrees(part, 1, walk, orders, votes);
    addBase(part, 1, orders, votes);
    sumOverSteps(orders, width, votes);
    const own = votes.slice();
    addScoresOfVotes(own, width, part.weight, scores);
    const chord = new Float64Array(compared.background.rows * width);
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      const row = lowestBit(rest);
      for (let k = 0; k < width; k++) {
        const first = at[row] * width + k;
        const last = first + players[row].length * width;
        const away = votes[last] - votes[first];
        const steep = Math.abs(away) > 1e-9 ? (own[last] - own[first]) / away : 1;
        chord[row * width + k] = steep;
        for (let i = first; i < at[row + 1] * width; i += width) {
          sums[i] += part.weight * steep * votes[i];
        }
      }
    }
    chords.push(chord);
  }
  return { scores, sums, chords };
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
  compared: Compared,
  orders: Orders,
  scores: Float64Array,
): void {
  const width = part.base.length;
  eachLinearTerm(part, compared, (column, output, own, others) => {
    eachOrder(orders, (first, row, turns) => {
      const turn = orders.turns[turns + compared.groupOf[column]];
      scores[first * width + output] += part.weight * others[row];
      scores[(first + turn) * width + output] += part.weight * (own - others[row]);
    });
  });
}

/**
 * A leaf is reached at the steps after the last group inside has become the row's, and before the first one outside has:
 * in the reverse of an order before the last outside, and after the first inside.
 */
function addTrees(
  { base, trees }: Part & { kind: 'trees' | 'votes' },
  weight: number,
  walk: LeafWalk,
  { rows, pairs, groups: groupCount, players, turns, at }: Orders,
  scores: Float64Array,
): void {
  const width = base.length;
  const { width: perLeaf, values } = trees;
  let output = 0;
  const change = (from: number, first: number, begin: number, end: number, steps: number) => {
    const to = (first + begin) * width + output;
    const until = (first + end) * width + output;
    for (let k = 0; k < perLeaf; k++) {
      const value = weight * values[from + k];
      scores[to + k] += value;
      if (end < steps) {
        scores[until + k] -= value;
      }
    }
  };
  const visit = (from: number, leaf: LeafWalk) => {
    const { groups, groupsAt, failed, mask, inside, insideAt } = leaf;
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const row = lowestBit(rest);
      const steps = players[row].length + 1;
      const own = inside[insideAt + row];
      for (let pair = 0; pair < pairs; pair++) {
        const order = (row * pairs + pair) * 2;
        let firstInside = steps;
        let lastInside = 0;
        for (let slots = own; slots !== 0; slots &= slots - 1) {
          const turn = turns[order * groupCount + groups[groupsAt + lowestBit(slots)]];
          firstInside = turn < firstInside ? turn : firstInside;
          lastInside = turn > lastInside ? turn : lastInside;
        }
        let firstOutside = steps;
        let lastOutside = 0;
        for (let slots = failed; slots !== 0; slots &= slots - 1) {
          const turn = turns[order * groupCount + groups[groupsAt + lowestBit(slots)]];
          firstOutside = turn < firstOutside ? turn : firstOutside;
          lastOutside = turn > lastOutside ? turn : lastOutside;
        }
        const start = at[row] + 2 * pair * steps;
        if (lastInside < firstOutside) {
          change(from, start, lastInside, firstOutside, steps);
        }
        if (lastOutside < firstInside) {
          change(from, start + steps, steps - firstInside, steps - lastOutside, steps);
        }
      }
    }
  };
  for (let tree = 0; tree < trees.roots.length; tree++) {
    output = perLeaf > 1 ? 0 : tree % width;
    walk.tree(trees, tree, rows, visit);
  }
}

function sumOverSteps(orders: Orders, width: number, scores: Float64Array): void {
  eachOrder(orders, (first, row) => {
    const end = (first + orders.players[row].length + 1) * width;
    for (let i = (first + 1) * width; i < end; i++) {
      scores[i] += scores[i - width];
    }
  });
}

/** Visits each order: its first mixture, its row of the background, and where its turns begin. */
export function eachOrder(
  { rows, pairs, groups, players, at }: Orders,
  visit: (first: number, row: number, turns: number) => void,
): void {
  for (let rest = rows; rest !== 0; rest &= rest - 1) {
    const row = lowestBit(rest);
    for (let order = 0; order < 2 * pairs; order++) {
      visit(at[row] + order * (players[row].length + 1), row, (row * 2 * pairs + order) * groups);
    }
  }
}
