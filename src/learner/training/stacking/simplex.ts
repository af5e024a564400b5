import { square } from '../../math/numeric';

const SWEEPS = 500;
const TOLERANCE = 1e-6;

/** What the best sum is sought of. `start`: weights that sum to 1; those that are not `movable` stay as they are. */
export interface ErrorInput {
  /** candidates × rows: how far each prediction is from the truth. */
  errors: Float64Array[];
  start: Float64Array;
  /** Strength of the prior that the weights are those of `start`, in rows of the best candidate's errors. */
  strength: number;
  movable: boolean[];
}

/**
 * Weights that are not negative, sum to 1 and have the lowest squared error. As they sum to 1, the error of the sum is the
 * sum of the errors: what all candidates miss alike, the noise, takes no part in the choice. Found by steps between two
 * candidates at a time (J. Platt, 1998), each to its lowest point.
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

/** As many rows with normal errors would tell as much of the mean square, which a few large errors make uncertain. */
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
