import { quantileOf } from '../../metrics/regression';
import { stabilityIndex } from '../../metrics/stability';
import type { CategorySample } from '../../table';
import { binOfNumber, DRIFT_WINDOW } from './drift-bins';
import type { DriftReference } from './types';

const NUMBER_BINS = 10;
const CATEGORY_BINS = 20;
/** Fewer windows do not say how much a series moves by itself. */
const MIN_WINDOWS = 10;
/**
 * A column has to move this much more than most of the windows of the train set do. Not more than the widest one: of
 * many windows that is so wide that a real move is missed, of few it is a matter of chance (`npm run bench -- unlike`).
 */
const MARGIN = 1.5;
const MOST = 0.95;
/** Rows between the beginnings of windows, where all rows are at hand. */
const STEP = 50;

/** `none`: not in time. `windows`: in time, window after window, with gaps between them. `whole`: in time, without gaps. */
export type RowOrder = 'none' | 'windows' | 'whole';

/**
 * @param values in the order of the table, window after window; NaN for missing
 * @param sorted those that are numbers, ascending
 * @param order how the rows follow each other
 */
export function driftOfNumbers(values: Float64Array, sorted: Float64Array, order: RowOrder): DriftReference {
  const edges = edgesOf(sorted);
  const missing = edges.length + 1;
  const bins = Uint8Array.from(values, (value) =>
    Number.isFinite(value) ? binOfNumber(edges, value) : missing,
  );
  return { edges, ...sharesOf(bins, missing + 1, order) };
}

export function driftOfCategories(
  { categories, counts, codes }: CategorySample,
  order: RowOrder,
): DriftReference {
  const frequent = categories.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]! || a - b);
  const own = frequent.slice(0, CATEGORY_BINS);
  const [others, missing] = [own.length, own.length + 1];
  const binOfCode = new Uint8Array(categories.length).fill(others);
  own.forEach((code, bin) => {
    binOfCode[code] = bin;
  });
  const bins = Uint8Array.from(codes, (code) => (code === -1 ? missing : (binOfCode[code] ?? others)));
  return { categories: own.map((code) => categories[code]!), ...sharesOf(bins, missing + 1, order) };
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
  order: RowOrder,
): Pick<DriftReference, 'shares' | 'threshold'> {
  const total = countsOf(bins, count);
  const shares = [...total].map((rows) => rows / Math.max(1, bins.length));
  if (order === 'none' || bins.length < MIN_WINDOWS * DRIFT_WINDOW) {
    return { shares };
  }
  const moves: number[] = [];
  const step = order === 'whole' ? STEP : DRIFT_WINDOW;
  for (let first = 0; first + DRIFT_WINDOW <= bins.length; first += step) {
    const own = countsOf(bins.subarray(first, first + DRIFT_WINDOW), count);
    const rest = total.map((rows, bin) => rows - own[bin]!);
    moves.push(stabilityIndex(rest, own));
  }
  return { shares, threshold: MARGIN * quantileOf(Float64Array.from(moves).sort(), MOST) };
}

function countsOf(bins: Uint8Array, count: number): Float64Array {
  const counts = new Float64Array(count);
  for (const bin of bins) {
    counts[bin]!++;
  }
  return counts;
}
