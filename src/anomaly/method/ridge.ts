import { cholesky, solve } from '../../learner/math/matrix';

/** The train rows are held out in so many blocks of time. */
const BLOCKS = 5;

/** Readings to learn from, in order of time. */
export interface HistoryRows {
  width: Width;
  /** rows × sensors, in their units; NaN is missing */
  values: Float64Array;
  /** rows × context */
  context: Float64Array;
  /** rows: 1 where memories begin anew, after a gap */
  starts: Uint8Array;
  /** rows: 1 leaves a row out of the expectations, 2 also out of what is called rare */
  leftOut: Uint8Array;
  rowsPerDay: number;
}

/** Rows from one to before another. */
export interface HeldOutBlock {
  from: number;
  to: number;
}

/** The blocks of time that are held out, one after the other. */
export function heldOutBlocks(rows: number): HeldOutBlock[] {
  const bounds = Array.from({ length: BLOCKS + 1 }, (_, i) => Math.floor((rows * i) / BLOCKS));
  return bounds.slice(1).map((to, i) => ({ from: bounds[i], to }));
}

/**
 * The inputs of all rows: rows × inputs. A missing cell counts as usual.
 *
 * @param standard rows × sensors, standardised; NaN is missing
 * @param shares what each of the two means of the past gives to the newest row
 */
export function arrangeInputs(
  { width, context, starts }: HistoryRows,
  standard: Float64Array,
  shares: readonly number[],
): Float64Array {
  const { sensors } = width;
  const columns = inputCount(width);
  const inputs = new Float64Array(starts.length * columns);
  let past = new Float64Array(0);
  for (let row = 0; row < starts.length; row++) {
    const now = inputs.subarray(row * columns, row * columns + sensors);
    for (let j = 0; j < sensors; j++) {
      now[j] = standard[row * sensors + j] || 0;
    }
    inputs.set(context.subarray(row * width.context, (row + 1) * width.context), row * columns + sensors);
    if (starts[row] === 1) {
      past = beginPast(now, shares);
    }
    inputs.set(past, row * columns + sensors + width.context);
    takeIntoPast(past, shares, now);
  }
  return inputs;
}

/** The means of the past, as if it had been like this row: shares × sensors. */
export function beginPast(row: Float64Array, shares: readonly number[]): Float64Array<ArrayBuffer> {
  const past = new Float64Array(shares.length * row.length);
  shares.forEach((_, mean) => past.set(row, mean * row.length));
  return past;
}

/** Takes a row into the means of the past. */
export function takeIntoPast(past: Float64Array, shares: readonly number[], row: Float64Array): void {
  const sensors = row.length;
  for (let mean = 0; mean < shares.length; mean++) {
    for (let j = 0; j < sensors; j++) {
      past[mean * sensors + j] += shares[mean] * (row[j] - past[mean * sensors + j]);
    }
  }
}

/** The penalty of the ridge, as this many rows and one a sensor more would weigh against those seen. */
const PENALTY_ROWS = 10;
/** The least variance that the penalty takes a column for: that of one hardly moving is noise. */
const LEAST_VARIANCE = 1e-3;

/** The columns of a row of inputs: the sensors now, states and calendar, then two means of the past of each sensor. */
export interface Width {
  sensors: number;
  context: number;
}

export function inputCount({ sensors, context }: Width): number {
  return 3 * sensors + context;
}

/** Sums over rows of inputs: enough to fit every expectation, and to leave rows out again. */
export interface InputMoments {
  weight: number;
  /** inputs */
  sums: Float64Array;
  /** inputs × inputs, the lower triangle */
  products: Float64Array;
}

/**
 * @param inputs rows × inputs
 * @param weights of the rows: 0 leaves one out
 */
export function sumMoments(
  inputs: Float64Array,
  columns: number,
  { from, to }: { from: number; to: number },
  weights: Float64Array,
): InputMoments {
  const sums = new Float64Array(columns);
  const products = new Float64Array(columns * columns);
  let weight = 0;
  for (let row = from; row < to; row++) {
    if (weights[row] === 0) {
      continue;
    }
    weight += weights[row];
    const at = row * columns;
    for (let i = 0; i < columns; i++) {
      const value = inputs[at + i] * weights[row];
      sums[i] += value;
      if (value !== 0) {
        const to = i * columns;
        for (let j = 0; j <= i; j++) {
          products[to + j] += value * inputs[at + j];
        }
      }
    }
  }
  return { weight, sums, products };
}

/** The sums over all of these, without those of `left` where it is given. */
export function added(all: readonly InputMoments[], left?: InputMoments): InputMoments {
  const [first] = all;
  const sum = {
    weight: 0,
    sums: new Float64Array(first.sums.length),
    products: new Float64Array(first.products.length),
  };
  for (const one of all) {
    if (one === left) {
      continue;
    }
    sum.weight += one.weight;
    for (let i = 0; i < sum.sums.length; i++) {
      sum.sums[i] += one.sums[i];
    }
    for (let i = 0; i < sum.products.length; i++) {
      sum.products[i] += one.products[i];
    }
  }
  return sum;
}

/** What each sensor is expected to be, three times: from other things each. */
export interface Expectations {
  /** Means of the inputs. */
  means: Float64Array;
  /** From states and calendar: sensors × context. */
  level: Float64Array;
  /** From those and the other sensors now: sensors × (sensors + context), 0 at its own place. */
  cross: Float64Array;
  /** From those and the past of all sensors: sensors × inputs, 0 at its own place. */
  all: Float64Array;
}

