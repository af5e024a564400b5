import { distance, type Kernel, matern, positions } from '../gaussian/kernel';
import { countPoints } from '../gaussian/scores';
import type { Kernels } from '../kernels/bytes';
import { alignedBytes, openOwnMemory } from '../kernels/scratch';
import { indices } from '../math/order';
import type { EnsembleProcess } from '../model/ensemble';
import type { Background } from '../model/model';
import type { ForegroundRow } from './shapley';

/** Lower bound of a factor, so that the kernel can be divided by any of its factors. */
const MIN_FACTOR = 1e-15;

/**
 * A Gaussian process sums, over its points, weights times a kernel that is a product over columns, and so over groups. One
 * more point, whose kernel is always 1, has the base for its weight; zero weights pad the points to fours.
 */
export class Products {
  readonly kernels: Kernels;
  readonly arrays: Record<keyof ReturnType<typeof listLengths>, Float64Array>;
  /** Per mixture, the address of what the kernel is multiplied by. */
  readonly flips: Int32Array;
  readonly points: number;
  /** Outputs × points. */
  readonly weights: Float64Array;
  /** The kernel at the background rows: rows × points; and their sum. */
  private readonly starts: Float64Array;
  readonly startSums: Float64Array;

  /**
   * @param list the groups that the kernel has
   * @param groupAt per dimension, its place in the list
   * @param mixtures most that are scored at a time; 0 for none
   */
  constructor(
    kernel: Kernel,
    readonly background: Background,
    readonly list: number[],
    readonly groupAt: Int32Array,
    readonly outputs: number,
    readonly mixtures: number,
  ) {
    const { rows } = background;
    this.points = 4 * Math.floor((countProducts(kernel) * countPoints(kernel)) / 4 + 1);
    const { points } = this;
    const lengths = listLengths({ groups: list.length, points, rows, outputs, mixtures });
    const bytes = Object.values(lengths).reduce((sum, length) => sum + alignedBytes(length * 8), 0);
    const scratch = openOwnMemory(bytes + alignedBytes(mixtures * 4));
    const entries = Object.entries(lengths).map(([name, length]) => [name, scratch.numbers(length)]);
    this.kernels = scratch.kernels;
    this.arrays = Object.fromEntries(entries) as Products['arrays'];
    this.flips = scratch.wholes(mixtures);
    this.arrays.ones.fill(1);
    this.weights = new Float64Array(outputs * points);
    this.starts = new Float64Array(rows * points).fill(1);
    this.startSums = new Float64Array(points);
    const { columns, numbers = [] } = background;
    this.writeFactors(kernel, positions(kernel, { columns, numbers }, indices(rows)), this.arrays.others);
    this.starts.forEach((_, i) => {
      const from = Math.floor(i / points) * list.length * points;
      list.forEach((_, g) => (this.starts[i] *= this.arrays.others[from + this.at(i % points, g)]));
    });
    this.starts.forEach((start, i) => (this.startSums[i % points] += start));
  }

  /** Where a point's factor of a group is. */
  at(point: number, g: number): number {
    return (point - (point % 4)) * this.list.length + 4 * g + (point % 4);
  }

  /** Takes the foreground row and the weights of a process with this kernel. */
  take({ gaussian: { kernel, weights }, base }: EnsembleProcess, { bins, numbers }: ForegroundRow): void {
    const { points, outputs, arrays } = this;
    const row = {
      columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
      numbers: Array.from(numbers, (value) => Float64Array.of(value)),
    };
    this.writeFactors(kernel, positions(kernel, row, Int32Array.of(0)), arrays.own);
    const count = countPoints(kernel);
    const share = kernel.additive?.share ?? 0;
    for (let k = 0; k < outputs; k++) {
      const own = this.weights.subarray(k * points, (k + 1) * points);
      for (let point = 0; point < countProducts(kernel) * count; point++) {
        own[point] = (point < count ? 1 - share : share) * weights[k * count + (point % count)];
      }
      own[countProducts(kernel) * count] = base[k];
    }
    if (this.mixtures === 0) {
      return;
    }
    const { own, others, ratios, starts } = arrays;
    this.kernels.findRatios(
      ...([own.byteOffset, own.byteLength, others.byteOffset, 32 * this.list.length] as const),
      ...([ratios.byteOffset, ratios.byteOffset + ratios.byteLength] as const),
    );
    for (let row = 0, to = 0; row < this.background.rows; row++) {
      for (let i = 0; i < this.weights.length; i++, to++) {
        starts[to] = this.weights[i] * this.starts[row * points + (i % points)];
      }
    }
  }

