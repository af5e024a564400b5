import { quantileOf } from '../../metrics/regression';
import { stabilityIndex } from '../../metrics/stability';
import type { CategorySample } from '../../table';
import { binOfNumber, DRIFT_WINDOW } from './drift-bins';
import type { DriftReference } from './types';

const NUMBER_BINS = 10;
const CATEGORY_BINS = 20;
/** Fewer windows do not say how much a series moves by itself. */
const MIN_WINDOWS = 10;
/** How much more than its widest own window a column has to move. */
const MARGIN = 1.5;

/**
 * @param values in the order of the table, window after window; NaN for missing
 * @param sorted those that are numbers, ascending
 */
export function driftOfNumbers(values: Float64Array, sorted: Float64Array, inTime: boolean): DriftReference {
  const edges = edgesOf(sorted);
  const missing = edges.length + 1;
  const bins = Uint8Array.from(values, (value) =>
    Number.isFinite(value) ? binOfNumber(edges, value) : missing,
  );
  return { edges, ...sharesOf(bins, missing + 1, inTime) };
}

export function driftOfCategories(
  { categories, counts, codes }: CategorySample,
  inTime: boolean,
): DriftReference {
  const order = categories.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]! || a - b);
  const own = order.slice(0, CATEGORY_BINS);
  const [others, missing] = [own.length, own.length + 1];
  const binOfCode = new Uint8Array(categories.length).fill(others);
  own.forEach((code, bin) => {
    binOfCode[code] = bin;
  });
  const bins = Uint8Array.from(codes, (code) => (code === -1 ? missing : (binOfCode[code] ?? others)));
  return { categories: own.map((code) => categories[code]!), ...sharesOf(bins, missing + 1, inTime) };
}

/**
 * Quantiles that cut the values into ten bins of equal size: fewer where many are equal. Values above all that were
 * seen have a bin of their own where the largest one is an edge, so that a constant that changes shows.
 */
function edgesOf(sorted: Float64Array): number[] {
  if (sorted.length === 0) {
    return [];
  }
  const levels = Array.from({ length: NUMBER_BINS - 1 }, (_, at) => (at + 1) / NUMBER_BINS);
  const edges = [...new Set(levels.map((level) => quantileOf(sorted, level)))];
  const largest = sorted.at(-1)!;
  if (edges.at(-1) === largest) {
    edges.push(largest + Math.max(Number.MIN_VALUE, Math.abs(largest) * 1e-9));
  }
  return edges;
}

/** The shares of the bins, and how much windows of the train set differ from the rest of it. */
function sharesOf(
  bins: Uint8Array,
  count: number,
  inTime: boolean,
): Pick<DriftReference, 'shares' | 'threshold'> {
  const total = countsOf(bins, count);
  const shares = [...total].map((rows) => rows / Math.max(1, bins.length));
  const windows = Math.floor(bins.length / DRIFT_WINDOW);
  if (!inTime || windows < MIN_WINDOWS) {
    return { shares };
  }
  let most = 0;
  for (let window = 0; window < windows; window++) {
    const own = countsOf(bins.subarray(window * DRIFT_WINDOW, (window + 1) * DRIFT_WINDOW), count);
    const rest = total.map((rows, bin) => rows - own[bin]!);
    most = Math.max(most, stabilityIndex(rest, own));
  }
  return { shares, threshold: MARGIN * most };
}

function countsOf(bins: Uint8Array, count: number): Float64Array {
  const counts = new Float64Array(count);
  for (const bin of bins) {
    counts[bin]!++;
  }
  return counts;
}
