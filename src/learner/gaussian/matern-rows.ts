import { EXPONENTIAL_NUMBERS, writeExponentialTable } from '../wasm/exponential';
import { alignedBytes, type Scratch } from '../wasm/scratch';
import { type Kernel, kernelRow, KIND } from './kernel';
import { type MaternKernel, maternScratch, RECORD, TOGETHER } from './matern-kernel';

/** The kernel between one position and each of a list, with or without WebAssembly. Must be closed. */
export class MaternRows {
  private readonly scratch: Scratch<MaternKernel>;
  private readonly kernel: MaternKernel | undefined;
  /** count × dimensions, where there is no kernel. */
  private readonly others: Float64Array;
  /** Dimensions × `padded`, for the kernel. */
  private readonly byDimension: Float64Array;
  private readonly padded: number;
  private readonly table: Float64Array;
  /** What the kernel reads of each dimension: see `RECORD`. */
  private readonly records: Float64Array;
  private readonly found: Float64Array;
  private readonly shares: Float64Array;
  private readonly slopesFound: Float64Array;

  /** @param others the positions: count × dimensions */
  constructor(
    private readonly space: Pick<Kernel, 'kinds'>,
    others: ArrayLike<number>,
  ) {
    const { kinds } = space;
    const dimensions = kinds.length;
    const count = dimensions > 0 ? others.length / dimensions : 0;
    const padded = Math.ceil(count / TOGETHER) * TOGETHER;
    this.padded = padded;
    this.scratch = maternScratch.open(
      (dimensions + 2) * padded * 8 +
        alignedBytes(EXPONENTIAL_NUMBERS * 8) +
        alignedBytes(dimensions * RECORD.bytes) +
        alignedBytes(dimensions * 8),
    );
    const { scratch } = this;
    this.kernel = scratch.functions;
    this.byDimension = scratch.numbers(this.kernel ? dimensions * padded : 0);
    this.table = scratch.numbers(this.kernel ? EXPONENTIAL_NUMBERS : 0);
    this.records = scratch.numbers((dimensions * RECORD.bytes) / 8);
    this.found = scratch.numbers(padded).subarray(0, count);
    this.shares = scratch.numbers(padded);
    this.slopesFound = scratch.numbers(dimensions);
    if (this.kernel === undefined) {
      this.others = Float64Array.from(others);
      return;
    }
    this.others = new Float64Array(0);
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
      this.records[(d * RECORD.bytes + RECORD.isCategory) / 8] = kind === KIND.category ? 1 : 0;
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
    const { kernel, byDimension, padded, records, found } = this;
    if (kernel === undefined) {
      kernelRow(this.space, rates, position, this.others, found.length, found);
      return found;
    }
    rates.forEach((rate, d) => {
      const at = (d * RECORD.bytes) / 8;
      records[at + RECORD.rate / 8] = rate;
      records[at + RECORD.position / 8] = position[d];
    });
    kernel.row(
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
    const { kernel, others, byDimension, padded, records, shares: own } = this;
    const dimensions = rates.length;
    const slopes = this.slopesFound;
    if (kernel === undefined) {
      slopes.fill(0);
      for (let i = 0, at = 0; i < shares.length; i++) {
        const share = shares[i];
        for (let d = 0; d < dimensions; d++, at++) {
          const s = rates[d] * others[at];
          slopes[d] -= (share * s * s * (1 + s)) / (3 + 3 * s + s * s);
        }
      }
      return slopes;
    }
    own.set(shares);
    rates.forEach((rate, d) => (records[(d * RECORD.bytes + RECORD.rate) / 8] = rate));
    kernel.slopes(
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
