import type { ColumnSpec, EncodedTable } from '../features/encode';
import { standardised } from '../linear/design';
import { exp, square } from '../math/numeric';

/** What a dimension is made of: a standardised column of numbers, whether its value is missing, or a category. */
export const KIND = { number: 0, missing: 1, category: 2 } as const;

/**
 * A product over dimensions of Matérn kernels with ν = 5/2 (C. Rasmussen and C. Williams, 2006, 4.2), each with its own
 * length scale: (1 + s + s²/3) · e^-s for s = √5 · distance / length. Categories are at a distance of 0 or 1.
 */
export interface Kernel {
  /** Per dimension: its binned column, its kind, the mean and scale of its numbers, and √5 / length. */
  columns: Uint16Array;
  kinds: Uint8Array;
  means: Float64Array;
  scales: Float64Array;
  rates: Float64Array;
  /** What it is mixed with, if anything. */
  additive?: Additive;
  /** points × dimensions: the rows that a Gaussian process compares with. */
  points: Float32Array;
}

/**
 * The product over dimensions of 1 - weight + weight × Matérn kernel: multiplied out, a sum over all sets of dimensions, in which
 * those of a few weigh the most (D. Duvenaud, H. Nickisch and C. Rasmussen, Additive Gaussian Processes, 2011). A product alone knows
 * little of a ridge of two columns, as rows that differ in any of the others are no neighbours.
 */
export interface Additive {
  /** Its part of the variance; the plain product has the rest. */
  share: number;
  /** Per dimension. */
  rates: Float64Array;
  weights: Float64Array;
}

/** What is learned of a kernel's shape. */
export type KernelShape = Pick<Kernel, 'rates' | 'additive'>;

/** The dimensions alone, as they are before anything is learned. */
export type Dimensions = Omit<Kernel, 'rates' | 'additive' | 'points'>;

/** Values with fewer rows on one side say nothing of a column. */
const FEWEST = 3;

/** The dimensions of `chosen` columns: numbers, dates and categories; others have none. */
export function makeDimensions(
  { columns, numbers }: EncodedTable,
  specs: ColumnSpec[],
  chosen: number[],
): Dimensions {
  const list: { column: number; kind: number; mean: number; scale: number }[] = [];
  for (const column of chosen) {
    const bins = columns[column];
    const values = numbers[column];
    if (specs[column].category) {
      list.push({ column, kind: KIND.category, mean: 0, scale: 1 });
    } else if (values) {
      const missing = bins.reduce((count, bin) => count + (bin === 0 ? 1 : 0), 0);
      const spread = meanAndScale(values);
      if (spread) {
        list.push({ column, kind: KIND.number, ...spread });
      }
      if (Math.min(missing, bins.length - missing) >= FEWEST) {
        list.push({ column, kind: KIND.missing, mean: 0, scale: 1 });
      }
    }
  }
  return {
    columns: Uint16Array.from(list, ({ column }) => column),
    kinds: Uint8Array.from(list, ({ kind }) => kind),
    means: Float64Array.from(list, ({ mean }) => mean),
    scales: Float64Array.from(list, ({ scale }) => scale),
  };
}

/** Of the finite values; undefined where they are all alike. */
function meanAndScale(values: Float64Array): { mean: number; scale: number } | undefined {
  const finite = values.filter((value) => Number.isFinite(value));
  const mean = finite.reduce((sum, value) => sum + value / finite.length, 0);
  const spread = finite.reduce((sum, value) => sum + square(value - mean) / finite.length, 0);
  return spread > 0 && Number.isFinite(spread) ? { mean, scale: Math.sqrt(spread) } : undefined;
}

/** Some of the dimensions, by their numbers. */
export function someDimensions({ columns, kinds, means, scales }: Dimensions, chosen: number[]): Dimensions {
  return {
    columns: Uint16Array.from(chosen, (d) => columns[d]),
    kinds: Uint8Array.from(chosen, (d) => kinds[d]),
    means: Float64Array.from(chosen, (d) => means[d]),
    scales: Float64Array.from(chosen, (d) => scales[d]),
  };
}

/** Where the table's rows are: rows × dimensions, in the order of `rows`. */
export function positions(
  { columns: of, kinds, means, scales }: Dimensions,
  { columns, numbers }: EncodedTable,
  rows: Int32Array,
): Float64Array {
  const count = of.length;
  const out = new Float64Array(rows.length * count);
  for (let d = 0; d < count; d++) {
    const bins = columns[of[d]];
    const values = numbers[of[d]];
    for (let i = 0; i < rows.length; i++) {
      out[i * count + d] = findPosition(kinds[d], means[d], scales[d], bins[rows[i]], values?.[rows[i]]);
    }
  }
  return out;
}

/** Rounded as the points of a model are stored. */
function findPosition(
  kind: number,
  mean: number,
  scale: number,
  bin: number,
  value: number | undefined,
): number {
  if (kind === KIND.number) {
    return Math.fround(standardised(value ?? NaN, mean, scale));
  }
  return kind === KIND.missing ? (bin === 0 ? 1 : 0) : bin;
}

/** How far apart two positions of a dimension are. */
export function distance(kind: number, a: number, b: number): number {
  return kind === KIND.category ? (a === b ? 0 : 1) : Math.abs(a - b);
}

/** The Matérn kernel of one dimension, of a distance times its rate. */
export function matern(s: number): number {
  return (1 + s + (s * s) / 3) * exp(-s);
}
