import { quantileOf } from '../metrics/regression';
import { stabilityIndex } from '../metrics/stability';
import type { Column } from '../table/cells/types';
import type { CategorySample, NumberSample, SampleChoice, TableSample } from '../table/columns/table-sample';
import { Yielder } from '../util/concurrency';
import type { DriftReference, Reference, ReferenceCell, Usual } from './cards';

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
/** Rows that quantiles and windows are made of: fewer of a wide table, so that memory is bounded. */
const MEASURED_ROWS = 10_000;
const MEASURED_CELLS = 2_000_000;
/** Characters of all category names of a column: more are no categories but texts. */
const MAX_NAMES = 50_000;
/** A column with more different values than this holds ids or texts where they are more than half as many as rows. */
const MAX_ID_VALUES = 20;

/** Rows of a window that is compared with the train set. */
export const DRIFT_WINDOW = 200;

/** How many bins the values of a column fall into. */
export function driftBins({ shares }: DriftReference): number {
  return shares.length;
}

/** The bin of a cell, from 0; the last one is missing values. */
export function driftBin({ edges, categories, shares }: DriftReference, cell: ReferenceCell): number {
  const missing = shares.length - 1;
  if (cell === null) {
    return missing;
  }
  if (categories !== undefined) {
    const at = categories.indexOf(cell);
    return at < 0 ? missing - 1 : at;
  }
  const value = Number(cell);
  return Number.isNaN(value) ? missing : binOfNumber(edges ?? [], value);
}

/** How many of the edges are at or below the value. */
function binOfNumber(edges: ArrayLike<number>, value: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/** `none`: not in time. `windows`: in time, window after window, with gaps between them. `whole`: in time, without gaps. */
export type RowOrder = 'none' | 'windows' | 'whole';

/**
 * @param values in the order of the table, window after window; NaN for missing
 * @param sorted those that are numbers, ascending
 * @param order how the rows follow each other
 */
export function driftOfNumbers(values: Float64Array, sorted: Float64Array, order: RowOrder): DriftReference {
  const edges = findEdges(sorted);
  const missing = edges.length + 1;
  const bins = Uint8Array.from(values, (value) =>
    Number.isFinite(value) ? binOfNumber(edges, value) : missing,
  );
  return { edges, ...computeShares(bins, missing + 1, order) };
}

function driftOfCategories({ categories, counts, codes }: CategorySample, order: RowOrder): DriftReference {
  const frequent = categories.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]! || a - b);
  const own = frequent.slice(0, CATEGORY_BINS);
  const [others, missing] = [own.length, own.length + 1];
  const binOfCode = new Uint8Array(categories.length).fill(others);
  own.forEach((code, bin) => {
    binOfCode[code] = bin;
  });
  const bins = Uint8Array.from(codes, (code) => (code === -1 ? missing : (binOfCode[code] ?? others)));
  return { categories: own.map((code) => categories[code]!), ...computeShares(bins, missing + 1, order) };
}

/**
 * Quantiles that cut the values into ten bins of equal size: fewer where many are equal. Values above all that were
 * seen have a bin of their own where the largest one is an edge, so that a constant that changes shows.
 */
