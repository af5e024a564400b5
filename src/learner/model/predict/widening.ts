import type { EncodedTable } from '../../features/encode';
import { extrapolatedBy } from '../../linear/linear';
import type { Model } from '../model';

/**
 * Half-width added to the usual 80 % band, as a fraction of what a linear model extrapolates beyond the train set's
 * range.
 */
const WIDENED_BY = 0.25;
const LOW = 0.1;

/**
 * Per row, the factor for its residuals: 1 if every value is within the train set's range or no linear model uses it.
 * Held-out rows say nothing about what lies beyond.
 */
export function widenings({ members, residuals }: Model, table: EncodedTable, rows: number): Float64Array {
  const out = new Float64Array(rows).fill(1);
  const half = residuals ? halfWidth(residuals) : 0;
  if (!(half > 0)) {
    return out;
  }
  const parts = members.flatMap((member) =>
    member.parts.flatMap((part) =>
      part.kind === 'linear' ? [{ tables: part.tables, weight: member.weight * part.weight }] : [],
    ),
  );
  for (let row = 0; row < rows; row++) {
    let beyond = 0;
    for (const { tables, weight } of parts) {
      beyond += weight * extrapolatedBy(tables, table, row);
    }
    out[row] = 1 + (WIDENED_BY * Math.abs(beyond)) / half;
  }
  return out;
}

/** Half the distance between the 10 % and 90 % quantiles of all residuals. */
function halfWidth({ atoms, overall }: NonNullable<Model['residuals']>): number {
  let sum = 0;
  let low = 0;
  let high = atoms.length - 1;
  for (let atom = 0; atom < atoms.length; atom++) {
    low = sum < LOW ? atom : low;
    sum += overall[atom];
    high = sum < 1 - LOW ? atom + 1 : high;
  }
  return (atoms[Math.min(high, atoms.length - 1)] - atoms[low]) / 2;
}
