import { assemble } from '../../wasm/assemble';
import { ModuleMemories } from '../../wasm/module-memory';
import { addHalves, type ProductHalves } from './halves-kernel';
import { addShares, type ProductShares } from './shares-kernel';
import { divide, follow, type ProductSteps } from './steps-kernel';

/** How many of what there are of a kernel that is a product over groups. */
export interface ProductSize {
  groups: number;
  points: number;
  /** Of the background. */
  rows: number;
  outputs: number;
  /** Along the orders of a member; 0: none are followed. */
  mixtures: number;
}

type ProductKernel = ProductShares & ProductSteps & ProductHalves;

const memories = new ModuleMemories<ProductKernel>([
  () => assemble({ addShares: addShares(), divide: divide(), follow: follow(), addHalves: addHalves() }),
]);

/** Above, numbers are in ordinary arrays. */
const MOST_BYTES = 64_000_000;
/** Differing groups whose coalitions find room. */
export const MOST_HALVED = 10;
const MOST_OF_HALF = 1 << (MOST_HALVED / 2);

/** The numbers of one kernel: of the row explained, of the background's rows, and what is made of them. */
export class ProductRoom {
  /** Undefined where the engine has no such WebAssembly: then the same is done in JavaScript. */
  readonly functions: ProductKernel | undefined;
  /** The row's factors, points × groups, and the same by group. */
  readonly own: Float64Array;
  readonly ownByGroup: Float64Array;
  /** Those of the background: points × rows × groups, and rows × groups × points. */
  readonly others: Float64Array;
  readonly othersByGroup: Float64Array;
  /** rows × points: the kernel at the background's rows. */
  readonly starts: Float64Array;
  /** rows × groups × points: what the kernel is multiplied by where the group becomes the row's. */
  readonly ratios: Float64Array;
  /** outputs × points; those of all outputs for four points at a time; and what is added to each output. */
  readonly weights: Float64Array;
  readonly weightsByFours: Float64Array;
  readonly base: Float64Array;
  /** outputs × groups, and outputs. */
  readonly effects: Float64Array;
  readonly bases: Float64Array;
  /** Of a quadrature, four nodes and their four weights at a time. */
  readonly quadrature: Float64Array;
  /** Per mixture how far the ratios of the group that passes are from those of the first one, in bytes; -1: none does. */
  readonly places: Int32Array;
  /** mixtures × outputs. */
  readonly changes: Float64Array;
  /** Groups as bytes of their factors: those in which both are alike, and the halves of the others. */
  readonly lists: Int32Array;
  /** outputs × coalitions. */
  readonly sums: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** For the functions alone. */
  readonly scratch: Float64Array;

  constructor(readonly size: ProductSize) {
    const { groups, points, rows, outputs, mixtures } = size;
    const isOrdered = mixtures > 0 ? 1 : 0;
    const numbers = {
      own: points * groups,
      ownByGroup: points * groups,
      others: points * rows * groups,
      othersByGroup: isOrdered * points * rows * groups,
      starts: isOrdered * points * rows,
      ratios: isOrdered * points * rows * groups,
      weights: outputs * points,
      weightsByFours: isOrdered * outputs * points,
      base: outputs,
      effects: outputs * groups,
      bases: outputs,
      quadrature: 8 * Math.ceil(groups / 8 + 1),
      changes: mixtures * outputs,
      sums: outputs << MOST_HALVED,
      low: MOST_OF_HALF,
      high: MOST_OF_HALF,
      scratch: 6 * groups + points + outputs,
    };
    const bytes = 8 * Object.values(numbers).reduce((sum, count) => sum + count, 0) + 4 * (mixtures + groups);
    const opened = bytes <= MOST_BYTES ? memories.open(bytes) : undefined;
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
