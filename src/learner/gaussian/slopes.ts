import type { Kernels } from '../kernels/bytes';
import { ROWS_TOGETHER } from '../kernels/layout';
import { openScratch, type Scratch } from '../kernels/scratch';

interface Size {
  rows: number;
  /** Features per row. */
  size: number;
  outputs: number;
}

/**
 * Features of rows, with the two loops in which a logistic regression spends its time: the scores of rows, and the
 * gradient for their errors. Must be closed.
 */
export class Slopes {
  /** Rows × size. */
  readonly features: Float64Array;
  /** Outputs × size: the weights to score by. */
  readonly weights: Float64Array;
  /** Outputs × size: the gradient. */
  readonly slope: Float64Array;
  /** Rows × outputs, in the order of the rows scored: their scores, then their errors. Rows are padded to fours. */
  readonly errors: Float64Array;
  /** Size × size: a factor that a fit works with. */
  readonly factor: Float64Array;
  readonly size: number;
  readonly outputs: number;
  readonly scratch: Scratch;
  private readonly rows: Int32Array;

  constructor({ rows, size, outputs }: Size) {
    const padded = inFours(rows);
    this.scratch = openScratch();
    const { scratch } = this;
    this.size = size;
    this.outputs = outputs;
    this.features = scratch.numbers(rows * size);
    this.weights = scratch.numbers(outputs * size);
    this.slope = scratch.numbers(outputs * size);
    this.errors = scratch.numbers(padded * outputs);
    this.rows = scratch.wholes(padded);
    this.factor = scratch.numbers(size * size);
  }

  close(): void {
    this.scratch.close();
  }

  /** Writes the scores of rows to `errors`. */
  score(rows: Int32Array): void {
    this.run(rows, this.scratch.kernels.dotFour, this.size & ~3, this.weights);
  }

  /** Adds the features of rows, times `errors`, to the gradient. */
  addErrors(rows: Int32Array): void {
    // Rows that fill up the last four add nothing.
    this.errors.fill(0, rows.length * this.outputs);
    this.run(rows, this.scratch.kernels.addRowsFour, this.size & ~1, this.slope);
  }

  /** Runs a loop for each output, over rows in fours: the first of the table fills up the last of these. */
  private run(rows: Int32Array, loop: Kernels['dotFour'], even: number, numbers: Float64Array): void {
    const { features, errors, size, outputs } = this;
    this.rows.set(rows);
    this.rows.fill(0, rows.length);
    const first = this.rows.byteOffset;
    const end = first + inFours(rows.length) * 4;
    for (let k = 0; k < outputs; k++) {
      const to = numbers.byteOffset + k * size * 8;
      loop(first, end, features.byteOffset, even * 8, size * 8, to, errors.byteOffset + k * 8, outputs * 8);
    }
  }
}

function inFours(rows: number): number {
  return Math.ceil(rows / ROWS_TOGETHER) * ROWS_TOGETHER;
}
