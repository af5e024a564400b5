import { sorted } from '../math/order';
import type { Random } from '../math/random';
import { BETWEEN } from '../tuned';

/** Bins of a column: bin 0 holds missing values, and 1 … 254 hold values in ascending order. */
export const MAX_BINS = 254;
const SAMPLE = 100_000;

/**
 * Borders between the bins of a numeric column: value x is in bin 1 + (number of borders < x). Up to 254 distinct
 * values get a bin each; more of them share bins of about equal counts. Only the order of values matters: a strictly
 * increasing function of the column gives the same bins.
 */
export function findBorders(values: Float64Array, random: Random, maxBins = MAX_BINS): Float64Array {
  const known = sorted(
    values.length > SAMPLE ? sampled(values, random) : values.filter((v) => !Number.isNaN(v)),
  );
  // Compacts the distinct values at the front of the sorted ones.
  const counts = new Int32Array(known.length);
  let size = 0;
  for (const value of known) {
    if (size > 0 && known[size - 1] === value) {
      counts[size - 1]++;
    } else {
      known[size] = value;
      counts[size++] = 1;
    }
  }
  const distinct = known.subarray(0, size);
  const borders: number[] = [];
  if (distinct.length <= maxBins) {
    for (let i = 1; i < distinct.length; i++) {
      borders.push(between(distinct[i - 1], distinct[i]));
    }
    return Float64Array.from(borders);
  }
  let rest = known.length;
  let bins = maxBins;
  let inBin = 0;
  for (let i = 0; i < distinct.length - 1 && bins > 1; i++) {
    inBin += counts[i];
    const wanted = rest / bins;
    if (inBin >= wanted || inBin + counts[i + 1] / 2 > wanted) {
      borders.push(between(distinct[i], distinct[i + 1]));
      rest -= inBin;
      inBin = 0;
      bins--;
    }
  }
  return Float64Array.from(borders);
}

/**
 * The borders that `borders` leaves out between different values, for as many further columns as they need; none where
 * values are too many, or have too few rows each.
 */
export function betweenBorders(values: Float64Array, borders: Float64Array, maxBins: number): Float64Array[] {
  const known = values.reduce((sum, value) => sum + (Number.isNaN(value) ? 0 : 1), 0);
  const most = Math.min(BETWEEN.values, Math.floor(known / BETWEEN.rowsPerValue));
  if (borders.length < maxBins - 1 || most <= maxBins) {
    return [];
  }
  const distinct = new Set<number>();
  for (const value of values) {
    if (!Number.isNaN(value) && distinct.add(value).size > most) {
      return [];
    }
  }
  const taken = new Set(borders);
  const ascending = sorted(Float64Array.from(distinct));
  const left = Array.from(ascending.subarray(1), (value, i) => between(ascending[i], value)).filter(
    (border) => !taken.has(border),
  );
  const count = Math.ceil(left.length / (maxBins - 1));
  return Array.from({ length: count }, (_, column) =>
    Float64Array.from(left.filter((_border, i) => i % count === column)),
  );
}

function sampled(values: Float64Array, random: Random): Float64Array {
  const rows = random.sample(values.length, SAMPLE);
  const out = new Float64Array(rows.length);
  let count = 0;
  for (const row of rows) {
    const value = values[row];
    if (!Number.isNaN(value)) {
      out[count++] = value;
    }
  }
  return out.slice(0, count);
}

/** A border b with low ≤ b < high, halfway if both are finite. */
function between(low: number, high: number): number {
  const middle = low / 2 + high / 2;
  return middle >= low && middle < high && Number.isFinite(middle) ? middle : low;
}

/** The bin of a value, by binary search. */
export function findBin(value: number, borders: Float64Array): number {
  if (Number.isNaN(value)) {
    return 0;
  }
  let low = 0;
  // Branch-free halving: a branch would be mispredicted half the time.
  for (let left = borders.length; left > 0;) {
    const half = (left + 1) >> 1;
    low += borders[low + half - 1] < value ? half : 0;
    left -= half;
  }
  return low + 1;
}

/** Fills `bins` with the bin of every value. */
export function binAll(values: Float64Array, borders: Float64Array, bins: Uint8Array): void {
  for (let row = 0; row < values.length; row++) {
    bins[row] = findBin(values[row], borders);
  }
}