  /**
   * Writes the factors between the kernel's points and some positions: positions × fours × groups × four points. A mixture of
   * two products is that of twice as many points.
   */
  private writeFactors(
    { kinds, rates, additive, points }: Kernel,
    at: Float64Array,
    out: Float64Array,
  ): void {
    const { groupAt, list } = this;
    const width = rates.length;
    const size = list.length * this.points;
    out.fill(1);
    for (let from = 0, start = 0; start < out.length; from += width, start += size) {
      let place = 0;
      for (const { rates: own, weights } of [
        { rates, weights: undefined },
        ...(additive ? [additive] : []),
      ]) {
        for (let point = 0; point < points.length; point += width, place++) {
          for (let d = 0; d < width; d++) {
            const factor = matern(own[d] * distance(kinds[d], at[from + d], points[point + d]));
            const weight = weights?.[d] ?? 1;
            out[start + this.at(place, groupAt[d])] *= Math.max(MIN_FACTOR, 1 - weight + weight * factor);
          }
        }
      }
    }
  }
}

/** Products that the kernel is a mixture of. */
const countProducts = ({ additive }: Kernel): number => (additive === undefined ? 1 : 2);

function listLengths({
  groups,
  points,
  rows,
  outputs,
  mixtures,
}: Record<'groups' | 'points' | 'rows' | 'outputs' | 'mixtures', number>) {
  const isScored = mixtures > 0 ? 1 : 0;
  return {
    /** Factors of the foreground row, and of the background rows: fours × groups × four points. */
    own: groups * points,
    others: rows * groups * points,
    /** By how much a kernel changes when a group flips: rows × groups × points. */
    ratios: isScored * rows * groups * points,
    ones: points,
    /** The kernel at the background rows times the weights: rows × outputs × points; and that of the mixture in hand. */
    starts: isScored * rows * outputs * points,
    kernel: outputs * points,
    scores: outputs,
    /** Nodes of the quadrature, each with its weight, in pairs; products of the factors before a group; sums as the factors. */
    nodes: groups + 4,
    before: 8 * groups,
    gains: groups * points,
    /** Mixtures × outputs. */
    changes: mixtures * outputs,
  };
}

const known = new WeakMap<Kernel, Products>();

/** What is of the background alone is cached, since it is the same for every row explained. */
export function openProducts(process: EnsembleProcess, foreground: ForegroundRow, mixtures = 0): Products {
  const { kernel } = process.gaussian;
  const { background, groupOf } = foreground;
  const outputs = process.base.length;
  const list = [...new Set(Array.from(kernel.columns, (column) => groupOf[column]))];
  const groupAt = Int32Array.from(kernel.columns, (column) => list.indexOf(groupOf[column]));
  let products = known.get(kernel);
  const isFit =
    products?.background === background &&
    products.outputs === outputs &&
    products.mixtures >= mixtures &&
    products.list.join() === list.join() &&
    products.groupAt.every((place, d) => place === groupAt[d]);
  if (products === undefined || !isFit) {
    products = new Products(kernel, background, list, groupAt, outputs, mixtures);
    known.set(kernel, products);
  }
  products.take(process, foreground);
  return products;
}
