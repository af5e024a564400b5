import { sigmoid, softmax } from '../math/numeric';
import { EXPONENTIAL_NUMBERS, writeExponentialTable } from '../wasm/exponential';
import { alignedBytes, ORDINARY, type Scratch } from '../wasm/scratch';
import type { SparseDesign } from './design';
import { type SparseSlopeKernel, sparseSlopeScratch } from './sparse-slope-kernel';

export interface SparseSlopesInput {
  design: SparseDesign;
  /** Terms, with the intercept. */
  size: number;
  /** Outputs: 1 for two classes, else one per class. */
  width: number;
  /** The class of each row of the design. */
  codes: Int32Array;
}

/**
 * The loops over rows of a logistic regression on a sparse design. With more than two classes it uses WebAssembly where
 * there is memory for it, to the same bits. Must be closed.
 */
export class SparseSlopes {
  private readonly scratch: Scratch<SparseSlopeKernel>;
  private readonly kernel: SparseSlopeKernel | undefined;
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
    this.scratch = width > 1 ? sparseSlopeScratch.open(bytes) : ORDINARY;
    const { scratch } = this;
    this.kernel = scratch.functions;
    if (this.kernel === undefined) {
      this.starts = starts;
      this.terms = terms;
      this.by = by;
      this.codes = codes;
      this.everywhere = this.weights = this.out = this.table = new Float64Array(0);
      this.errors = new Float64Array(width);
      this.scores = new Float64Array(width);
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
    this.scratch.close();
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
    const { kernel, errors } = this;
    errors.fill(0);
    if (kernel) {
      this.addInKernel(kernel, everywhere, weights, out);
    } else if (this.input.width === 1) {
      this.addTwoClasses(everywhere[0], weights, out);
    } else {
      this.addClasses(everywhere, weights, out);
    }
    return errors;
  }

  private addInKernel(
    kernel: SparseSlopeKernel,
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
    kernel.addRows(
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

  private addClasses(everywhere: Float64Array, weights: Float64Array, out: Float64Array): void {
    const { codes, errors, scores } = this;
    const { width } = this.input;
    for (let i = 0; i < codes.length; i++) {
      this.score(i, everywhere, weights);
      softmax(scores, 0, width, scores, 0);
      scores[codes[i]] -= 1;
      for (let k = 0; k < width; k++) {
        errors[k] += scores[k];
      }
      this.spread(i, out);
    }
  }

  /** The scores of a row, three at a time: a sum kept in memory would wait for the previous store. */
  private score(row: number, everywhere: Float64Array, weights: Float64Array): void {
    const { starts, terms, by, scores: out } = this;
    const { width } = this.input;
    const end = starts[row + 1];
    let k = 0;
    for (; k + 2 < width; k += 3) {
      let first = everywhere[k];
      let second = everywhere[k + 1];
      let third = everywhere[k + 2];
      for (let e = starts[row]; e < end; e++) {
        const at = terms[e] * width + k;
        const value = by[e];
        first += value * weights[at];
        second += value * weights[at + 1];
        third += value * weights[at + 2];
      }
      out[k] = first;
      out[k + 1] = second;
      out[k + 2] = third;
    }
    for (; k < width; k++) {
      let sum = everywhere[k];
      for (let e = starts[row]; e < end; e++) {
        sum += by[e] * weights[terms[e] * width + k];
      }
      out[k] = sum;
    }
  }

  /** Adds the errors of a row, which `scores` holds, to the gradient. */
  private spread(row: number, out: Float64Array): void {
    const { starts, terms, by, scores: errors } = this;
    const { width } = this.input;
    const end = starts[row + 1];
    let k = 0;
    for (; k + 2 < width; k += 3) {
      const first = errors[k];
      const second = errors[k + 1];
      const third = errors[k + 2];
      for (let e = starts[row]; e < end; e++) {
        const at = terms[e] * width + k;
        const value = by[e];
        out[at] += value * first;
        out[at + 1] += value * second;
        out[at + 2] += value * third;
      }
    }
    for (; k < width; k++) {
      const error = errors[k];
      for (let e = starts[row]; e < end; e++) {
        out[terms[e] * width + k] += by[e] * error;
      }
    }
  }
}
