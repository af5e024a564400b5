import type { EncodedTable } from '../features/encode';
import { sorted } from '../math/order';
import type { FeatureColumn } from '../types';

/** Rows of the background, one per bit of a 32-bit integer. */
export const BACKGROUND_ROWS = 32;

/** Rows of the train set that explanations compare with, and the usual range of each feature. */
export interface Background {
  rows: number;
  /** Columns × rows: bins. */
  columns: Uint8Array[];
  /**
   * Columns × rows: values of the columns that a linear model takes as numbers. Missing in models fitted before there
   * were any.
   */
  numbers?: (Float64Array | undefined)[];
  /** Per feature, the 10 % and 90 % quantiles over the train set; NaN for text. */
  low: Float64Array;
  high: Float64Array;
  /** Per feature, the mean over the background rows without missing values; NaN for text. */
  mean: Float64Array;
}

const LOW = 0.1;
const HIGH = 0.9;
const MOST_SORTED = 20_000;

/**
 * Draws one row from each of 32 equal stretches of the train set. Taking every n-th row would not do: in hourly data
 * it may always be the same hour.
 *
 * @param table the train set
 * @param uniform draws from [0, 1)
 */
export function makeBackground(
  features: FeatureColumn[],
  { columns, numbers }: EncodedTable,
  rows: number,
  uniform: () => number,
): Background {
  const count = Math.min(BACKGROUND_ROWS, rows);
  const chosen = Int32Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * rows) / count);
    const to = Math.floor(((i + 1) * rows) / count);
    return from + Math.floor(uniform() * (to - from));
  });
  const usual = features.map(usualOf);
  return {
    rows: count,
    columns: columns.map((bins) => Uint8Array.from(chosen, (row) => bins[row])),
    numbers: numbers.map((values) => values && Float64Array.from(chosen, (row) => values[row])),
    low: Float64Array.from(usual, ({ low }) => low),
    high: Float64Array.from(usual, ({ high }) => high),
    mean: Float64Array.from(features, (feature) => meanOf(feature, chosen)),
  };
}

function usualOf(feature: FeatureColumn): { low: number; high: number } {
  if (feature.kind === 'text') {
    return { low: NaN, high: NaN };
  }
  const { values } = feature;
  const step = Math.ceil(values.length / MOST_SORTED);
  const known = sorted(values.filter((value, i) => i % step === 0 && !Number.isNaN(value)));
  const at = (level: number) => (known.length > 0 ? known[Math.round(level * (known.length - 1))] : NaN);
  return { low: at(LOW), high: at(HIGH) };
}

function meanOf(feature: FeatureColumn, rows: Int32Array): number {
  if (feature.kind === 'text') {
    return NaN;
  }
  const known = Array.from(rows, (row) => feature.values[row]).filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value / known.length, known.length > 0 ? 0 : NaN);
}