/**
 * Ridge regressions of every sensor from one covariance matrix. Where C is the covariance of a sensor and its inputs with
 * the penalty on the diagonal, the coefficients are −P_oj / P_jj with P = C⁻¹ (the inverse of a partitioned matrix): one
 * inverse serves all sensors.
 */
export function fitExpectations(moments: InputMoments, width: Width): Expectations {
  const { sensors, context } = width;
  const columns = inputCount(width);
  const { means, covariance } = penalised(moments, sensors);
  return {
    means,
    level: fromContext(covariance, columns, sensors, context),
    cross: fromOthers(part(covariance, columns, sensors + context), sensors, sensors + context),
    all: fromOthers(covariance, sensors, columns),
  };
}

/** From states and calendar, the other sensors now, and the past of the others. */
export interface OthersExpectations {
  /** Means of the inputs. */
  means: Float64Array;
  /** sensors × inputs, 0 at its own places */
  coefficients: Float64Array;
}

/** What each sensor is expected to be from all but itself, now and before. */
export function fitFromOthers(moments: InputMoments, width: Width): OthersExpectations {
  const { sensors, context } = width;
  const { means, covariance } = penalised(moments, sensors);
  const own = (sensor: number): number[] => [1, 2].map((mean) => mean * sensors + context + sensor);
  return { means, coefficients: fromOthers(covariance, sensors, inputCount(width), own) };
}

/** Means and covariances of the inputs, with the penalty on the diagonal. */
function penalised(
  { weight, sums, products }: InputMoments,
  sensors: number,
): { means: Float64Array; covariance: Float64Array } {
  const rows = Math.max(1, weight);
  const means = sums.map((sum) => sum / rows);
  const columns = means.length;
  const penalty = (PENALTY_ROWS + sensors) / rows;
  const covariance = new Float64Array(columns * columns);
  for (let i = 0; i < columns; i++) {
    for (let j = 0; j <= i; j++) {
      const value = products[i * columns + j] / rows - means[i] * means[j];
      covariance[i * columns + j] = value;
      covariance[j * columns + i] = value;
    }
    const variance = covariance[i * columns + i];
    covariance[i * columns + i] = variance + penalty * Math.max(variance, LEAST_VARIANCE);
  }
  return { means, covariance };
}

function part(matrix: Float64Array, columns: number, size: number): Float64Array {
  const out = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    out.set(matrix.subarray(i * columns, i * columns + size), i * size);
  }
  return out;
}

function fromContext(matrix: Float64Array, columns: number, sensors: number, context: number): Float64Array {
  const out = new Float64Array(sensors * context);
  const inner = new Float64Array(context * context);
  for (let i = 0; i < context; i++) {
    const at = (sensors + i) * columns + sensors;
    inner.set(matrix.subarray(at, at + context), i * context);
  }
  const factor = cholesky(inner, context);
  for (let sensor = 0; sensor < sensors; sensor++) {
    const right = out.subarray(sensor * context, (sensor + 1) * context);
    right.set(matrix.subarray(sensor * columns + sensors, sensor * columns + sensors + context));
    solve(factor, context, right);
  }
  return out;
}

/**
 * @param without the inputs that a sensor is not predicted from. Theirs are swept out of the inverse: what is left of it
 *   is the inverse without them.
 */
function fromOthers(
  matrix: Float64Array,
  sensors: number,
  size: number,
  without: (sensor: number) => readonly number[] = () => [],
): Float64Array {
  const factor = cholesky(matrix, size);
  const inverse = (place: number): Float64Array => {
    const column = new Float64Array(size);
    column[place] = 1;
    solve(factor, size, column);
    return column;
  };
  const out = new Float64Array(sensors * size);
  for (let sensor = 0; sensor < sensors; sensor++) {
    const column = inverse(sensor);
    const swept = without(sensor).map((place) => ({ place, values: inverse(place) }));
    swept.forEach(({ place, values }, i) => {
      for (const left of [...swept.slice(i + 1).map((one) => one.values), column]) {
        const share = left[place] / values[place];
        left.forEach((value, at) => (left[at] = at === place ? 0 : value - share * values[at]));
      }
    });
    const own = column[sensor];
    out.set(
      column.map((value, i) => (i === sensor ? 0 : -value / own)),
      sensor * size,
    );
  }
  return out;
}

/** Regressions of all sensors on the same inputs. */
interface Regressions {
  /** Means of the sensors, and of all inputs of a row. */
  means: Float64Array;
  /** sensors × size */
  coefficients: Float64Array;
  /** Inputs that they take, and the place of the first in a row. */
  size: number;
  from?: number;
}

/**
 * The mean of a sensor and what its inputs add to it.
 *
 * @param inputs one row after the other
 * @param at where the row begins
 */
export function expected(
  { means, coefficients, size, from = 0 }: Regressions,
  sensor: number,
  inputs: Float64Array,
  at: number,
): number {
  let sum = means[sensor];
  const row = sensor * size;
  for (let i = 0; i < size; i++) {
    sum += coefficients[row + i] * (inputs[at + from + i] - means[from + i]);
  }
  return sum;
}

/** The regressions of each view, in their order. */
export function regressionsByView({ means, level, cross, all }: Expectations, width: Width): Regressions[] {
  const { sensors, context } = width;
  return [
    { means, coefficients: level, size: context, from: sensors },
    { means, coefficients: cross, size: sensors + context },
    { means, coefficients: all, size: inputCount(width) },
  ];
}
