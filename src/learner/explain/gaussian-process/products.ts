import type { GaussianScores } from '../../gaussian/scores';
import { lowestBit } from '../../math/bits';
import type { GroupFactors } from './product-factors';
import type { ProductRoom } from './product-room';

/** Nodes and weights of Gauss-Legendre quadrature from 0 to 1. */
interface Quadrature {
  nodes: Float64Array;
  weights: Float64Array;
}

/**
 * Adds the Shapley values of the scores of a Gaussian process (outputs × groups), times `share` and over `rows` of the
 * background (as bits), and returns the sums of its scores for these. A kernel that is a product over groups, with the
 * factor a of the row and c of the background's row, gives group g ∫ (a_g - c_g) · ∏ (t · a_h + (1 - t) · c_h) dt over t from
 * 0 to 1 and h ≠ g (G. Owen, 1972): a polynomial, for which the quadrature is exact.
 */
export function addProductShares(
  { weights }: GaussianScores,
  { groups: list, room }: GroupFactors,
  {
    rows,
    share,
    groups: all,
    nodes = Infinity,
  }: { rows: number; share: number; groups: number; nodes?: number },
  effects: Float64Array,
): Float64Array {
  const { functions, own, others, bases, quadrature, scratch } = room;
  const { outputs, points, groups } = room.size;
  const numbers = writeInFours(quadratureOf(Math.min(nodes, Math.ceil(groups / 2))), quadrature);
  room.weights.set(weights);
  bases.fill(0);
  for (let k = 0; k < outputs; k++) {
    list.forEach((group, g) => (room.effects[k * groups + g] = effects[k * all + group]));
  }
  if (functions) {
    functions.addShares(
      ...([own.byteOffset, others.byteOffset, points * 8, groups * 8, room.size.rows * groups * 8] as const),
      ...([rows, quadrature.byteOffset, quadrature.byteOffset + numbers * 8] as const),
      ...([room.weights.byteOffset, room.effects.byteOffset] as const),
      ...([bases.byteOffset, bases.byteOffset + outputs * 8, scratch.byteOffset, share] as const),
    );
  } else {
    addShares(room, rows, share, numbers);
  }
  for (let k = 0; k < outputs; k++) {
    list.forEach((group, g) => (effects[k * all + group] = room.effects[k * groups + g]));
  }
  return bases.slice();
}

/** @param numbers of the quadrature */
function addShares(
  { size, own, others, weights, effects, bases, quadrature }: ProductRoom,
  rows: number,
  share: number,
  numbers: number,
): void {
  const { outputs, points, groups } = size;
  const rise = new Float64Array(groups);
  const at = new Float64Array(4 * groups);
  const shares = new Float64Array(groups);
  for (let point = 0; point < points; point++) {
    shares.fill(0);
    let startSum = 0;
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      const from = (point * size.rows + lowestBit(rest)) * groups;
      let start = share;
      for (let g = 0; g < groups; g++) {
        start *= others[from + g];
        rise[g] = own[point * groups + g] - others[from + g];
      }
      startSum += start;
      // Of all factors but one, the product of those before it and of those after it: to divide by it takes longer. Four
      // nodes at a time, since a product waits for the one before.
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
          shares[g] +=
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
        effects[k * groups + g] += weight * shares[g];
      }
    }
  }
}

/** Four nodes, their weights, the next four. The last have some that count for nothing. Returns how many numbers that are. */
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

const quadratures: Quadrature[] = [{ nodes: new Float64Array(0), weights: new Float64Array(0) }];

/** Exact for polynomials of degree 2 · count - 1. */
export function quadratureOf(count: number): Quadrature {
  for (let order = quadratures.length; order <= count; order++) {
    // The nodes of each order lie between those of the order before.
    const borders = [0, ...quadratures[order - 1].nodes, 1];
    const nodes = Float64Array.from({ length: order }, (_, i) =>
      rootBetween(order, borders[i], borders[i + 1]),
    );
    const weights = nodes.map((node) => {
      const x = 2 * node - 1;
      const { value, before } = legendre(order, x);
      const slope = (order * (x * value - before)) / (x * x - 1);
      return 1 / ((1 - x * x) * slope * slope);
    });
    quadratures.push({ nodes, weights });
  }
  return quadratures[count];
}

/** The Legendre polynomial of an order, and of the one before. */
function legendre(order: number, x: number): { value: number; before: number } {
  let before = 1;
  let value = x;
  for (let n = 1; n < order; n++) {
    [before, value] = [value, ((2 * n + 1) * x * value - n * before) / (n + 1)];
  }
  return { value, before };
}

function rootBetween(order: number, low: number, high: number): number {
  const isPositive = (at: number) => legendre(order, 2 * at - 1).value > 0;
  const above = isPositive(high);
  for (let step = 0; step < 60; step++) {
    const middle = (low + high) / 2;
    if (isPositive(middle) === above) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return (low + high) / 2;
}
