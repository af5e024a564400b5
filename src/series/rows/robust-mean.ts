/** Values further from the median than this many median absolute deviations are outliers. */
const OUTLIER = 4;

/**
 * The mean without outliers, such as a holiday among weekdays, which would distort a plain mean for as many weeks as it
 * looks back. Outliers are told by the median absolute deviation.
 */
export function meanWithoutOutliers(values: readonly number[]): number {
  const middle = medianOf(values);
  const limit = OUTLIER * medianOf(values.map((value) => Math.abs(value - middle)));
  const near = values.filter((value) => Math.abs(value - middle) <= limit);
  return near.reduce((sum, value) => sum + value, 0) / near.length;
}

/** For an even number of values, the mean of the middle two. */
function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}
