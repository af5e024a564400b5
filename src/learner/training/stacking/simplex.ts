import { square } from '../../math/numeric';

const SWEEPS = 500;
const TOLERANCE = 1e-6;

/** `start`: weights that sum to 1; those that are not `movable` stay as they are. */
export interface ErrorInput {
  /** Candidates × rows: the error of each prediction. */
  errors: Float64Array[];
  start: Float64Array;
  /** Strength of the prior at `start`, in rows with the best candidate's errors. */
  strength: number;
  movable: boolean[];
}

/**
 * Weights of lowest squared error that are non-negative and sum to 1. Because they sum to 1, the error of the
 * weighted sum is the weighted sum of the errors, so noise that all candidates share does not affect the choice.
 * Minimises over pairs of weights in turn, each exactly (as in SMO: J. Platt, 1998).
 */
export function weightsOfErrors({ errors, start, strength, movable }: ErrorInput): Float64Array {
  const count = errors.length;
  const products = errors.map((one) => errors.map((other) => dot(one, other)));
  const squares = products.map((row, c) => row[c]);
  const best = errors[squares.indexOf(Math.min(...squares))];
  const prior = (strength * dot(best, best)) / Math.max(1, evenRows(best));
  const weights = start.slice();
  const slope = (c: number) => {
    let sum = prior * (weights[c] - start[c]);
    for (let other = 0; other < count; other++) {
      sum += products[c][other] * weights[other];
    }
    return sum;
  };
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let furthest = 0;
    for (let a = 1; a < count; a++) {
      for (let b = 0; b < a; b++) {
        const curvature = products[a][a] + products[b][b] - 2 * products[a][b] + 2 * prior;
        if (!movable[a] || !movable[b] || !(curvature > 0)) {
          continue;
        }
        const step = Math.max(-weights[a], Math.min(weights[b], (slope(b) - slope(a)) / curvature));
        weights[a] += step;
        weights[b] -= step;
        furthest = Math.max(furthest, square(step));
      }
    }
    if (furthest < square(TOLERANCE)) {
      break;
    }
  }
  return weights;
}

/**
 * The effective number of rows: that many normal errors would determine the mean square as precisely. A few large
 * errors make it uncertain.
 */
function evenRows(errors: Float64Array): number {
  const second = dot(errors, errors);
  const fourth = errors.reduce((sum, error) => sum + square(square(error)), 0);
  return fourth > 0 ? Math.min(errors.length, (3 * square(second)) / fourth) : errors.length;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    sum += a[i] * b[i];
  }
  return sum;
}
