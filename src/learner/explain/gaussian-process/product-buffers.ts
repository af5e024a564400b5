import type { Kernels } from '../../kernels/functions';
import { alignedBytes, openOwnMemory } from '../../kernels/scratch';

/** Dimensions of a product kernel's buffers. */
export interface ProductSize {
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
