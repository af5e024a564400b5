import { EXPONENTIAL_NUMBERS, writeExponentialTable } from '../kernels/exponential';
import type { Kernels } from '../kernels/functions';
import { alignedBytes, openScratch, type Scratch } from '../kernels/scratch';
import { sigmoid } from '../math/numeric';
import type { SparseDesign } from './design';

export interface SparseSlopesInput {
  design: SparseDesign;
  /** Terms, with the intercept. */
  size: number;
  /** Outputs: 1 for two classes, else one per class. */
  width: number;
  /** The class of each row of the design. */
  codes: Int32Array;
}

/** The loops over rows of a logistic regression on a sparse design; of several outputs in a kernel. Must be closed. */
export class SparseSlopes {
  /** Undefined for one output. */
  private readonly scratch: Scratch | undefined;
  /** Classes, rounded up to an even number. */
  private readonly padded: number;
  private readonly starts: Int32Array;
  private readonly terms: Int32Array;
  private readonly by: Float64Array;
  private readonly codes: Int32Array;
  private readonly everywhere: Float64Array;
  private readonly weights: Float64Array;
  private readonly out: Float64Array;
  private readonly errors: Float64Array;
  private readonly scores: Float64Array;
  private readonly table: Float64Array;

  constructor(private readonly input: SparseSlopesInput) {
    const { design, size, width, codes } = input;
    const { starts, terms, by } = design;
    this.padded = 2 * Math.ceil(width / 2);
    const { padded } = this;
    const bytes =
      alignedBytes(starts.length * 4) +
      alignedBytes(terms.length * 4) +
      alignedBytes(by.length * 8) +
      alignedBytes(codes.length * 4) +
      (2 * size + 3) * padded * 8 +
      alignedBytes(EXPONENTIAL_NUMBERS * 8);
    const scratch = width > 1 ? openScratch(bytes) : undefined;
    this.scratch = scratch;
    if (scratch === undefined) {
      this.starts = starts;
      this.terms = terms;
      this.by = by;
      this.codes = codes;
      this.everywhere = this.weights = this.out = this.scores = this.table = new Float64Array(0);
      this.errors = new Float64Array(width);
      return;
    }
    this.starts = scratch.wholes(starts.length);
    this.starts.set(starts);
    this.terms = scratch.wholes(terms.length);
    terms.forEach((term, entry) => (this.terms[entry] = term * padded * 8));
    this.by = scratch.numbers(by.length);
    this.by.set(by);
    this.codes = scratch.wholes(codes.length);
    this.codes.set(codes);
    this.everywhere = scratch.numbers(padded);
    this.everywhere.fill(-Infinity);
    this.weights = scratch.numbers(size * padded);
    this.weights.fill(0);
    this.out = scratch.numbers(size * padded);
    this.errors = scratch.numbers(padded);
    this.scores = scratch.numbers(padded);
    this.table = scratch.numbers(EXPONENTIAL_NUMBERS);
    writeExponentialTable(this.table);
  }

  close(): void {
    this.scratch?.close();
  }

  /**
   * Adds the log-loss gradient of all rows to `out`, except for what the common values add to it.
   *
   * @param everywhere per output, what the common values score
   * @param weights size × width
   * @param out size × width
   * @returns per output, the sum of the errors; valid until the next call
   */
  addRows(everywhere: Float64Array, weights: Float64Array, out: Float64Array): Float64Array {
    const { scratch, errors } = this;
    errors.fill(0);
    if (scratch) {
      this.addClasses(scratch.kernels, everywhere, weights, out);
    } else {
      this.addTwoClasses(everywhere[0], weights, out);
    }
    return errors;
  }

  private addClasses(
    kernels: Kernels,
    everywhere: Float64Array,
    weights: Float64Array,
    out: Float64Array,
  ): void {
    const { padded, starts } = this;
    const { size, width } = this.input;
    this.everywhere.set(everywhere);
    for (let t = 0; t < size; t++) {
      for (let k = 0; k < width; k++) {
        this.weights[t * padded + k] = weights[t * width + k];
        this.out[t * padded + k] = out[t * width + k];
      }
    }
    kernels.addSparseRows(
      starts.byteOffset + 4,
      starts.byteOffset + starts.byteLength,
      this.terms.byteOffset,
      this.by.byteOffset,
      this.codes.byteOffset,
      padded * 8,
      this.everywhere.byteOffset,
      this.weights.byteOffset,
      this.out.byteOffset,
      this.errors.byteOffset,
      this.scores.byteOffset,
      this.table.byteOffset,
    );
    for (let t = 0; t < size; t++) {
      for (let k = 0; k < width; k++) {
        out[t * width + k] = this.out[t * padded + k];
      }
    }
  }

  private addTwoClasses(everywhere: number, weights: Float64Array, out: Float64Array): void {
    const { starts, terms, by, codes, errors } = this;
    for (let i = 0; i < codes.length; i++) {
      const end = starts[i + 1];
      let score = everywhere;
      for (let e = starts[i]; e < end; e++) {
        score += by[e] * weights[terms[e]];
      }
      const error = sigmoid(score) - codes[i];
      errors[0] += error;
      for (let e = starts[i]; e < end; e++) {
        out[terms[e]] += by[e] * error;
      }
    }
  }
}
