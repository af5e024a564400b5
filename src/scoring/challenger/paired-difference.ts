import { blockError, BLOCKS } from '../evaluation/blocks';

/** How much higher the losses of one model are than those of another, on the same rows. */
export interface PairedDifference {
  /** Mean of the first less the second: above 0 the second is better. */
  difference: number;
  standardError: number;
}

/**
 * The mean difference of the losses of two models and its standard error, from the means of blocks of consecutive rows
 * (see `blockError`).
 *
 * @param first losses by row, in order of time where there is one; at least two rows
 */
export function pairedDifference(first: ArrayLike<number>, second: ArrayLike<number>): PairedDifference {
  const rows = first.length;
  const blocks = Math.min(BLOCKS, rows);
  const means = Array.from({ length: blocks }, (_, block) => {
    const from = Math.floor((block * rows) / blocks);
    const to = Math.floor(((block + 1) * rows) / blocks);
    let sum = 0;
    for (let row = from; row < to; row++) {
      sum += first[row]! - second[row]!;
    }
    return sum / (to - from);
  });
  let difference = 0;
  for (let row = 0; row < rows; row++) {
    difference += (first[row]! - second[row]!) / rows;
  }
  return { difference, standardError: blockError(means, difference) };
}
