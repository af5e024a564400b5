import type { GaussianScores } from '../../gaussian/scores';
import { lowestBit } from '../../math/bits';
import type { GroupFactors } from './group-factors';
import type { ProductBuffers } from './product-buffers';
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
  const { functions, own, others, bases, quadrature, scratch } = buffers;
  const { outputs, points, groups } = buffers.size;
  const numbers = writeInFours(quadratureOf(Math.min(nodes, Math.ceil(groups / 2))), quadrature);
  buffers.weights.set(weights);
  bases.fill(0);
  for (let k = 0; k < outputs; k++) {
    list.forEach((group, g) => (buffers.effects[k * groups + g] = effects[k * all + group]));
  }
  if (functions) {
    functions.addPointEffects(
      ...([
        own.byteOffset,
        others.byteOffset,
        points * 8,
        groups * 8,
        buffers.size.rows * groups * 8,
      ] as const),
      ...([rows, quadrature.byteOffset, quadrature.byteOffset + numbers * 8] as const),
      ...([buffers.weights.byteOffset, buffers.effects.byteOffset] as const),
      ...([bases.byteOffset, bases.byteOffset + outputs * 8, scratch.byteOffset, share] as const),
    );
  } else {
    addPointEffects(buffers, rows, share, numbers);
  }
  for (let k = 0; k < outputs; k++) {
    list.forEach((group, g) => (effects[k * all + group] = buffers.effects[k * groups + g]));
  }
  return bases.slice();
}

/** @param numbers elements of the quadrature */
function addPointEffects(
  { size, own, others, weights, effects, bases, quadrature }: ProductBuffers,
  rows: number,
  share: number,
  numbers: number,
): void {
  const { outputs, points, groups } = size;
  const rise = new Float64Array(groups);
  const at = new Float64Array(4 * groups);
  const gains = new Float64Array(groups);
  for (let point = 0; point < points; point++) {
    gains.fill(0);
    let startSum = 0;
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      const from = (point * size.rows + lowestBit(rest)) * groups;
      let start = share;
      for (let g = 0; g < groups; g++) {
        start *= others[from + g];
        rise[g] = own[point * groups + g] - others[from + g];
      }
      startSum += start;
      // The product of all factors but one is the product before it times the product after it: cheaper than
      // dividing. Four nodes at a time hide the latency of the chain of products.
      for (let node = 0; node < numbers; node += 8) {
        const [n0, n1, n2, n3] = quadrature.subarray(node, node + 4);
        let p0 = share * quadrature[node + 4];
        let p1 = share * quadrature[node + 5];
        let p2 = share * quadrature[node + 6];
        let p3 = share * quadrature[node + 7];
        for (let g = 0; g < groups; g++) {
          const other = others[from + g];
          const more = rise[g];
          at[4 * g] = p0;
          at[4 * g + 1] = p1;
          at[4 * g + 2] = p2;
          at[4 * g + 3] = p3;
          p0 *= other + n0 * more;
          p1 *= other + n1 * more;
          p2 *= other + n2 * more;
          p3 *= other + n3 * more;
        }
        p0 = p1 = p2 = p3 = 1;
        for (let g = groups - 1; g >= 0; g--) {
          const other = others[from + g];
          const more = rise[g];
          gains[g] +=
            more * (at[4 * g] * p0 + at[4 * g + 1] * p1 + (at[4 * g + 2] * p2 + at[4 * g + 3] * p3));
          p0 *= other + n0 * more;
          p1 *= other + n1 * more;
          p2 *= other + n2 * more;
          p3 *= other + n3 * more;
        }
      }
    }
    for (let k = 0; k < outputs; k++) {
      const weight = weights[k * points + point];
      bases[k] += weight * startSum;
      for (let g = 0; g < groups; g++) {
        effects[k * groups + g] += weight * gains[g];
      }
    }
  }
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
