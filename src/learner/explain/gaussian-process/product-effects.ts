import type { GaussianScores } from '../../gaussian/scores';
import type { GroupFactors } from './group-factors';
import { type Quadrature, quadratureOf } from './quadrature';

/**
 * Adds the Shapley values of a Gaussian process's scores (outputs × groups), times `share` and summed over the
 * background `rows` (as bits). Returns the sum of the scores of those rows. For a kernel that is a product over
 * groups, with factors a of the foreground row and c of the background row, the value of group g is
 *
 * ∫ (a_g - c_g) · ∏ (t · a_h + (1 - t) · c_h) dt, with t from 0 to 1 and h ≠ g
 *
 * (the multilinear extension: G. Owen, 1972). The integrand is a polynomial, so Gauss-Legendre quadrature is exact.
 */
export function addProductEffects(
  { weights }: GaussianScores,
  { groups: list, buffers }: GroupFactors,
  {
    rows,
    share,
    groups: all,
    nodes = Infinity,
  }: { rows: number; share: number; groups: number; nodes?: number },
  effects: Float64Array,
): Float64Array {
  const { kernels, own, others, bases, quadrature, scratch } = buffers;
  const { outputs, points, groups } = buffers.size;
  const numbers = writeInFours(quadratureOf(Math.min(nodes, Math.ceil(groups / 2))), quadrature);
  buffers.weights.set(weights);
  bases.fill(0);
  for (let k = 0; k < outputs; k++) {
    list.forEach((group, g) => (buffers.effects[k * groups + g] = effects[k * all + group]));
  }
  kernels.addPointEffects(
    ...([own.byteOffset, others.byteOffset, points * 8, groups * 8] as const),
    ...([buffers.size.rows * groups * 8, rows] as const),
    ...([quadrature.byteOffset, quadrature.byteOffset + numbers * 8] as const),
    ...([buffers.weights.byteOffset, buffers.effects.byteOffset] as const),
    ...([bases.byteOffset, bases.byteOffset + outputs * 8, scratch.byteOffset, share] as const),
  );
  for (let k = 0; k < outputs; k++) {
    list.forEach((group, g) => (effects[k * all + group] = buffers.effects[k * groups + g]));
  }
  return bases.slice();
}

/**
 * Writes four nodes, then their weights, and so on; the last four are padded with zero weights. Returns the number of
 * elements.
 */
function writeInFours({ nodes, weights }: Quadrature, out: Float64Array): number {
  const numbers = 8 * Math.ceil(nodes.length / 4);
  out.fill(0, 0, numbers);
  for (let i = 0; i < nodes.length; i++) {
    const at = 8 * (i >> 2) + (i & 3);
    out[at] = nodes[i];
    out[at + 4] = weights[i];
  }
  return numbers;
}
