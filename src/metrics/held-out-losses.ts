/** Most means of losses, and most groups. */
const MOST_MEANS = 500;
const MOST_GROUPS = 1000;
const DIGITS = 6;

/**
 * Losses of rows by a model that had not seen them, in the order of the table: absolute errors of numbers in units of the
 * target, −ln p(true class) of classes.
 */
export interface HeldOutLosses {
  /** Rows that each of `means` is of; at most 500 means. The rows after the last one are in none. */
  step: number;
  means: number[];
  /** Of each group, numbered in the order of the table: how many rows, and their mean; at most 1,000 groups, else left out. */
  groups?: { rows: number[]; means: number[] };
}

/**
 * @param losses of each row, in the order of the table
 * @param groups the group of each row, and how many there are
 */
export function heldOutLosses(
  losses: ArrayLike<number>,
  groups?: { of: ArrayLike<number>; count: number },
): HeldOutLosses {
  const step = Math.max(1, Math.ceil(losses.length / MOST_MEANS));
  const means: number[] = [];
  for (let from = 0; from + step <= losses.length; from += step) {
    let sum = 0;
    for (let row = from; row < from + step; row++) {
      sum += losses[row];
    }
    means.push(rounded(sum / step));
  }
  const ofGroups = groups === undefined || groups.count > MOST_GROUPS ? undefined : byGroup(losses, groups);
  return { step, means, ...(ofGroups && { groups: ofGroups }) };
}

function byGroup(
  losses: ArrayLike<number>,
  { of, count }: { of: ArrayLike<number>; count: number },
): HeldOutLosses['groups'] {
  const rows = new Array<number>(count).fill(0);
  const sums = new Array<number>(count).fill(0);
  for (let row = 0; row < losses.length; row++) {
    rows[of[row]]++;
    sums[of[row]] += losses[row];
  }
  return { rows, means: sums.map((sum, group) => rounded(sum / Math.max(1, rows[group]))) };
}

function rounded(value: number): number {
  return Number(value.toPrecision(DIGITS));
}
