import type { DriftReference, ReferenceCell } from './types';

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
export function binOfNumber(edges: ArrayLike<number>, value: number): number {
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
