import type { Random } from '../../math/random';

/**
 * Permutations of the groups. Along each of them the mixture starts as a background row, and at each step one group
 * flips to the foreground row's values. The permutations do not depend on the foreground row, so groups in which the
 * two agree have a step as well, at which nothing changes. Mixtures are numbered permutation · steps + step.
 */
export interface Permutations {
  /**
   * Background rows, and permutations of each. They are antithetic: every second one is the reverse of the one
   * before.
   */
  rows: number;
  perRow: number;
  /** The groups that flip, and the number of all groups. */
  common: number[];
  groups: number;
  /** Mixtures along a permutation: one before the first flip, then one per flip. */
  steps: number;
  /** Permutations × groups: the step at which the group flips. */
  flips: Int32Array;
  /** Per mixture, the group that has just flipped; -1 for the first of a permutation. */
  flipped: Int32Array;
}

/**
 * @param perRow permutations for each background row
 * @param reversed whether each pair starts with the reverse of the permutation drawn
 */
export function drawPermutations(
  rows: number,
  { perRow, reversed }: { perRow: number; reversed: boolean },
  { common, groups }: { common: number[]; groups: number },
  random: Random,
): Permutations {
  const steps = common.length + 1;
  const flips = new Int32Array(rows * perRow * groups);
  const flipped = new Int32Array(rows * perRow * steps).fill(-1);
  let drawn: Int32Array = Int32Array.from(common);
  for (let permutation = 0; permutation < rows * perRow; permutation++) {
    const isSecond = (permutation % perRow) % 2 === 1;
    drawn = isSecond ? drawn : random.shuffle(Int32Array.from(common));
    drawn.forEach((group, place) => {
      const flip = isSecond === reversed ? place + 1 : common.length - place;
      flips[permutation * groups + group] = flip;
      flipped[permutation * steps + flip] = group;
    });
  }
  return { rows, perRow, common, groups, steps, flips, flipped };
}

/** Visits each permutation with its first mixture and the offset of its row in `flips`. */
export function eachPermutation(
  { rows, perRow, steps, groups }: Permutations,
  visit: (first: number, flips: number, row: number) => void,
): void {
  for (let permutation = 0; permutation < rows * perRow; permutation++) {
    visit(permutation * steps, permutation * groups, Math.floor(permutation / perRow));
  }
}

/** Mixtures along all permutations. */
export function mixtureCount({ rows, perRow, steps }: Permutations): number {
  return rows * perRow * steps;
}
