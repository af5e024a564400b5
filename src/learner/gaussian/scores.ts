import type { EncodedTable } from '../features/encode';
import { closing } from '../kernels/scratch';
import { kernelWeights, pointFactor } from './inducing';
import { type Kernel, positions } from './kernel';
import { MaternRows } from './matern-rows';

/** Scores of a Gaussian process: the kernel with each of its points, times its weight. The kernel may be shared. */
export interface GaussianScores {
  kernel: Kernel;
  /** outputs × points. */
  weights: Float64Array;
  /**
   * The weights in terms of the points' factor. They are of similar size, so they can be rounded even where the weights of
   * neighbouring points nearly cancel. Missing for a sum of several, and in models fitted before it was stored.
   */
  ofFactor?: Float32Array;
}

export function countPoints({ points, rates }: Kernel): number {
  return points.length / rates.length;
}

/** Scores of rows: the base of each output plus the sum of weighted kernels; rows × outputs. */
export function gaussianScores(
  { kernel, weights }: GaussianScores,
  base: Float64Array,
  table: EncodedTable,
  rows: Int32Array,
): Float64Array {
  const at = positions(kernel, table, rows);
  const dimensions = kernel.rates.length;
  const points = countPoints(kernel);
  const outputs = base.length;
  const out = new Float64Array(rows.length * outputs);
  closing(new MaternRows(kernel, kernel.points), (matern) => {
    for (let i = 0, to = 0; i < rows.length; i++) {
      const own = matern.row(kernel, at.subarray(i * dimensions, (i + 1) * dimensions));
      for (let k = 0; k < outputs; k++) {
        let sum = base[k];
        for (let point = 0, from = k * points; point < points; point++) {
          sum += weights[from + point] * own[point];
        }
        out[to++] = sum;
      }
    }
  });
  return out;
}

/**
 * The scores of weights of the factor's rows.
 *
 * @param factor points × rows, or of the points alone
 * @param pivots columns of the factor that are the points
 * @param ofFactor outputs × points
 */
export function scoresOfFactor(
  kernel: Kernel,
  factor: Float64Array,
  pivots: Int32Array,
  ofFactor: Float32Array,
): GaussianScores {
  const points = pivots.length;
  const rows = factor.length / Math.max(1, points);
  const weights = new Float64Array(ofFactor.length);
  for (let from = 0; from < ofFactor.length; from += points) {
    weights.set(kernelWeights(ofFactor.subarray(from, from + points), factor, pivots, rows), from);
  }
  return { kernel, weights, ofFactor };
}

/** Restores the scores of a stored model, identical to the fitted ones to the bit. */
export function storedScores(kernel: Kernel): (ofFactor: Float32Array) => GaussianScores {
  const factor = pointFactor(kernel);
  const pivots = Int32Array.from({ length: countPoints(kernel) }, (_, i) => i);
  return (ofFactor) => scoresOfFactor(kernel, factor, pivots, ofFactor);
}
