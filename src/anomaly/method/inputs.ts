import { inputsOf, type Width } from './ridge';

/** The train rows are held out in so many blocks of time. */
const BLOCKS = 5;

/** Readings to learn from, in order of time. */
export interface HistoryRows {
  width: Width;
  /** rows × sensors, in their units; NaN is missing */
  values: Float64Array;
  /** rows × context */
  context: Float64Array;
  /** rows: 1 where memories begin anew, after a gap */
  starts: Uint8Array;
  /** rows: 1 leaves a row out of the expectations, 2 also out of what is called rare */
  leftOut: Uint8Array;
  rowsPerDay: number;
}

/** Rows from one to before another. */
export interface HeldOutBlock {
  from: number;
  to: number;
}

/** The blocks of time that are held out, one after the other. */
export function heldOutBlocks(rows: number): HeldOutBlock[] {
  const bounds = Array.from({ length: BLOCKS + 1 }, (_, i) => Math.floor((rows * i) / BLOCKS));
  return bounds.slice(1).map((to, i) => ({ from: bounds[i], to }));
}

/**
 * The inputs of all rows: rows × inputs. A missing cell counts as usual.
 *
 * @param standard rows × sensors, standardised; NaN is missing
 * @param shares what each of the two means of the past gives to the newest row
 */
export function inputsOfRows(
  { width, context, starts }: HistoryRows,
  standard: Float64Array,
  shares: readonly number[],
): Float64Array {
  const { sensors } = width;
  const columns = inputsOf(width);
  const inputs = new Float64Array(starts.length * columns);
  let past = new Float64Array(0);
  for (let row = 0; row < starts.length; row++) {
    const now = inputs.subarray(row * columns, row * columns + sensors);
    for (let j = 0; j < sensors; j++) {
      now[j] = standard[row * sensors + j] || 0;
    }
    inputs.set(context.subarray(row * width.context, (row + 1) * width.context), row * columns + sensors);
    if (starts[row] === 1) {
      past = beginPast(now, shares);
    }
    inputs.set(past, row * columns + sensors + width.context);
    takeIntoPast(past, shares, now);
  }
  return inputs;
}

/** The means of the past, as if it had been like this row: shares × sensors. */
export function beginPast(row: Float64Array, shares: readonly number[]): Float64Array<ArrayBuffer> {
  const past = new Float64Array(shares.length * row.length);
  shares.forEach((_, mean) => past.set(row, mean * row.length));
  return past;
}

/** Takes a row into the means of the past. */
export function takeIntoPast(past: Float64Array, shares: readonly number[], row: Float64Array): void {
  const sensors = row.length;
  for (let mean = 0; mean < shares.length; mean++) {
    for (let j = 0; j < sensors; j++) {
      past[mean * sensors + j] += shares[mean] * (row[j] - past[mean * sensors + j]);
    }
  }
}
