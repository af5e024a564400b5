/** A value this many times as far from the median as values usually are is not usual. */
const FAR = 4;

/**
 * The mean of values without those that are far from the others, such as a holiday among weekdays: a mean of all would
 * be off for as many weeks as it looks back.
 */
export function meanOfUsual(values: readonly number[]): number {
  const middle = medianOf(values);
  const far = FAR * medianOf(values.map((value) => Math.abs(value - middle)));
  const near = values.filter((value) => Math.abs(value - middle) <= far);
  return near.reduce((sum, value) => sum + value, 0) / near.length;
}

/** Of an even number of values the mean of the middle two. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
