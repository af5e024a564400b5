import { bitCount, lowestBit } from '../math/bits';
import type { Member } from '../model/members';
import { addScoresOfVotes } from '../model/votes';
import { type Compared, LeafWalk } from './compared';
import { type Contribution, contributions, voteContributions, votingParts } from './contributions';

/**
 * A member's score of the row mixed with each of the background's rows, by every coalition of groups: bit g of a
 * coalition says that the columns of group g are the row's.
 *
 * @returns coalitions × rows of the background × width
 */
export function coalitionScores(member: Member, compared: Compared): Float64Array {
  const walk = new LeafWalk(compared);
  const { width } = member;
  const scores = coalitionSums(compared, width, (add) => contributions(member, compared, walk, add));
  for (const part of votingParts(member)) {
    const votes = coalitionSums(compared, width, (add) => voteContributions(part, walk, add));
    addScoresOfVotes(votes, width, part.weight, scores);
  }
  return scores;
}

/** The sums of contributions, by coalitions: coalitions × rows of the background × width. */
function coalitionSums(
  { background, groups }: Compared,
  width: number,
  contribute: (add: Contribution) => void,
): Float64Array {
  const { rows } = background;
  const scores = new Float64Array((1 << groups) * rows * width);
  const step = rows * width;
  const addTo = (at: number, mask: number, value: number) => {
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      scores[at + lowestBit(rest) * width] += value;
    }
  };
  // First what each coalition adds to what its parts have: a coalition without `outside` is 1 less those with them.
  contribute((output, value, mask, conditions) => {
    const { insideBits: inside, outsideBits: outside } = conditions;
    for (let part = outside; part !== 0; part = (part - 1) & outside) {
      addTo((inside | part) * step + output, mask, bitCount(part) & 1 ? -value : value);
    }
    addTo(inside * step + output, mask, value);
  });
  // Then their sums over all parts of a coalition.
  for (let bit = 1; bit < 1 << groups; bit <<= 1) {
    for (let coalition = bit; coalition < 1 << groups; coalition = (coalition + 1) | bit) {
      const to = coalition * step;
      const from = (coalition ^ bit) * step;
      for (let i = 0; i < step; i++) {
        scores[to + i] += scores[from + i];
      }
    }
  }
  return scores;
}

/**
 * Shapley values from the values of all coalitions.
 *
 * @param values per coalition, as numbered by `coalitionScores`
 */
export function shapleyValues(values: Float64Array, groups: number): Float64Array {
  // What a coalition of a size counts for: size! (groups - size - 1)! / groups!
  const shares = new Float64Array(groups);
  shares[0] = 1 / groups;
  for (let size = 1; size < groups; size++) {
    shares[size] = (shares[size - 1] * size) / (groups - size);
  }
  const effects = new Float64Array(groups);
  for (let coalition = 0; coalition < values.length; coalition++) {
    const share = shares[bitCount(coalition)];
    for (let group = 0; group < groups; group++) {
      if ((coalition & (1 << group)) === 0) {
        effects[group] += share * (values[coalition | (1 << group)] - values[coalition]);
      }
    }
  }
  return effects;
}
