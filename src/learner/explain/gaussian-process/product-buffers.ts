import { assemble } from '../../wasm/assemble';
import { ModuleMemories } from '../../wasm/module-memory';
import { addCoalitions, type CoalitionsKernel } from './coalitions-kernel';
import { addPointEffects, type EffectsKernel } from './effects-kernel';
import { divide, follow, type PermutationsKernel } from './permutations-kernel';

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

type ProductKernel = EffectsKernel & PermutationsKernel & CoalitionsKernel;

const memories = new ModuleMemories<ProductKernel>([
  () =>
    assemble({
      addPointEffects: addPointEffects(),
      divide: divide(),
      follow: follow(),
      addCoalitions: addCoalitions(),
    }),
]);

/** Larger buffers are ordinary arrays. */
const MAX_BYTES = 64_000_000;
/** Most differing groups whose coalitions fit in the buffers. */
export const MAX_HALVED = 10;
const MAX_HALF = 1 << (MAX_HALVED / 2);

/**
 * All numbers of one kernel: factors of the foreground row and of the background, and everything computed from them.
 */
export class ProductBuffers {
  /** Undefined without WebAssembly SIMD: then the loops run in JavaScript. */
  readonly functions: ProductKernel | undefined;
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
  /** For the WebAssembly functions only. */
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
    const bytes = 8 * Object.values(numbers).reduce((sum, count) => sum + count, 0) + 4 * (mixtures + groups);
    const opened = bytes <= MAX_BYTES ? memories.open(bytes) : undefined;
    const buffer = opened?.buffer ?? new ArrayBuffer(bytes);
    this.functions = opened?.functions;
    let next = 0;
    const place = (count: number) => {
      const list = new Float64Array(buffer, next, count);
      next += 8 * count;
      return list;
    };
    this.own = place(numbers.own);
    this.ownByGroup = place(numbers.ownByGroup);
    this.others = place(numbers.others);
    this.othersByGroup = place(numbers.othersByGroup);
    this.starts = place(numbers.starts);
    this.ratios = place(numbers.ratios);
    this.weights = place(numbers.weights);
    this.weightsByFours = place(numbers.weightsByFours);
    this.base = place(numbers.base);
    this.effects = place(numbers.effects);
    this.bases = place(numbers.bases);
    this.quadrature = place(numbers.quadrature);
    this.changes = place(numbers.changes);
    this.sums = place(numbers.sums);
    this.low = place(numbers.low);
    this.high = place(numbers.high);
    this.scratch = place(numbers.scratch);
    this.places = new Int32Array(buffer, next, mixtures);
    this.lists = new Int32Array(buffer, next + 4 * mixtures, groups);
  }
}
