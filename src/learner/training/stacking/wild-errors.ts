import { square } from '../../math/numeric';

/** Nine of ten errors are at most usual; one counts as so many times that at most. */
const USUAL_PART = 0.9;
const MOST_OFF = 3;

/**
 * Of each row the share of its errors that counts. Where the mean of the candidates is far off, the errors of all are made
 * smaller in proportion: else one row, such as a slip of the pen, would choose between them.
 */
export function sharesOfErrors(scores: Float64Array[], target: ArrayLike<number>): Float64Array {
  const sizes = Float64Array.from(target, (value, row) =>
    Math.abs(scores.reduce((sum, own) => sum + (own[row] - value) / scores.length, 0)),
  );
  const most = MOST_OFF * sizes.slice().sort()[Math.floor(USUAL_PART * (sizes.length - 1))];
  return sizes.map((size) => (most > 0 && size > most ? most / size : 1));
}

/** What the best of some candidates leaves of the squares of a standardised target, rows far off counted as above. */
export function leastLeft(scores: Float64Array[], target: Float64Array): number {
  const shares = sharesOfErrors(scores, target);
  const squares = (own: (row: number) => number) =>
    shares.reduce((sum, share, row) => sum + square(share * own(row)), 0);
  const errors = scores.map((score) => squares((row) => score[row] - target[row]));
  return Math.min(...errors) / squares((row) => target[row]);
}
