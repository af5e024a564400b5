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

/** A row whose outcome a message will bring. */
export interface WaitingRow extends KeptRow {
  /** Whether the row left to be predicted; its outcome leaves only then. Set when it leaves later. */
  hasLeft: boolean;
}
