import { lowestBit } from '../math/bits';
import type { Random } from '../math/random';
import type { Member } from '../model/members';
import { addScoresOfVotes } from '../model/votes';
import { type Compared, LeafWalk } from './compared';
import { type Contribution, contributions, voteContributions, votingParts } from './contributions';

/**
 * Orders in which groups pass from the background's value to the row's: `pairs` for each of the background's rows, each
 * followed by its reverse.
 */
export interface Orders {
  pairs: number;
  /** rows × pairs × groups: the place of each group, from 0; in the reverse it is groups - 1 less that. */
  places: Int32Array;
}

export function drawOrders(pairs: number, { background, groups }: Compared, random: Random): Orders {
  const places = new Int32Array(background.rows * pairs * groups);
  const order = Int32Array.from({ length: groups }, (_, group) => group);
  for (let at = 0; at < places.length; at += groups) {
    places.set(random.shuffle(order), at);
  }
  return { pairs, places };
}

/** Scores by steps, each 2 × pairs orders × (groups + 1) steps × rows of the background × width. */
export interface StepScores {
  scores: Float64Array;
  /** The same, but votes count along the straight line from the background's row to the row. */
  sums: Float64Array;
  /** Per part that votes how steep that line is: rows of the background × width. */
  chords: Float64Array[];
}

/**
 * A member's score of the row mixed with each of the background's rows, step by step in each order: at step t the groups
 * in places below t are the row's.
 */
export function stepScores(member: Member, compared: Compared, orders: Orders): StepScores {
  const walk = new LeafWalk(compared);
  const { width } = member;
  const sums = stepSums(compared, orders, width, (add) => contributions(member, compared, walk, add));
  const scores = sums.slice();
  const step = compared.background.rows * width;
  const chords = votingParts(member).map((part) => {
    const votes = stepSums(compared, orders, width, (add) => voteContributions(part, walk, add));
    const own = votes.slice();
    addScoresOfVotes(own, width, part.weight, scores);
    const last = compared.groups * step;
    const chord = new Float64Array(step);
    for (let i = 0; i < step; i++) {
      const away = votes[last + i] - votes[i];
      chord[i] = Math.abs(away) > 1e-9 ? (own[last + i] - own[i]) / away : 1;
    }
    for (let i = 0; i < sums.length; i++) {
      sums[i] += part.weight * chord[i % step] * votes[i];
    }
    return chord;
  });
  return { scores, sums, chords };
}

/** The sums of contributions, step by step: 2 × pairs orders × (groups + 1) steps × rows of the background × width. */
function stepSums(
  { background, groups }: Compared,
  { pairs, places }: Orders,
  width: number,
  contribute: (add: Contribution) => void,
): Float64Array {
  const step = background.rows * width;
  const perOrder = (groups + 1) * step;
  const scores = new Float64Array(2 * pairs * perOrder);
  const always = new Float64Array(step);
  // First the changes from step to step.
  const change = (at: number, first: number, end: number, value: number) => {
    scores[at + first * step] += value;
    if (end <= groups) {
      scores[at + end * step] -= value;
    }
  };
  contribute((output, value, mask, conditions) => {
    const { inside, insideCount, outside, outsideCount } = conditions;
    if (insideCount + outsideCount === 0) {
      for (let rest = mask; rest !== 0; rest &= rest - 1) {
        always[lowestBit(rest) * width + output] += value;
      }
      return;
    }
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const row = lowestBit(rest);
      for (let pair = 0; pair < pairs; pair++) {
        const order = (row * pairs + pair) * groups;
        let firstInside = groups;
        let lastInside = -1;
        for (let i = 0; i < insideCount; i++) {
          const place = places[order + inside[i]];
          firstInside = Math.min(firstInside, place);
          lastInside = Math.max(lastInside, place);
        }
        let firstOutside = groups;
        let lastOutside = -1;
        for (let i = 0; i < outsideCount; i++) {
          const place = places[order + outside[i]];
          firstOutside = Math.min(firstOutside, place);
          lastOutside = Math.max(lastOutside, place);
        }
        const at = 2 * pair * perOrder + row * width + output;
        if (lastInside < firstOutside) {
          change(at, lastInside + 1, firstOutside + 1, value);
        }
        if (lastOutside < firstInside) {
          change(at + perOrder, groups - firstInside, groups - lastOutside, value);
        }
      }
    }
  });
  // Then their sums.
  for (let order = 0; order < 2 * pairs; order++) {
    for (let i = 0; i < step; i++) {
      scores[order * perOrder + i] += always[i];
    }
    for (let i = order * perOrder + step; i < (order + 1) * perOrder; i++) {
      scores[i] += scores[i - step];
    }
  }
  return scores;
}
