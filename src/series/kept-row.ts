/** A row with its outcome, as numbers: text as codes, NaN where missing. */
export interface KeptRow {
  key: string | null;
  time: number;
  /** Milliseconds; 0 where there is none. */
  ahead: number;
  row: Float64Array;
  /** A number, or the code of a label. */
  truth: number;
}
