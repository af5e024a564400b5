/** Rows this near each other in the table are neighbours. */
const NEAR = 3;
const MIN_PAIRS = 50;
/** Correlation of neighbours' errors from which rows follow each other, and how sure it has to be. */
const MIN_CORRELATION = 0.2;
const MIN_DEVIATIONS = 5;

/**
 * Whether the errors of rows next to each other are alike, as they are where rows follow each other in time. Rows that
 * were drawn by chance then tell little of rows to come: their neighbours were in the train set.
 *
 * @param rows numbers of the scored rows in the table, ascending
 * @param error of a scored row, for each of `width` outputs
 */
export function areNeighboursAlike(
  rows: ArrayLike<number>,
  width: number,
  error: (index: number, output: number) => number,
): boolean {
  const length = rows.length * width;
  const errors = Float64Array.from({ length }, (_, at) => error(Math.floor(at / width), at % width));
  const means = Array.from({ length: width }, (_, output) => {
    let sum = 0;
    for (let at = output; at < length; at += width) {
      sum += errors[at]!;
    }
    return sum / Math.max(1, rows.length);
  });
  let variance = 0;
  for (let at = 0; at < length; at++) {
    errors[at]! -= means[at % width]!;
    variance += errors[at]! ** 2 / Math.max(1, rows.length);
  }
  let pairs = 0;
  let together = 0;
  for (let i = 1; i < rows.length; i++) {
    if (rows[i]! - rows[i - 1]! <= NEAR) {
      pairs++;
      for (let output = 0; output < width; output++) {
        together += errors[i * width + output]! * errors[(i - 1) * width + output]!;
      }
    }
  }
  const correlation = together / Math.max(1, pairs) / variance;
  return (
    pairs >= MIN_PAIRS && correlation > MIN_CORRELATION && correlation * Math.sqrt(pairs) > MIN_DEVIATIONS
  );
}
