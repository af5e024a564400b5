/** How predictions are written where people and charts read them. */
export interface Digits {
  number: (value: number) => number;
  probability: (value: number) => number;
}

/** As they are, to the last bit. */
export const ALL_DIGITS: Digits = { number: (value) => value, probability: (value) => value };

/** A prediction keeps at least so many digits, however small it is beside the errors of others. */
const LEAST_DIGITS = 4;
/** Without an error known: more than any sensor tells, fewer than binary noise needs. */
const OF_UNKNOWN = 9;
/** Digits below the first of the usual error: what is below is some hundredth of what the model knows. */
const BELOW_ERROR = 2;

/**
 * As many decimals as tell something of the prediction of a model.
 *
 * @param error the usual error, in units of the target; undefined where it is not known
 */
export function tellingDigits(error: number | undefined): Digits {
  const isKnown = error !== undefined && Number.isFinite(error) && error > 0;
  const ofError = isKnown ? BELOW_ERROR - magnitude(error) : 0;
  const least = isKnown ? LEAST_DIGITS : OF_UNKNOWN;
  return {
    number: (value) => rounded(value, Math.max(ofError, least - 1 - magnitude(value))),
    // What is nearly all is told by what is missing to it.
    probability: (value) => rounded(value, LEAST_DIGITS - 1 - magnitude(Math.min(value, 1 - value))),
  };
}

/** The place of its first digit: 0 of 1 to 9, -1 of 0.1. */
const magnitude = (value: number): number => Math.floor(Math.log10(Math.abs(value)));

/** To so many decimals, at least none. 0, what is no number, and what is too small or large for it stay as they are. */
function rounded(value: number, decimals: number): number {
  const power = 10 ** Math.max(0, decimals);
  const result = Math.round(value * power) / power;
  return Number.isFinite(result) ? result : value;
}
