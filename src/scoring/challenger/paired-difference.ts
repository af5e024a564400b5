/** How much higher the losses of one model are than those of another, on the same rows. */
export interface PairedDifference {
  /** Mean of the first less the second: above 0 the second is better. */
  difference: number;
  standardError: number;
}

/** Few enough that a block is longer than what makes neighbours alike, enough for a standard error. */
const BLOCKS = 10;

/**
 * The mean difference of the losses of two models and its standard error, from the means of blocks of consecutive rows:
 * rows that follow each other in time are alike, so that row by row it would come out far too small. Neighbouring blocks
 * that are still alike widen it by their covariance.
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
  let variance = 0;
  let covariance = 0;
  means.forEach((mean, block) => {
    variance += (mean - difference) ** 2 / (blocks - 1);
    covariance += block === 0 ? 0 : ((mean - difference) * (means[block - 1]! - difference)) / (blocks - 1);
  });
  return { difference, standardError: Math.sqrt((variance + 2 * Math.max(0, covariance)) / blocks) };
}
