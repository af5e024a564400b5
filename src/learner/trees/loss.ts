import { exp, log, sigmoid, softmax, square } from '../math/numeric';

/**
 * A loss to boost, with `width` scores per row (1 for regression and for two classes, else one per class). `scores`:
 * rows × width, for all rows of the table.
 */
export interface Objective {
  width: number;
  /** The best constant scores for these rows. */
  base(rows: Int32Array): Float64Array;
  /** Gradient and hessian of one output: `out[row * 2]` and `out[row * 2 + 1]` for each of `rows`. */
  gradHess(scores: Float64Array, rows: Int32Array, output: number, out: Float64Array): void;
  /**
   * The same for every output of one row: `out[at + output * 2]` and `out[at + output * 2 + 1]`. Of several classes alone, since
   * no other trees are grown for all outputs.
   */
  rowGradHess?(scores: Float64Array, row: number, out: Float32Array, at: number): void;
  /** Mean loss over rows. */
  loss(scores: Float64Array, rows: Int32Array): number;
}

const MIN_PROBABILITY = 1e-15;
/** Hessians never vanish, so that every row counts. */
const MIN_HESSIAN = 1e-6;

/** Half the squared error. Its hessian is 1, so sums of hessians count rows. */
export function squaredError(target: Float64Array): Objective {
  return {
    width: 1,
    base(rows) {
      let sum = 0;
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i];
        sum += target[row];
      }
      return Float64Array.of(rows.length > 0 ? sum / rows.length : 0);
    },
    gradHess(scores, rows, _output, out) {
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i];
        out[row * 2] = scores[row] - target[row];
        out[row * 2 + 1] = 1;
      }
    },
    loss: (scores, rows) => divideByRows(sumOfSquares(scores, target, rows), rows),
  };
}

/** Log-loss of two classes: the score is the log-odds of class 1. */
function binaryLogLoss(codes: Int32Array): Objective {
  return {
    width: 1,
    base(rows) {
      let ones = 0;
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i];
        ones += codes[row];
      }
      return Float64Array.of(log((ones + 0.5) / (rows.length - ones + 0.5)));
    },
    gradHess(scores, rows, _output, out) {
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i];
        const p = sigmoid(scores[row]);
        out[row * 2] = p - codes[row];
        out[row * 2 + 1] = Math.max(p * (1 - p), MIN_HESSIAN);
      }
    },
    loss: (scores, rows) => divideByRows(sumOfBinary(scores, codes, rows), rows),
  };
}

/** Log-loss of several classes: one score each, whose softmax gives the probabilities. */
function softmaxLogLoss(codes: Int32Array, classes: number): Objective {
  const p = new Float64Array(classes);
  let perRow = new Float64Array(0);
  const factor = classes / (classes - 1);
  return {
    width: classes,
    base(rows) {
      const counts = new Float64Array(classes).fill(0.5);
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i];
        counts[codes[row]]++;
      }
      const total = rows.length + classes / 2;
      return counts.map((count) => log(count / total));
    },
    gradHess(scores, rows, output, out) {
      if (perRow.length === 0) {
        perRow = new Float64Array(codes.length * classes);
      }
      // The first output of an iteration computes the probabilities for all outputs.
      if (output === 0) {
        for (let i = 0; i < rows.length; i++) {
          const row = rows[i];
          softmax(scores, row * classes, classes, perRow, row * classes);
        }
      }
      for (let i = 0; i < rows.length; i++) {
        const row = rows[i];
        const q = perRow[row * classes + output];
        out[row * 2] = q - (codes[row] === output ? 1 : 0);
        out[row * 2 + 1] = Math.max(factor * q * (1 - q), MIN_HESSIAN);
      }
    },
    rowGradHess(scores, row, out, at) {
      softmax(scores, row * classes, classes, p, 0);
      for (let k = 0; k < classes; k++) {
        const q = p[k];
        out[at + k * 2] = q;
        out[at + k * 2 + 1] = Math.max(factor * q * (1 - q), MIN_HESSIAN);
      }
      out[at + codes[row] * 2] -= 1;
    },
    loss: (scores, rows) => divideByRows(sumOfSoftmax(scores, codes, rows, p), rows),
  };
}

/** Log-loss with one score for two classes, or a score for each of several. */
export function classLogLoss(codes: Int32Array, classes: number): Objective {
  return classes <= 2 ? binaryLogLoss(codes) : softmaxLogLoss(codes, classes);
}

/*
 * Each sum of losses is a function of its own that does nothing after its loop. An engine that compiles a function in
 * the middle of its first loop has not yet seen the code after it, and would discard the compiled code there on every
 * call.
 */

function sumOfSquares(scores: Float64Array, target: Float64Array, rows: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    sum += square(scores[row] - target[row]);
  }
  return sum;
}

function sumOfBinary(scores: Float64Array, codes: Int32Array, rows: Int32Array): number {
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    const margin = codes[row] === 1 ? scores[row] : -scores[row];
    sum += margin > 0 ? log(1 + exp(-margin)) : log(1 + exp(margin)) - margin;
  }
  return sum;
}

/** @param p scratch for the probabilities of a row */
function sumOfSoftmax(scores: Float64Array, codes: Int32Array, rows: Int32Array, p: Float64Array): number {
  const classes = p.length;
  let sum = 0;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i];
    softmax(scores, row * classes, classes, p, 0);
    sum -= log(Math.max(p[codes[row]], MIN_PROBABILITY));
  }
  return sum;
}

function divideByRows(sum: number, { length }: Int32Array): number {
  return length > 0 ? sum / length : 0;
}
