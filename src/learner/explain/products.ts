import { distance, type Kernel, matern, positions } from '../gaussian/kernel';
import { type GaussianScores, pointsOf } from '../gaussian/scores';
import { lowestBit } from '../math/bits';
import type { Background } from '../model/background';
import type { Compared } from './compared';

/** Factors below count as this, so that a product of all columns of a kernel can be divided by any of its factors. */
const LEAST = 1e-15;

/** Nodes and weights of Gauss-Legendre quadrature from 0 to 1. */
interface Quadrature {
  nodes: Float64Array;
  weights: Float64Array;
}

/** Factors of a kernel that is a product over groups, for a row and for the background's rows. */
export interface GroupFactors {
  /** The groups, by their numbers. */
  groups: number[];
  points: number;
  /** points × groups. */
  own: Float64Array;
  /** Rows of the background. */
  rows: number;
  /** points × rows of the background × groups. */
  others: Float64Array;
}

export function groupFactors(kernel: Kernel, { bins, numbers, background, groupOf }: Compared): GroupFactors {
  const row = {
    columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
    numbers: Array.from(numbers, (value) => Float64Array.of(value)),
  };
  const groups = [...new Set(Array.from(kernel.columns, (column) => groupOf[column]))];
  const groupAt = Int32Array.from(kernel.columns, (column) => groups.indexOf(groupOf[column]));
  return {
    groups,
    points: pointsOf(kernel),
    own: productsByGroup(
      factorsOf(kernel, positions(kernel, row, Int32Array.of(0)), 1),
      groupAt,
      groups.length,
    ),
    rows: background.rows,
    others: backgroundFactors(kernel, background, groupAt, groups.length),
  };
}

/** @param factors any number × dimensions */
function productsByGroup(factors: Float64Array, groupAt: Int32Array, groups: number): Float64Array {
  const out = new Float64Array((factors.length / groupAt.length) * groups).fill(1);
  for (let at = 0, to = 0; at < factors.length; to += groups) {
    for (let d = 0; d < groupAt.length; d++, at++) {
      out[to + groupAt[d]] *= factors[at];
    }
  }
  return out;
}

/**
 * Adds the Shapley values of the scores of a Gaussian process (outputs × groups), times `share` and over `rows` of the
 * background (as bits), and returns the sums of its scores for these. A kernel that is a product over groups, with the
 * factor a of the row and c of the background's row, gives group g ∫ (a_g - c_g) · ∏ (t · a_h + (1 - t) · c_h) dt over t from
 * 0 to 1 and h ≠ g (G. Owen, 1972): a polynomial, for which the quadrature is exact.
 */
export function addProductShares(
  { weights }: GaussianScores,
  { groups: list, points, own, others, rows: backgroundRows }: GroupFactors,
  {
    rows,
    share,
    groups: all,
    nodes: most = Infinity,
  }: { rows: number; share: number; groups: number; nodes?: number },
  effects: Float64Array,
): Float64Array {
  const outputs = effects.length / all;
  const groups = list.length;
  const { nodes, weights: widths } = inFours(quadratureOf(Math.min(most, Math.ceil(groups / 2))));
  const rise = new Float64Array(groups);
  const at = new Float64Array(4 * groups);
  const shares = new Float64Array(groups);
  const bases = new Float64Array(outputs);
  for (let point = 0; point < points; point++) {
    for (let rest = rows; rest !== 0; rest &= rest - 1) {
      const from = (point * backgroundRows + lowestBit(rest)) * groups;
      let start = share;
      for (let g = 0; g < groups; g++) {
        start *= others[from + g];
        rise[g] = own[point * groups + g] - others[from + g];
      }
      shares.fill(0);
      // Of all factors but one, the product of those before it and of those after it: to divide by it takes longer. Four
      // nodes at a time, since a product waits for the one before.
      for (let node = 0; node < nodes.length; node += 4) {
        const [n0, n1, n2, n3] = [nodes[node], nodes[node + 1], nodes[node + 2], nodes[node + 3]];
        let p0 = share * widths[node];
        let p1 = share * widths[node + 1];
        let p2 = share * widths[node + 2];
        let p3 = share * widths[node + 3];
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
      for (let k = 0; k < outputs; k++) {
        const weight = weights[k * points + point];
        bases[k] += weight * start;
        for (let g = 0; g < groups; g++) {
          effects[k * all + list[g]] += weight * shares[g];
        }
      }
    }
  }
  return bases;
}

/** With nodes that count for nothing, so that there are as many as a multiple of four. */
function inFours({ nodes, weights }: Quadrature): Quadrature {
  const count = 4 * Math.ceil(nodes.length / 4);
  const padded = (list: Float64Array) => Float64Array.from({ length: count }, (_, i) => list[i] ?? 0);
  return { nodes: padded(nodes), weights: padded(weights) };
}

/** Of each point the factors of the kernel with each of `count` positions: points × positions × dimensions. */
function factorsOf({ kinds, rates, points }: Kernel, at: Float64Array, count: number): Float64Array {
  const width = rates.length;
  const out = new Float64Array(points.length * count);
  let to = 0;
  for (let point = 0; point < points.length; point += width) {
    for (let i = 0; i < count; i++) {
      for (let d = 0; d < width; d++) {
        const gap = distance(kinds[d], at[i * width + d], points[point + d]);
        out[to++] = Math.max(LEAST, matern(rates[d] * gap));
      }
    }
  }
  return out;
}

const ofBackgrounds = new WeakMap<
  Kernel,
  { background: Background; groupAt: Int32Array; factors: Float64Array }
>();

/** The same of the background's rows, by group. Kept: they are alike for every row explained. */
function backgroundFactors(
  kernel: Kernel,
  background: Background,
  groupAt: Int32Array,
  groups: number,
): Float64Array {
  const known = ofBackgrounds.get(kernel);
  if (known?.background === background && known.groupAt.every((group, d) => group === groupAt[d])) {
    return known.factors;
  }
  const table = { columns: background.columns, numbers: background.numbers ?? [] };
  const rows = Int32Array.from({ length: background.rows }, (_, row) => row);
  const each = factorsOf(kernel, positions(kernel, table, rows), background.rows);
  const factors = productsByGroup(each, groupAt, groups);
  ofBackgrounds.set(kernel, { background, groupAt, factors });
  return factors;
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
