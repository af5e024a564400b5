import type { Kernels } from '../kernels/bytes';
import { EXPONENTIAL_NUMBERS, openScratch, type Scratch, writeExponentialTable } from '../kernels/scratch';
import { descendByNewton } from '../math/newton';
import { sigmoid } from '../math/numeric';
import { factorisePenalised } from './dense';
import type { SparseDesign } from './design';

/** The Gram matrix of a design with a penalty, factorised for one penalty after the other. Must be closed. */
export class PenalisedGram {
  private readonly scratch: Scratch;
  private readonly matrix: Float64Array;

  /** @param products size × size */
  constructor(
    private readonly products: Float64Array,
    private readonly size: number,
  ) {
    this.scratch = openScratch();
    this.matrix = this.scratch.numbers(products.length);
  }

  close(): void {
    this.scratch.close();
  }

  /** The Cholesky factor of `by` times the matrix plus the penalty on every term but the first; valid until the next call. */
  factor(by: number, penalty: number): Float64Array {
    const { products, size, matrix, scratch } = this;
    factorisePenalised(products, { size, by, penalty }, matrix, scratch.kernels);
    return matrix;
  }
}

/** What a logistic regression is fitted to. */
interface LogisticInput extends SparseSlopesInput {
  gram: PenalisedGram;
}

/**
 * The fit ends when no weight moves by more than this: terms are standardised, and held-out rows choose the penalty.
 */
const TOLERANCE = 1e-3;

/**
 * Penalised logistic regression. Updates `weights` (outputs × size) in place, as a warm start.
 *
 * @param slopes of `input`: opened once for all penalties
 * @param steps at most
 */
export function logistic(
  slopes: SparseSlopes,
  input: LogisticInput,
  { penalty, steps }: { penalty: number; steps: number },
  weights: Float64Array,
): void {
  const { size, width, gram } = input;
  const factor = gram.factor(width === 1 ? 0.25 : 0.5, penalty);
  const slope = new Float64Array(size * width);
  const gradient = (at: Float64Array) => penalisedGradient(slopes, input, { penalty, weights: at }, slope);
  descendByNewton({ factor, size, gradient }, weights, { steps, tolerance: TOLERANCE });
}

/** The gradient of the penalised log-loss: outputs × size. Returns `out`. */
function penalisedGradient(
  slopes: SparseSlopes,
  { design: { common }, size, width }: LogisticInput,
  { penalty, weights }: { penalty: number; weights: Float64Array },
  out: Float64Array,
): Float64Array {
  const everywhere = new Float64Array(width);
  for (let k = 0, at = 0; k < width; k++) {
    for (let t = 0; t < size; t++, at++) {
      everywhere[k] += common[t] * weights[at];
      out[at] = t === 0 ? 0 : penalty * weights[at];
    }
  }
  const errors = slopes.addRows(everywhere, weights, out);
  for (let k = 0, at = 0; k < width; k++) {
    for (let t = 0; t < size; t++, at++) {
      out[at] += common[t] * errors[k];
    }
  }
  return out;
}

interface SparseSlopesInput {
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
    const scratch = width > 1 ? openScratch() : undefined;
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
   * @param weights outputs × size, as `out`
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
        this.weights[t * padded + k] = weights[k * size + t];
        this.out[t * padded + k] = out[k * size + t];
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
        out[k * size + t] = this.out[t * padded + k];
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
