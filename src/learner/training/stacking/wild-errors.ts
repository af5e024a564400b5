import { square } from '../../math/numeric';

/** Nine in ten errors are at most "usual"; a larger one counts as at most this many times that. */
const USUAL_PART = 0.9;
const MOST_OFF = 3;

/**
 * Per row, the factor for its errors. If the candidates' mean is far off, the errors of all candidates are scaled
 * down: otherwise a single row, such as a typing error, would choose between them.
 */
export function sharesOfErrors(scores: Float64Array[], target: ArrayLike<number>): Float64Array {
  const sizes = Float64Array.from(target, (value, row) =>
    Math.abs(scores.reduce((sum, own) => sum + (own[row] - value) / scores.length, 0)),
  );
  const most = MOST_OFF * sizes.slice().sort()[Math.floor(USUAL_PART * (sizes.length - 1))];
  return sizes.map((size) => (most > 0 && size > most ? most / size : 1));
}

/**
 * The fraction of a standardised target's variance that the best candidate leaves, with outliers scaled down as
 * above.
 */
export function leastLeft(scores: Float64Array[], target: Float64Array): number {
  const shares = sharesOfErrors(scores, target);
  const squares = (own: (row: number) => number) =>
    shares.reduce((sum, share, row) => sum + square(share * own(row)), 0);
  const errors = scores.map((score) => squares((row) => score[row] - target[row]));
  return Math.min(...errors) / squares((row) => target[row]);
}
