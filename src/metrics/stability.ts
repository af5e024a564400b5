/** Added to each bin's count, in rows: an empty bin says little, and must not be worth infinitely much. */
const PRIOR = 0.5;

/**
 * The population stability index: how much the shares of some bins have moved, as
 * `Σ (actual − expected) · ln(actual / expected)`. 0 is no move. What counts as much depends on the number of rows and on
 * how alike neighbours are, so it is compared with what the same series does by itself and never with 0.1 or 0.25
 * (Yurdakul, Naranjo 2020: without any move it is about (1/n + 1/m)·χ² of bins − 1 degrees of freedom).
 *
 * @param expected part of the rows in each bin, or their counts
 * @param counts rows in each bin now
 */
export function stabilityIndex(expected: ArrayLike<number>, counts: ArrayLike<number>): number {
  const bins = expected.length;
  let before = 0;
  let now = 0;
  for (let bin = 0; bin < bins; bin++) {
    before += expected[bin];
    now += counts[bin];
  }
  if (before === 0 || now === 0) {
    return 0;
  }
  let sum = 0;
  for (let bin = 0; bin < bins; bin++) {
    // A bin that is empty in both, such as that of missing values, has not moved.
    if (expected[bin] === 0 && counts[bin] === 0) {
      continue;
    }
    const actual = (counts[bin] + PRIOR) / (now + PRIOR * bins);
    const usual = ((expected[bin] / before) * now + PRIOR) / (now + PRIOR * bins);
    sum += (actual - usual) * Math.log(actual / usual);
  }
  return sum;
}