function findEdges(sorted: Float64Array): number[] {
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
function computeShares(
  bins: Uint8Array,
  count: number,
  order: RowOrder,
): Pick<DriftReference, 'shares' | 'threshold'> {
  const total = countBins(bins, count);
  const shares = [...total].map((rows) => rows / Math.max(1, bins.length));
  if (order === 'none' || bins.length < MIN_WINDOWS * DRIFT_WINDOW) {
    return { shares };
  }
  const moves: number[] = [];
  const step = order === 'whole' ? STEP : DRIFT_WINDOW;
  for (let first = 0; first + DRIFT_WINDOW <= bins.length; first += step) {
    const own = countBins(bins.subarray(first, first + DRIFT_WINDOW), count);
    const rest = total.map((rows, bin) => rows - own[bin]!);
    moves.push(stabilityIndex(rest, own));
  }
  return { shares, threshold: MARGIN * quantileOf(Float64Array.from(moves).sort(), MOST) };
}

function countBins(bins: Uint8Array, count: number): Float64Array {
  const counts = new Float64Array(count);
  for (const bin of bins) {
    counts[bin]!++;
  }
  return counts;
}

/** Rows that are kept to compare with. */
const KEPT_ROWS = 400;

/** What to sample of a train set of that many rows: rows spread evenly over it, and windows of consecutive ones. */
export function sampleChoice(columns: readonly Pick<Column, 'name'>[], rows: number): SampleChoice {
  const kept = Math.min(KEPT_ROWS, rows);
  const most = Math.min(MEASURED_ROWS, Math.floor(MEASURED_CELLS / Math.max(1, columns.length)));
  return {
    columns: columns.map(({ name }) => name),
    rows: Int32Array.from({ length: kept }, (_, at) => Math.floor(((at + 0.5) * rows) / kept)),
    runs:
      rows <= most
        ? { first: Int32Array.of(0), length: rows }
        : windows(rows, Math.floor(most / DRIFT_WINDOW)),
  };
}

/** Windows spread evenly, from the first rows to the last. */
function windows(rows: number, count: number): SampleChoice['runs'] {
  const many = Math.max(2, count);
  const step = (rows - DRIFT_WINDOW) / (many - 1);
  return { first: Int32Array.from({ length: many }, (_, at) => Math.floor(at * step)), length: DRIFT_WINDOW };
}

/**
 * What is kept of a train set.
 *
 * @param sample of these columns, as `sampleChoice` chose it
 * @param inTime the rows follow each other in time
 */
export async function makeReference(
  columns: readonly Column[],
  sample: TableSample,
  inTime: boolean,
): Promise<Reference> {
  const yielder = new Yielder();
  const usual: Usual[] = [];
  const drift: DriftReference[] = [];
  const { rows: trained } = sample;
  const findOrder = (measured: number): RowOrder =>
    inTime ? (measured === trained ? 'whole' : 'windows') : 'none';
  for (const column of sample.columns) {
    if (column.kind === 'number') {
      const sorted = column.values.filter((value) => Number.isFinite(value)).sort();
      usual.push(usualNumber(column, sorted, trained));
      drift.push(driftOfNumbers(column.values, sorted, findOrder(column.values.length)));
    } else {
      usual.push(usualCategory(column, trained));
      drift.push(driftOfCategories(column, findOrder(column.codes.length)));
    }
    await yielder.due();
  }
  const rows = sample.columns[0]?.cells.map((_, row) => sample.columns.map(({ cells }) => cells[row]!)) ?? [];
  return { columns: [...columns], rows, usual, drift };
}

function usualNumber({ missing, min, max }: NumberSample, sorted: Float64Array, rows: number): Usual {
  const quantile = (level: number): number => (sorted.length > 0 ? quantileOf(sorted, level) : 0);
  return {
    kind: 'number',
    q05: quantile(0.05),
    q10: quantile(0.1),
    median: quantile(0.5),
    q90: quantile(0.9),
    q95: quantile(0.95),
    min: Number.isNaN(min) ? 0 : min,
    max: Number.isNaN(max) ? 0 : max,
    missing: missing / Math.max(1, rows),
  };
}

function usualCategory({ categories, counts, complete, missing }: CategorySample, rows: number): Usual {
  const order = categories.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]! || a - b);
  const isId = !complete || (categories.length > MAX_ID_VALUES && categories.length * 2 > rows - missing);
  let room = MAX_NAMES;
  const kept = order.map((at) => categories[at]!).filter((label) => (room -= String(label).length) >= 0);
  return {
    kind: 'category',
    categories: isId ? kept.slice(0, MAX_ID_VALUES) : kept,
    complete: !isId && kept.length === categories.length,
    missing: missing / Math.max(1, rows),
  };
}
