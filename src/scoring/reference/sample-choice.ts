import type { Column, SampleChoice } from '../../table';
import { DRIFT_WINDOW } from './drift-bins';

/** Rows that are kept to compare with. */
export const KEPT_ROWS = 400;
/** Rows that quantiles and windows are made of: fewer of a wide table, so that memory is bounded. */
const MEASURED_ROWS = 10_000;
const MEASURED_CELLS = 2_000_000;

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
