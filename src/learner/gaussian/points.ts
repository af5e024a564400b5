import type { EncodedTable } from '../features/encode';
import { inducingRows } from './inducing';
import { type Dimensions, type Kernel, type KernelShape, positions } from './kernel';

/** The kernel of some rows of a table, and its factor over all of them. */
export interface Chosen {
  kernel: Kernel;
  /** Points × rows. */
  factor: Float64Array;
  /** The rows that are its points. */
  pivots: Int32Array;
}

/** Adds points to a kernel up to a maximum, or until they leave less than `tolerance` of any row's variance. */
export function choosePoints(
  { dimensions, rates, additive }: { dimensions: Dimensions } & KernelShape,
  table: EncodedTable,
  rows: Int32Array,
  { most, tolerance }: { most: number; tolerance: number },
): Chosen {
  const at = positions(dimensions, table, rows);
  const shape = { rates, ...(additive && { additive }) };
  const { pivots, factor } = inducingRows(dimensions, shape, at, Math.min(most, rows.length), tolerance);
  const width = rates.length;
  const points = new Float32Array(pivots.length * width);
  pivots.forEach((row, i) => points.set(at.subarray(row * width, (row + 1) * width), i * width));
  return { kernel: { ...dimensions, ...shape, points }, factor, pivots };
}
