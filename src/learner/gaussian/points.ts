import type { EncodedTable } from '../features/encode';
import { inducingRows } from './inducing';
import { type Dimensions, type Kernel, positions } from './kernel';

/** The kernel of some rows of a table, and what its points say of all of them. */
export interface Chosen {
  kernel: Kernel;
  /** points × rows. */
  factor: Float64Array;
  /** The rows that are its points. */
  pivots: Int32Array;
}

/** Points of a kernel: at most so many, until they leave less than `tolerance` of any row. */
export function choosePoints(
  { dimensions, rates }: { dimensions: Dimensions; rates: Float64Array },
  table: EncodedTable,
  rows: Int32Array,
  { most, tolerance }: { most: number; tolerance: number },
): Chosen {
  const at = positions(dimensions, table, rows);
  const { pivots, factor } = inducingRows(dimensions, rates, at, Math.min(most, rows.length), tolerance);
  const width = rates.length;
  const points = new Float32Array(pivots.length * width);
  pivots.forEach((row, i) => points.set(at.subarray(row * width, (row + 1) * width), i * width));
  return { kernel: { ...dimensions, rates, points }, factor, pivots };
}
