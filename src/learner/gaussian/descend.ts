import { dot } from '../math/matrix';

/** A function of parameters that writes its gradient. */
export type Differentiable = (at: Float64Array, gradient: Float64Array) => number;

const SUFFICIENT = 1e-4;
const MOST_HALVINGS = 8;
/** Length of the first step at most, in units of the parameters. */
const FIRST_STEP = 1;
/** How far a step may move any parameter: curvature that was found elsewhere may promise too much. */
const LONGEST_STEP = 1;

/** Where a descent ended: the parameters, the value there, and the inverse Hessian (parameters × parameters). */
export interface Descent {
  at: Float64Array;
  value: number;
  inverse: Float64Array;
}

/**
 * Minimises by a quasi-Newton method (BFGS: J. Nocedal and S. Wright, 2006, 6.1) for a limited number of iterations.
 * `from`: a starting point, or where the descent of a similar function ended.
 */
export function descend(
  f: Differentiable,
  from: Pick<Descent, 'at'> & Partial<Descent>,
  iterations: number,
): Descent {
  const size = from.at.length;
  let at = from.at.slice();
  let slope = new Float64Array(size);
  let value = f(at, slope);
  const inverse = from.inverse?.slice() ?? new Float64Array(size * size);
  let isFirst = from.inverse === undefined;
  for (let iteration = 0; iteration < iterations; iteration++) {
    const length = Math.sqrt(dot(slope, slope));
    if (!(length > 1e-3)) {
      break;
    }
    if (isFirst) {
      inverse.fill(0);
      for (let i = 0; i < size; i++) {
        inverse[i * size + i] = Math.min(1, FIRST_STEP / length);
      }
    }
    let direction = product(inverse, slope).map((one) => -one);
    let along = dot(direction, slope);
    if (!(along < 0)) {
      direction = slope.map((one) => -one / length);
      along = -length;
    }
    const farthest = Math.max(...direction.map(Math.abs));
    const nextSlope = new Float64Array(size);
    let step = Math.min(1, LONGEST_STEP / farthest);
    let next = at;
    let nextValue = Infinity;
    for (let halving = 0; halving < MOST_HALVINGS; halving++, step /= 2) {
      next = at.map((one, i) => one + step * direction[i]);
      nextValue = f(next, nextSlope);
      if (nextValue <= value + SUFFICIENT * step * along) {
        break;
      }
    }
    if (!(nextValue < value)) {
      break;
    }
    update(
      inverse,
      next.map((one, i) => one - at[i]),
      nextSlope.map((one, i) => one - slope[i]),
      isFirst,
    );
    const gained = value - nextValue;
    isFirst = false;
    at = next;
    slope = nextSlope;
    value = nextValue;
    if (gained < 0.02) {
      break;
    }
  }
  return { at, value, inverse };
}

/** Updates the inverse Hessian after a `step` that changed the gradient by `change`. */
function update(inverse: Float64Array, step: Float64Array, change: Float64Array, isFirst: boolean): void {
  const size = step.length;
  const curvature = dot(step, change);
  const changes = dot(change, change);
  if (!(curvature > 1e-10 * changes)) {
    return;
  }
  if (isFirst) {
    for (let i = 0; i < size; i++) {
      inverse[i * size + i] = curvature / changes;
    }
  }
  const turned = product(inverse, change);
  const factor = (1 + dot(change, turned) / curvature) / curvature;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) {
      inverse[i * size + j] +=
        factor * step[i] * step[j] - (turned[i] * step[j] + step[i] * turned[j]) / curvature;
    }
  }
}

function product(matrix: Float64Array, vector: Float64Array): Float64Array {
  const size = vector.length;
  return vector.map((_, i) => dot(matrix.subarray(i * size, (i + 1) * size), vector));
}
