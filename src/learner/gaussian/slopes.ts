import { alignedBytes, ORDINARY, type Scratch } from '../wasm/scratch';
import { dotAt } from './dense';
import { ROWS_TOGETHER, type SlopeKernel, slopeScratch } from './slope-kernel';

interface Size {
  rows: number;
  /** Features per row. */
  size: number;
  outputs: number;
}

/**
 * Features of rows, with the two loops in which a logistic regression spends its time: the scores of rows, and the
 * gradient for their errors. WebAssembly if there is memory, with the same bits.
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
  readonly size: number;
  readonly outputs: number;
  private readonly rows: Int32Array;

  private constructor(
    { rows, size, outputs }: Size,
    private readonly scratch: Scratch<SlopeKernel>,
  ) {
    this.size = size;
    this.outputs = outputs;
    this.features = scratch.numbers(rows * size);
    this.weights = scratch.numbers(outputs * size);
    this.slope = scratch.numbers(outputs * size);
    this.errors = scratch.numbers(rows * outputs);
    this.rows = scratch.wholes(rows);
  }

  /** In scratch memory if it is available. Must be closed. */
  static open(size: Size): Slopes {
    const bytes =
      alignedBytes(size.rows * size.size * 8) +
      2 * alignedBytes(size.outputs * size.size * 8) +
      alignedBytes(size.rows * size.outputs * 8) +
      alignedBytes(size.rows * 4);
    return new Slopes(size, slopeScratch.open(bytes));
  }

  static ordinary(size: Size): Slopes {
    return new Slopes(size, ORDINARY);
  }

  close(): void {
    this.scratch.close();
  }

  /** Writes the scores of rows to `errors`. */
  score(rows: Int32Array): void {
    const { features, weights, errors, size, outputs } = this;
    if (this.scratch.functions) {
      const { dotFour, dotOne } = this.scratch.functions;
      this.run(rows, dotFour, dotOne, size & ~3, weights);
      return;
    }
    for (let i = 0, to = 0; i < rows.length; i++) {
      for (let k = 0; k < outputs; k++) {
        errors[to++] = dotAt(features, rows[i] * size, weights, k * size, size);
      }
    }
  }

  /** Adds the features of rows, times `errors`, to the gradient. */
  addErrors(rows: Int32Array): void {
    const { features, slope, errors, size, outputs } = this;
    if (this.scratch.functions) {
      const { addFour, addOne } = this.scratch.functions;
      this.run(rows, addFour, addOne, size & ~1, slope);
      return;
    }
    for (let i = 0, from = 0; i < rows.length; i++) {
      const at = rows[i] * size;
      for (let k = 0; k < outputs; k++) {
        const error = errors[from++];
        const to = k * size;
        for (let d = 0; d < size; d++) {
          slope[to + d] += error * features[at + d];
        }
      }
    }
  }

  /** Runs a loop for each output, over rows in fours and then over the rest. */
  private run(
    rows: Int32Array,
    four: SlopeKernel['dotFour'],
    one: SlopeKernel['dotOne'],
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
