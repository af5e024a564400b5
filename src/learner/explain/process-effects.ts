import { BACKWARDS } from '../kernels/layout';
import { findQuadrature } from '../math/quadrature';
import type { EnsembleProcess } from '../model/ensemble';
import { openProducts, type Products } from './products';
import { type CoalitionLayout, type ForegroundRow, mixtureCount, type Permutations } from './shapley';

/** Sums of the scores of the background rows per output, and Shapley values summed over them: outputs × groups. */
interface ProcessEffects {
  starts: Float64Array;
  effects: Float64Array;
}

/**
 * The Shapley values of a Gaussian process's scores. For a product over groups, with factors a of the foreground row and c of
 * a background row, the value of group g is
 *
 * ∫ (a_g - c_g) · ∏ (t · a_h + (1 - t) · c_h) dt, with t from 0 to 1 and h ≠ g
 *
 * (the multilinear extension: G. Owen, 1972). The integrand is a polynomial, so Gauss-Legendre quadrature is exact. What
 * fewer nodes miss is spread over the effects in proportion, so that they add up.
 *
 * @param most nodes
 */
export function processEffects(
  process: EnsembleProcess,
  foreground: ForegroundRow,
  most = Infinity,
): ProcessEffects {
  return computeEffects(openProducts(process, foreground), foreground, most);
}

function computeEffects(
  products: Products,
  { groups, background }: ForegroundRow,
  most: number,
): ProcessEffects {
  const { outputs, points, list, weights, startSums, kernels } = products;
  const { own, others, nodes, before, gains } = products.arrays;
  const rule = findQuadrature(Math.min(most, Math.ceil(list.length / 2)));
  const pairs = Math.ceil(rule.nodes.length / 2);
  nodes.fill(0, 0, 4 * pairs);
  rule.nodes.forEach((node, i) => nodes.set([node, rule.weights[i]], 2 * i));
  gains.fill(0);
  kernels.addGains(
    ...([own.byteOffset, own.byteLength, others.byteOffset, others.byteOffset + others.byteLength] as const),
    ...([list.length * 32, nodes.byteOffset, nodes.byteOffset + pairs * 32] as const),
    ...([before.byteOffset, gains.byteOffset] as const),
  );
  const starts = new Float64Array(outputs);
  const effects = new Float64Array(outputs * groups);
  for (let k = 0; k < outputs; k++) {
    const weigh = (valueAt: (point: number) => number) => {
      let sum = 0;
      for (let point = 0; point < points; point++) {
        sum += weights[k * points + point] * valueAt(point);
      }
      return sum;
    };
    starts[k] = weigh((point) => startSums[point]);
    const end = weigh((point) => list.reduce((product, _, g) => product * own[products.at(point, g)], 1));
    const found = list.map((_, g) => weigh((point) => gains[products.at(point, g)]));
    const size = found.reduce((sum, effect) => sum + Math.abs(effect), 0);
    const rest = background.rows * end - found.reduce((sum, effect) => sum + effect, starts[k]);
    list.forEach((group, g) => {
      effects[k * groups + group] = found[g] + (size > 0 ? (rest * Math.abs(found[g])) / size : 0);
    });
  }
  return { starts, effects };
}

/**
 * Quadrature nodes. These effects serve as a control variate, so a small error is harmless (1e-12 for 16 smooth
 * columns).
 */
const CONTROL_VARIATE_NODES = 4;

/**
 * For each set of permutations, mixtures × outputs: the score of the first mixture, then the change at each step; and the
 * effects.
 */
export function processAlongPermutations(
  process: EnsembleProcess,
  foreground: ForegroundRow,
  sets: Permutations[],
): { changes: Float64Array[]; effects: Float64Array } {
  const products = openProducts(process, foreground, Math.max(0, ...sets.map(mixtureCount)));
  const { effects } = computeEffects(products, foreground, CONTROL_VARIATE_NODES);
  const changes = sets.map((permutations) => {
    const { rows, perRow, steps } = permutations;
    products.flips.set(listFlips(permutations, products));
    for (let row = 0; row < rows; row++) {
      follow(products, row, { from: row * perRow * steps, count: perRow * steps, walk: steps });
    }
    return products.arrays.changes.slice(0, mixtureCount(permutations) * products.outputs);
  });
  return { changes, effects };
}

/** Scores of a Gaussian process for every coalition: mixtures × outputs. Each differs from the one before in one group. */
export function processCoalitions(
  process: EnsembleProcess,
  foreground: ForegroundRow,
  { at, bitOf }: CoalitionLayout,
): Float64Array {
  const { rows } = foreground.background;
  const largest = at.reduce((most, end, row) => Math.max(most, row > 0 ? end - at[row - 1] : 0), 0);
  const products = openProducts(process, foreground, largest);
  const { outputs, list, arrays } = products;
  const out = new Float64Array(at[rows] * outputs);
  for (let row = 0; row < rows; row++) {
    const count = at[row + 1] - at[row];
    const ofBit = new Map(list.map((group, g) => [bitOf[row * foreground.groups + group], g]));
    // A Gray code: the lowest bit of a step is the one that flips.
    for (let step = 0; step < count; step++) {
      const bit = step & -step;
      const g = ofBit.get(bit);
      const isIn = ((step ^ (step >> 1)) & bit) !== 0;
      products.flips[step] =
        step === 0
          ? firstFlip(products)
          : g === undefined
            ? 0
            : findFlip(products, row, g) | (isIn ? 0 : BACKWARDS);
    }
    follow(products, row, { from: 0, count, walk: count });
    for (let k = 0; k < outputs; k++) {
      let score = 0;
      for (let step = 0; step < count; step++) {
        score += arrays.changes[step * outputs + k];
        out[(at[row] + (step ^ (step >> 1))) * outputs + k] = score;
      }
    }
  }
  return out;
}

/** Of the walks of a background row: writes the score of each first mixture and the change at each flip. */
function follow(
  { kernels, points, outputs, arrays, flips }: Products,
  row: number,
  { from, count, walk }: { from: number; count: number; walk: number },
): void {
  const { starts, kernel, scores, changes } = arrays;
  kernels.followFlips(
    ...([starts.byteOffset + row * outputs * points * 8, points * 8] as const),
    ...([flips.byteOffset + from * 4, flips.byteOffset + (from + count) * 4, walk * 4] as const),
    ...([kernel.byteOffset, scores.byteOffset, scores.byteOffset + outputs * 8] as const),
    changes.byteOffset + from * outputs * 8,
  );
}

/* A flip is the address of what the kernel is multiplied by: for the first mixture nothing but ones. */

function firstFlip({ arrays }: Products): number {
  return arrays.ones.byteOffset;
}

function findFlip({ arrays, list, points }: Products, row: number, g: number): number {
  return arrays.ratios.byteOffset + (row * list.length + g) * points * 8;
}

const knownFlips = new WeakMap<Permutations, { of: Products; flips: Int32Array }>();

/** Per mixture; 0 if the kernel does not have the group. */
function listFlips(permutations: Permutations, products: Products): Int32Array {
  let known = knownFlips.get(permutations);
  if (known?.of !== products) {
    const { flipped, perRow, steps } = permutations;
    const placeOf = new Map(products.list.map((group, g) => [group, g]));
    const flips = Int32Array.from(flipped, (group, mixture) => {
      const g = placeOf.get(group);
      return g !== undefined
        ? findFlip(products, Math.floor(mixture / steps / perRow), g)
        : group < 0
          ? firstFlip(products)
          : 0;
    });
    known = { of: products, flips };
    knownFlips.set(permutations, known);
  }
  return known.flips;
}
