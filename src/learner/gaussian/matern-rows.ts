import {
  DIMENSION_BYTES,
  DIMENSION_IS_CATEGORY,
  DIMENSION_POSITION,
  DIMENSION_RATE,
  POSITIONS_TOGETHER,
} from '../kernels/layout';
import {
  alignedBytes,
  EXPONENTIAL_NUMBERS,
  openScratch,
  type Scratch,
  writeExponentialTable,
} from '../kernels/scratch';
import { type Kernel, KIND } from './kernel';

/** The kernel between one position and each of a list. Must be closed. */
export class MaternRows {
  private readonly scratch: Scratch;
  /** Dimensions × `padded`. */
  private readonly byDimension: Float64Array;
  private readonly padded: number;
  private readonly table: Float64Array;
  /** Of each dimension: see `DIMENSION_POSITION`. */
  private readonly records: Float64Array;
  private readonly found: Float64Array;
  private readonly shares: Float64Array;
  private readonly slopesFound: Float64Array;

  /** @param others the positions: count × dimensions */
  constructor({ kinds }: Pick<Kernel, 'kinds'>, others: ArrayLike<number>) {
    const dimensions = kinds.length;
    const count = dimensions > 0 ? others.length / dimensions : 0;
    const padded = Math.ceil(count / POSITIONS_TOGETHER) * POSITIONS_TOGETHER;
    this.padded = padded;
    this.scratch = openScratch(
      (dimensions + 2) * padded * 8 +
        alignedBytes(EXPONENTIAL_NUMBERS * 8) +
        alignedBytes(dimensions * DIMENSION_BYTES) +
        alignedBytes(dimensions * 8),
    );
    const { scratch } = this;
    this.byDimension = scratch.numbers(dimensions * padded);
    this.table = scratch.numbers(EXPONENTIAL_NUMBERS);
    this.records = scratch.numbers((dimensions * DIMENSION_BYTES) / 8);
    this.found = scratch.numbers(padded).subarray(0, count);
    this.shares = scratch.numbers(padded);
    this.slopesFound = scratch.numbers(dimensions);
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
      this.records[(d * DIMENSION_BYTES + DIMENSION_IS_CATEGORY) / 8] = kind === KIND.category ? 1 : 0;
    });
  }

  close(): void {
    this.scratch.close();
  }

  /**
   * The kernel between one position and each of the list; valid until the next call.
   *
   * @param rates √5 over the length scale of each dimension
   */
  row(rates: Float64Array, position: Float64Array): Float64Array {
    const { scratch, byDimension, padded, records, found } = this;
    rates.forEach((rate, d) => {
      const at = d * DIMENSION_BYTES;
      records[(at + DIMENSION_RATE) / 8] = rate;
      records[(at + DIMENSION_POSITION) / 8] = position[d];
    });
    scratch.kernels.maternRow(
      records.byteOffset,
      records.byteOffset + records.byteLength,
      byDimension.byteOffset,
      padded * 8,
      this.table.byteOffset,
      found.byteOffset,
    );
    return found;
  }

  /**
   * The derivative of the sum of factor × kernel with the origin, by the logarithm of each rate; valid until the next
   * call. All dimensions must be of kind `number`, and all positions at least 0.
   *
   * @param shares per position, its factor times its kernel
   */
  slopes(rates: Float64Array, shares: Float64Array): Float64Array {
    const { scratch, byDimension, padded, records, shares: own, slopesFound: slopes } = this;
    own.set(shares);
    rates.forEach((rate, d) => (records[(d * DIMENSION_BYTES + DIMENSION_RATE) / 8] = rate));
    scratch.kernels.maternSlopes(
      records.byteOffset,
      records.byteOffset + records.byteLength,
      byDimension.byteOffset,
      padded * 8,
      own.byteOffset,
      own.byteOffset + padded * 8,
      slopes.byteOffset,
    );
    return slopes;
  }
}
