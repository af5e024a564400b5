import { quantileOf } from '../../metrics/regression';

/** Of a normal distribution, the distance from its 5 % to its 95 % quantile, in standard deviations. */
const NORMAL_WIDTH = 3.29;
/** A spread below this share of the middle is rounding. */
const ROUNDING = 1e-9;
/** The spread of a column that never varied, as a share of its middle. */
const STILL = 1e-3;

/** Standardised values are held within this. */
export const MOST_SPREADS = 20;
/** What is missed, in its scale, counts for as much at most in a slow mean. */
export const MOST_IN_MEAN = 8;

/** The middle and the spread of each column. */
export interface Scale {
  middle: Float64Array;
  spread: Float64Array;
}

/**
 * The median of each column, and a spread that outliers do not move: the distance of the 5 % and the 95 % quantile as that
 * of a normal distribution. The standard deviation where that is 0, and a thousandth of the middle where both are.
 *
 * @param values rows × columns; NaN is missing
 */
export function robustScale(values: Float64Array, columns: number): Scale {
  const middle = new Float64Array(columns);
  const spread = new Float64Array(columns);
  for (let column = 0; column < columns; column++) {
    const sorted = sortedColumn(values, columns, column);
    middle[column] = quantileOf(sorted, 0.5) || 0;
    const width = (quantileOf(sorted, 0.95) - quantileOf(sorted, 0.05)) / NORMAL_WIDTH;
    const size = Math.abs(middle[column]);
    spread[column] =
      width > ROUNDING * size ? width : standardDeviation(sorted) || Math.max(STILL * size, STILL);
  }
  return { middle, spread };
}

/** The values of a column that are there, in ascending order. */
export function sortedColumn(values: Float64Array, columns: number, column: number): Float64Array {
  const found = new Float64Array(values.length / columns);
  let count = 0;
  for (let at = column; at < values.length; at += columns) {
    if (!Number.isNaN(values[at])) {
      found[count++] = values[at];
    }
  }
  return found.subarray(0, count).sort();
}

function standardDeviation(values: Float64Array): number {
  let mean = 0;
  for (const value of values) {
    mean += value / values.length;
  }
  let squares = 0;
  for (const value of values) {
    squares += (value - mean) ** 2;
  }
  const deviation = Math.sqrt(squares / values.length) || 0;
  return deviation > ROUNDING * Math.abs(mean) ? deviation : 0;
}

/** What a mean that weighs values by their age gives to the newest one, for a half-life in rows. */
export function shareOfNewest(halfLife: number): number {
  return 1 - 0.5 ** (1 / halfLife);
}

export function clamp(value: number, low: number, high: number): number {
  return value < low ? low : value > high ? high : value;
}
