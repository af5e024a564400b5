import { distance, type Kernel, matern, positions } from '../gaussian/kernel';
import type { GaussianScores } from '../gaussian/process';
import type { Background } from '../model/background';
import type { Compared } from './compared';

/** Factors below count as this, so that a product can be divided by any of its factors. */
const LEAST = 1e-30;

/** Nodes and weights of Gauss-Legendre quadrature from 0 to 1. */
interface Quadrature {
  nodes: Float64Array;
  weights: Float64Array;
}

/**
 * Adds the Shapley values (per group) of the scores of a Gaussian process, and returns their mean over the background. A
 * kernel that is a product over groups, with the factor a of the row and c of the background's row, gives group g
 * ∫ (a_g - c_g) · ∏ (t · a_h + (1 - t) · c_h) dt over t from 0 to 1 and h ≠ g (G. Owen, 1972): a polynomial, for which the
 * quadrature is exact.
 */
export function addProductShares(
  { kernel, weights }: GaussianScores,
  { bins, numbers, background, groupOf }: Compared,
  effects: Float64Array,
): number {
  const dimensions = kernel.rates.length;
  const row = {
    columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
    numbers: Array.from(numbers, (value) => Float64Array.of(value)),
  };
  const own = factorsOf(kernel, positions(kernel, row, Int32Array.of(0)), 1);
  const others = backgroundFactors(kernel, background);
  const list = [...new Set(Array.from(kernel.columns, (column) => groupOf[column]))];
  const groups = list.length;
  const group = Int32Array.from(kernel.columns, (column) => list.indexOf(groupOf[column]));
  const { nodes, weights: shares } = quadratureOf(Math.ceil(groups / 2));
  const rise = new Float64Array(groups);
  const from = new Float64Array(groups);
  const at = new Float64Array(groups);
  let base = 0;
  for (let point = 0, other = 0; point < weights.length; point++) {
    const weight = weights[point] / background.rows;
    for (let b = 0; b < background.rows; b++) {
      rise.fill(1);
      from.fill(1);
      for (let d = 0; d < dimensions; d++, other++) {
        rise[group[d]] *= own[point * dimensions + d];
        from[group[d]] *= others[other];
      }
      let start = weight;
      for (let g = 0; g < groups; g++) {
        start *= from[g];
        rise[g] -= from[g];
      }
      base += start;
      for (let node = 0; node < nodes.length; node++) {
        const t = nodes[node];
        let product = weight * shares[node];
        for (let g = 0; g < groups; g++) {
          at[g] = from[g] + t * rise[g];
          product *= at[g];
        }
        for (let g = 0; g < groups; g++) {
          effects[list[g]] += (product * rise[g]) / at[g];
        }
      }
    }
  }
  return base;
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

const ofBackgrounds = new WeakMap<Kernel, { background: Background; factors: Float64Array }>();

/** The same of the background's rows. Kept: they are alike for every row explained. */
function backgroundFactors(kernel: Kernel, background: Background): Float64Array {
  const known = ofBackgrounds.get(kernel);
  if (known?.background === background) {
    return known.factors;
  }
  const table = { columns: background.columns, numbers: background.numbers ?? [] };
  const rows = Int32Array.from({ length: background.rows }, (_, row) => row);
  const factors = factorsOf(kernel, positions(kernel, table, rows), background.rows);
  ofBackgrounds.set(kernel, { background, factors });
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
