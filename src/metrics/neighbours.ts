/** Rows this near each other in the table are neighbours. */
const NEAR = 3;
const MIN_PAIRS = 50;
/** Correlation of neighbours' errors from which rows follow each other, and how sure it has to be. */
const MIN_CORRELATION = 0.2;
const MIN_DEVIATIONS = 5;

/** Part of the steps of a target that go the same way where the table is sorted by it. */
const SAME_WAY = 0.99;

/** Rows that were scored: `rows` are their numbers in the table, ascending. */
export interface ScoredRows {
  rows: ArrayLike<number>;
  /** The number of each, or its class from 0. */
  target: ArrayLike<number>;
  /** 1 for numbers, else the number of classes. */
  width: number;
  /** Truth less prediction: of a number, or of the probability of a class. */
  error: (index: number, output: number) => number;
}

/**
 * Whether the errors of rows next to each other are alike, as they are where rows follow each other in time. Rows that
 * were drawn by chance then tell little of rows to come: their neighbours were in the train set. Where the table is
 * sorted by its target the errors are alike too, and tell nothing.
 */
export function areNeighboursAlike({ rows, target, width, error }: ScoredRows): boolean {
  if (isSorted(target, width)) {
    return false;
  }
  const errors = centred(rows.length, width, error);
  let variance = 0;
  for (const one of errors) {
    variance += one ** 2 / Math.max(1, rows.length);
  }
  let pairs = 0;
  let together = 0;
  for (let i = 1; i < rows.length; i++) {
    if (rows[i] - rows[i - 1] <= NEAR) {
      pairs++;
      for (let output = 0; output < width; output++) {
        together += errors[i * width + output] * errors[(i - 1) * width + output];
      }
    }
  }
  const correlation = together / Math.max(1, pairs) / variance;
  return (
    pairs >= MIN_PAIRS && correlation > MIN_CORRELATION && correlation * Math.sqrt(pairs) > MIN_DEVIATIONS
  );
}

/** rows × width: the errors less the mean of their output. */
function centred(rows: number, width: number, error: ScoredRows['error']): Float64Array {
  const length = rows * width;
  const errors = Float64Array.from({ length }, (_, at) => error(Math.floor(at / width), at % width));
  const means = Array.from({ length: width }, (_, output) => {
    let sum = 0;
    for (let at = output; at < length; at += width) {
      sum += errors[at];
    }
    return sum / Math.max(1, rows);
  });
  return errors.map((one, at) => one - means[at % width]);
}

/** Numbers that rise or fall from row to row; classes of which each comes in one run. */
function isSorted(target: ArrayLike<number>, width: number): boolean {
  let up = 0;
  let down = 0;
  for (let i = 1; i < target.length; i++) {
    up += target[i] > target[i - 1] ? 1 : 0;
    down += target[i] < target[i - 1] ? 1 : 0;
  }
  return width > 1 ? up + down < width : Math.max(up, down) >= SAME_WAY * (up + down);
}
