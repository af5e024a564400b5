import type { Kernels } from '../kernels/bytes';
import { ROWS_TOGETHER } from '../kernels/layout';
import { alignedBytes, openScratch, type Scratch } from '../kernels/scratch';

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
  /** Rows × outputs, in the order of the rows scored: their scores, then their errors. */
  readonly errors: Float64Array;
  /** Size × size: a factor that a fit works with. */
  readonly factor: Float64Array;
  readonly size: number;
  readonly outputs: number;
  /** With room for the products of features over all rows and over some of them, size × size. */
  readonly scratch: Scratch;
  private readonly rows: Int32Array;

  constructor({ rows, size, outputs }: Size) {
    this.scratch = openScratch(
      alignedBytes(rows * size * 8) +
        2 * alignedBytes(outputs * size * 8) +
        alignedBytes(rows * outputs * 8) +
        alignedBytes(rows * 4) +
        3 * alignedBytes(size * size * 8),
    );
    const { scratch } = this;
    this.size = size;
    this.outputs = outputs;
    this.features = scratch.numbers(rows * size);
    this.weights = scratch.numbers(outputs * size);
    this.slope = scratch.numbers(outputs * size);
    this.errors = scratch.numbers(rows * outputs);
    this.rows = scratch.wholes(rows);
    this.factor = scratch.numbers(size * size);
  }

  close(): void {
    this.scratch.close();
  }

  /** Writes the scores of rows to `errors`. */
  score(rows: Int32Array): void {
    const { dotFour, dotOne } = this.scratch.kernels;
    this.run(rows, dotFour, dotOne, this.size & ~3, this.weights);
  }

  /** Adds the features of rows, times `errors`, to the gradient. */
  addErrors(rows: Int32Array): void {
    const { addRowsFour, addRowsOne } = this.scratch.kernels;
    this.run(rows, addRowsFour, addRowsOne, this.size & ~1, this.slope);
  }

  /** Runs a loop for each output, over rows in fours and then over the rest. */
  private run(
    rows: Int32Array,
    four: Kernels['dotFour'],
    one: Kernels['dotOne'],
    even: number,
    numbers: Float64Array,
  ): void {
    const { features, errors, size, outputs } = this;
    this.rows.set(rows);
    const first = this.rows.byteOffset;
    const together = rows.length - (rows.length % ROWS_TOGETHER);
    const middle = first + together * 4;
    for (let k = 0; k < outputs; k++) {
      const to = numbers.byteOffset + k * size * 8;
      const error = errors.byteOffset + k * 8;
      const width = outputs * 8;
      four(first, middle, features.byteOffset, even * 8, size * 8, to, error, width);
      one(
        middle,
        first + rows.length * 4,
        features.byteOffset,
        even * 8,
        size * 8,
        to,
        error + together * width,
        width,
      );
    }
  }
}
