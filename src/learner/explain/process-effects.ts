import { distance, type Kernel, matern, positions } from '../gaussian/kernel';
import { type GaussianScores, pointsOf } from '../gaussian/scores';
import type { Kernels } from '../kernels/functions';
import { alignedBytes, openOwnMemory } from '../kernels/scratch';
import { indices } from '../math/order';
import type { Background } from '../model/model';
import type { ForegroundRow } from './shapley';

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
  gaussian: GaussianScores,
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
  writeWeights(gaussian, buffers);
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

/** Nodes and weights of Gauss-Legendre quadrature on [0, 1]. */
interface Quadrature {
  nodes: Float64Array;
  weights: Float64Array;
}

const quadratures: Quadrature[] = [{ nodes: new Float64Array(0), weights: new Float64Array(0) }];

/** Exact for polynomials of degree 2 · count - 1. */
export function quadratureOf(count: number): Quadrature {
  for (let order = quadratures.length; order <= count; order++) {
    // The nodes of each order interlace with those of the order before.
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

/** The Legendre polynomials of this order and the one before. */
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

/** Lower bound of a factor, so that the kernel can be divided by any of its factors. */
const MIN_FACTOR = 1e-15;

/**
 * A kernel that is a product over columns, as a product over groups: its factors for the foreground row and the
 * background.
 */
export interface GroupFactors {
  /** Indices of the groups. */
  groups: number[];
  /** Hold the factors until the next row asks for its own. */
  buffers: ProductBuffers;
}

/**
 * @param outputs scores
 * @param mixtures most mixtures along the permutations of a member; 0 for none
 */
export function groupFactors(
  kernel: Kernel,
  { bins, numbers, background, groupOf }: ForegroundRow,
  outputs: number,
  mixtures = 0,
): GroupFactors {
  const row = {
    columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
    numbers: Array.from(numbers, (value) => Float64Array.of(value)),
  };
  const groups = [...new Set(Array.from(kernel.columns, (column) => groupOf[column]))];
  const groupAt = Int32Array.from(kernel.columns, (column) => groups.indexOf(groupOf[column]));
  const buffers = buffersFor(kernel, background, groupAt, { groups: groups.length, outputs, mixtures });
  const each = factorsOf(kernel, positions(kernel, row, Int32Array.of(0)), 1);
  multiplyByGroup(each, groupAt, groups.length, buffers.own);
  return { groups, buffers };
}

/**
 * Writes the weights of a process: a mixture of two products is that of twice as many points, each once with the plain
 * product and once with the additive kernel.
 */
export function writeWeights(
  { kernel: { additive }, weights }: GaussianScores,
  buffers: ProductBuffers,
): void {
  if (additive === undefined) {
    buffers.weights.set(weights);
    return;
  }
  const { outputs, points } = buffers.size;
  const half = points / 2;
  for (let k = 0; k < outputs; k++) {
    for (let point = 0; point < half; point++) {
      const weight = weights[k * half + point];
      buffers.weights[k * points + point] = (1 - additive.share) * weight;
      buffers.weights[k * points + half + point] = additive.share * weight;
    }
  }
}

/** @param factors any number × dimensions */
function multiplyByGroup(
  factors: Float64Array,
  groupAt: Int32Array,
  groups: number,
  out: Float64Array,
): void {
  out.fill(1);
  for (let at = 0, to = 0; at < factors.length; to += groups) {
    for (let d = 0; d < groupAt.length; d++, at++) {
      out[to + groupAt[d]] *= factors[at];
    }
  }
}

/**
 * The kernel's factors between each point and each of `count` positions: points × positions × dimensions; then those of the
 * additive kernel.
 */
function factorsOf(kernel: Kernel, at: Float64Array, count: number): Float64Array {
  const { kinds, rates, additive, points } = kernel;
  const width = rates.length;
  const out = new Float64Array(productsOf(kernel) * points.length * count);
  let to = 0;
  for (const own of additive === undefined ? [{ rates }] : [{ rates }, additive]) {
    const weights = 'weights' in own ? own.weights : undefined;
    for (let point = 0; point < points.length; point += width) {
      for (let i = 0; i < count; i++) {
        for (let d = 0; d < width; d++) {
          const gap = distance(kinds[d], at[i * width + d], points[point + d]);
          const factor = matern(own.rates[d] * gap);
          const weight = weights?.[d] ?? 1;
          out[to++] = Math.max(MIN_FACTOR, 1 - weight + weight * factor);
        }
      }
    }
  }
  return out;
}

/** Products that the kernel is a mixture of. */
const productsOf = ({ additive }: Kernel): number => (additive === undefined ? 1 : 2);

const ofBackgrounds = new WeakMap<
  Kernel,
  { background: Background; groupAt: Int32Array; buffers: ProductBuffers }
>();

/** Buffers with the background's factors. Cached, since they are the same for every row explained. */
function buffersFor(
  kernel: Kernel,
  background: Background,
  groupAt: Int32Array,
  { groups, outputs, mixtures }: { groups: number; outputs: number; mixtures: number },
): ProductBuffers {
  const known = ofBackgrounds.get(kernel);
  if (
    known?.background === background &&
    known.buffers.size.outputs === outputs &&
    known.buffers.size.mixtures >= mixtures &&
    known.groupAt.every((group, d) => group === groupAt[d])
  ) {
    return known.buffers;
  }
  const table = { columns: background.columns, numbers: background.numbers ?? [] };
  const rows = indices(background.rows);
  const each = factorsOf(kernel, positions(kernel, table, rows), background.rows);
  const buffers = new ProductBuffers({
    ...{ groups, outputs, mixtures },
    ...{ points: productsOf(kernel) * pointsOf(kernel), rows: background.rows },
  });
  multiplyByGroup(each, groupAt, groups, buffers.others);
  if (mixtures > 0) {
    findStarts(buffers);
  }
  ofBackgrounds.set(kernel, { background, groupAt, buffers });
  return buffers;
}

/** The kernel at the background rows, and their factors by group. */
function findStarts({ size: { groups, points, rows }, others, othersByGroup, starts }: ProductBuffers): void {
  starts.fill(1);
  for (let point = 0, from = 0; point < points; point++) {
    for (let row = 0; row < rows; row++) {
      for (let g = 0; g < groups; g++, from++) {
        starts[row * points + point] *= others[from];
        othersByGroup[(row * groups + g) * points + point] = others[from];
      }
    }
  }
}

/** Dimensions of a product kernel's buffers. */
interface ProductSize {
  groups: number;
  points: number;
  /** Background rows. */
  rows: number;
  outputs: number;
  /** Along the permutations of a member; 0 if none are used. */
  mixtures: number;
}

/** Most differing groups whose coalitions fit in the buffers. */
export const MAX_HALVED = 10;
const MAX_HALF = 1 << (MAX_HALVED / 2);

/**
 * All numbers of one kernel: factors of the foreground row and of the background, and everything computed from them.
 */
export class ProductBuffers {
  /** Those that reach these numbers. */
  readonly kernels: Kernels;
  /** The foreground row's factors: points × groups, and groups × points. */
  readonly own: Float64Array;
  readonly ownByGroup: Float64Array;
  /** The background's: points × rows × groups, and rows × groups × points. */
  readonly others: Float64Array;
  readonly othersByGroup: Float64Array;
  /** Rows × points: the kernel at the background rows. */
  readonly starts: Float64Array;
  /** Rows × groups × points: the factor by which the kernel changes when a group flips to the foreground row. */
  readonly ratios: Float64Array;
  /** Outputs × points; the same with all outputs of four points together; and the constant of each output. */
  readonly weights: Float64Array;
  readonly weightsByFours: Float64Array;
  readonly base: Float64Array;
  /** Outputs × groups, and outputs. */
  readonly effects: Float64Array;
  readonly bases: Float64Array;
  /** Four nodes, then their four weights, and so on. */
  readonly quadrature: Float64Array;
  /** Per mixture, the byte offset of the ratios of the group that flips; -1 if none does. */
  readonly places: Int32Array;
  /** Mixtures × outputs. */
  readonly changes: Float64Array;
  /** Byte offsets of groups: those that do not differ, then two halves of the rest. */
  readonly lists: Int32Array;
  /** Outputs × coalitions. */
  readonly sums: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** For the kernels only. */
  readonly scratch: Float64Array;

  constructor(readonly size: ProductSize) {
    const { groups, points, rows, outputs, mixtures } = size;
    const isPermuted = mixtures > 0 ? 1 : 0;
    const numbers = {
      own: points * groups,
      ownByGroup: points * groups,
      others: points * rows * groups,
      othersByGroup: isPermuted * points * rows * groups,
      starts: isPermuted * points * rows,
      ratios: isPermuted * points * rows * groups,
      weights: outputs * points,
      weightsByFours: isPermuted * outputs * points,
      base: outputs,
      effects: outputs * groups,
      bases: outputs,
      quadrature: 8 * Math.ceil(groups / 8 + 1),
      changes: mixtures * outputs,
      sums: outputs << MAX_HALVED,
      low: MAX_HALF,
      high: MAX_HALF,
      scratch: 6 * groups + points + outputs,
    };
    const bytes =
      Object.values(numbers).reduce((sum, count) => sum + alignedBytes(8 * count), 0) +
      alignedBytes(4 * mixtures) +
      alignedBytes(4 * groups);
    const scratch = openOwnMemory(bytes);
    this.kernels = scratch.kernels;
    this.own = scratch.numbers(numbers.own);
    this.ownByGroup = scratch.numbers(numbers.ownByGroup);
    this.others = scratch.numbers(numbers.others);
    this.othersByGroup = scratch.numbers(numbers.othersByGroup);
    this.starts = scratch.numbers(numbers.starts);
    this.ratios = scratch.numbers(numbers.ratios);
    this.weights = scratch.numbers(numbers.weights);
    this.weightsByFours = scratch.numbers(numbers.weightsByFours);
    this.base = scratch.numbers(numbers.base);
    this.effects = scratch.numbers(numbers.effects);
    this.bases = scratch.numbers(numbers.bases);
    this.quadrature = scratch.numbers(numbers.quadrature);
    this.changes = scratch.numbers(numbers.changes);
    this.sums = scratch.numbers(numbers.sums);
    this.low = scratch.numbers(numbers.low);
    this.high = scratch.numbers(numbers.high);
    this.scratch = scratch.numbers(numbers.scratch);
    this.places = scratch.wholes(mixtures);
    this.lists = scratch.wholes(groups);
  }
}
