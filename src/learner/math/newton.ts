import { solve } from './matrix';

/** A convex loss of weights, outputs × size. */
interface Loss {
  /** Size × size: the Cholesky factor of an upper bound of the Hessian, the same for each output. */
  factor: Float64Array;
  size: number;
  /** The gradient at some weights, outputs × size; it is overwritten. */
  gradient: (weights: Float64Array) => Float64Array;
}

/**
 * Minimises a loss by Newton steps with a fixed upper bound of the Hessian (D. Böhning, 1992), so that one factorisation
 * serves all steps, and Nesterov momentum, which restarts when it points uphill (B. O'Donoghue and E. Candès, 2015).
 *
 * @param weights outputs × size: where to begin, and then the result
 * @param ends after so many steps, or when no weight moves by more than the tolerance
 * @returns the number of steps
 */
export function descendByNewton(
  { factor, size, gradient }: Loss,
  weights: Float64Array,
  { steps, tolerance }: { steps: number; tolerance: number },
): number {
  const ahead = weights.slice();
  const next = new Float64Array(weights.length);
  let pace = 1;
  let step = 0;
  for (let furthest = Infinity; step < steps && furthest >= tolerance; step++) {
    const slope = gradient(ahead);
    for (let at = 0; at < slope.length; at += size) {
      solve(factor, size, slope.subarray(at, at + size));
    }
    furthest = 0;
    let uphill = 0;
    for (let i = 0; i < weights.length; i++) {
      next[i] = ahead[i] - slope[i];
      furthest = Math.max(furthest, Math.abs(slope[i]));
      uphill += slope[i] * (next[i] - weights[i]);
    }
    const before = uphill > 0 ? 1 : pace;
    pace = (1 + Math.sqrt(1 + 4 * before * before)) / 2;
    const momentum = (before - 1) / pace;
    for (let i = 0; i < weights.length; i++) {
      ahead[i] = next[i] + momentum * (next[i] - weights[i]);
    }
    weights.set(next);
  }
  return step;
}
