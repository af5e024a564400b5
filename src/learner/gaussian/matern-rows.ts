import { Dimension, POSITIONS_TOGETHER } from '../kernels/layout';
import { EXPONENTIAL_NUMBERS, openScratch, type Scratch, writeExponentialTable } from '../kernels/scratch';
import { type Additive, type Kernel, type KernelShape, KIND } from './kernel';

/** The kernel between one position and each of a list. Must be closed. */
export class MaternRows {
  private readonly scratch: Scratch;
  /** Dimensions × `padded`. */
  private readonly byDimension: Float64Array;
  private readonly padded: number;
  private readonly table: Float64Array;
  /** Of each dimension: see `Dimension.POSITION`. */
  private readonly records: Float64Array;
  private readonly found: Float64Array;
  private readonly foundAdditive: Float64Array;
  private readonly shares: Float64Array;
  private readonly slopesFound: Float64Array;

  /** @param others the positions: count × dimensions */
  constructor({ kinds }: Pick<Kernel, 'kinds'>, others: ArrayLike<number>) {
    const dimensions = kinds.length;
    const count = dimensions > 0 ? others.length / dimensions : 0;
    const padded = Math.ceil(count / POSITIONS_TOGETHER) * POSITIONS_TOGETHER;
    this.padded = padded;
    this.scratch = openScratch();
    const { scratch } = this;
    this.byDimension = scratch.numbers(dimensions * padded);
    this.table = scratch.numbers(EXPONENTIAL_NUMBERS);
    this.records = scratch.numbers((dimensions * Dimension.BYTES) / 8);
    this.found = scratch.numbers(padded).subarray(0, count);
    this.foundAdditive = scratch.numbers(padded).subarray(0, count);
    this.shares = scratch.numbers(padded);
    this.slopesFound = scratch.numbers(2 * dimensions);
    writeExponentialTable(this.table);
    for (let d = 0; d < dimensions; d++) {
      const own = this.byDimension.subarray(d * padded, (d + 1) * padded);
      for (let i = 0; i < count; i++) {
        own[i] = others[i * dimensions + d];
      }
      own.fill(0, count);
    }
    // Whatever the memory held before, nothing is added for the padding.
    this.shares.fill(0);
    kinds.forEach((kind, d) => {
      this.records[(d * Dimension.BYTES + Dimension.IS_CATEGORY) / 8] = kind === KIND.category ? 1 : 0;
    });
  }

  close(): void {
    this.scratch.close();
  }

  /** The kernel between one position and each of the list; valid until the next call. */
  row({ rates, additive }: KernelShape, position: Float64Array): Float64Array {
    const plain = this.plainRow(rates, position);
    if (additive !== undefined) {
      const { share } = additive;
      const own = this.additiveRow(additive, position);
      for (let i = 0; i < plain.length; i++) {
        plain[i] = (1 - share) * plain[i] + share * own[i];
      }
    }
    return plain;
  }

  /**
   * The plain product alone; valid until the next call.
   *
   * @param rates √5 over the length scale of each dimension
   */
  plainRow(rates: Float64Array, position: Float64Array): Float64Array {
    const { scratch, found } = this;
    this.write({ rates }, position);
    scratch.kernels.maternRow(...this.dimensionsAndOthers(), this.table.byteOffset, found.byteOffset);
    return found;
  }

  /** The additive kernel alone; valid until the next call. */
  additiveRow(additive: Pick<Additive, 'rates' | 'weights'>, position: Float64Array): Float64Array {
    const { scratch, foundAdditive: found } = this;
    this.write(additive, position);
    scratch.kernels.additiveRow(...this.dimensionsAndOthers(), this.table.byteOffset, found.byteOffset);
    return found;
  }

  /**
   * The derivative of the sum of factor × plain product with the origin, by the logarithm of each rate; valid until the next
   * call. All dimensions must be of kind `number`, and all positions at least 0.
   *
   * @param shares per position, its factor times its kernel
   */
  slopes(rates: Float64Array, shares: Float64Array): Float64Array {
    const { scratch, slopesFound: slopes } = this;
    this.write({ rates });
    scratch.kernels.maternSlopes(...this.dimensionsAndOthers(), ...this.written(shares), slopes.byteOffset);
    return slopes.subarray(0, rates.length);
  }

  /** The same of the additive kernel: two numbers per dimension, by the logarithm of its rate and by that of the odds of its weight. */
  additiveSlopes(additive: Pick<Additive, 'rates' | 'weights'>, shares: Float64Array): Float64Array {
    const { scratch, slopesFound: slopes } = this;
    this.write(additive);
    scratch.kernels.additiveSlopes(
      ...this.dimensionsAndOthers(),
      this.table.byteOffset,
      ...this.written(shares),
      slopes.byteOffset,
    );
    return slopes;
  }

  private write({ rates, weights }: Partial<Additive>, position?: Float64Array): void {
    const { records } = this;
    rates!.forEach((rate, d) => {
      const at = d * Dimension.BYTES;
      records[(at + Dimension.RATE) / 8] = rate;
      records[(at + Dimension.POSITION) / 8] = position?.[d] ?? 0;
      records[(at + Dimension.WEIGHT) / 8] = weights?.[d] ?? 1;
    });
  }

  private dimensionsAndOthers() {
    const { byteOffset, byteLength } = this.records;
    return [byteOffset, byteOffset + byteLength, this.byDimension.byteOffset, this.padded * 8] as const;
  }

  private written(shares: Float64Array) {
    this.shares.set(shares);
    return [this.shares.byteOffset, this.shares.byteOffset + this.padded * 8] as const;
  }
}
