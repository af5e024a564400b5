import type { EncodedTable } from '../features/encode';
import { closing, openScratch } from '../kernels/scratch';
import { dotAt } from '../math/matrix';
import type { Random } from '../math/random';
import { RIDGE } from '../tuned';
import { descend, type Descent } from './descend';
import { chooseStart, listPairs, makeEvidence, readParameters } from './evidence';
import { type Additive, type Dimensions, positions, someDimensions } from './kernel';
import type { RidgeShape } from './ridges';

/** Length scales are learned in stages: from this many rows, in at most this many quasi-Newton steps. */
export interface Stage {
  sample: number;
  iterations: number;
  /** Whether shorter length scales are tried before. */
  triesShorter?: boolean;
}

export interface ScalesInput {
  table: EncodedTable;
  dimensions: Dimensions;
  /** Rows × size: the features of the linear kernel. */
  design: { values: Float64Array; size: number };
  /** Standardised target of each row of the table. */
  target: Float64Array;
  /** The rows to learn from. */
  from: Int32Array;
  /** The parameters to begin with; undefined: what is likely before any row is seen. */
  start?: Float64Array;
  stages: Stage[];
  random: Random;
}

export interface Scales {
  dimensions: Dimensions;
  rates: Float64Array;
  additive: Additive;
  /** Of the product and the additive kernel together. */
  variance: number;
  linearVariance: number;
  noise: number;
  /** Kernels of one direction, over all dimensions that were given. */
  ridges: RidgeShape[];
  /** All parameters, as they were learned, the rows that they were last learned from, and the evidence of these. */
  at: Float64Array;
  rows: Int32Array;
  value: number;
  work: number;
}

/** √5 over the length scale, times the root of the variance: below this a dimension has next to no effect. */
const LEAST_RATE = 0.05;
/** Logarithms of the factors by which shorter length scales are tried. */
const SHORTER = [2, 4];
/** Factor for the steps of a descent that starts from such a point. */
const AFTER_JUMP = 2;

/** Length scales and noise of the highest posterior density on samples of the rows. */
export function learnScales(input: ScalesInput): Scales {
  const { dimensions, from, stages, random } = input;
  let descent: Begun & Reached = { at: input.start ?? chooseStart(dimensions), value: Infinity };
  let work = 0;
  let rows = from;
  for (const { sample, iterations, triesShorter } of stages) {
    rows = random.sample(from.length, Math.min(sample, from.length)).map((at) => from[at]);
    const before = descent;
    const found = onRows(input, rows, (f) => {
      const begun = triesShorter ? shortened(f, before, dimensions) : before;
      return descend(f, begun, begun === before ? iterations : AFTER_JUMP * iterations);
    });
    descent = found.result;
    work += found.work;
  }
  return keepUsed(dimensions, descent, { rows, work });
}

/**
 * The same with a kernel of one direction more, all learned anew from the same rows; undefined where the evidence gains too
 * little.
 *
 * @param directions to begin with: weights of the dimensions, of length 1
 */
export function learnRidge(
  input: ScalesInput,
  before: Scales,
  directions: readonly Float64Array[],
): { learned: Scales | undefined; work: number } {
  const { result, work } = onRows(input, before.rows, (f) => {
    const tried = directions.map((direction) => {
      const at = Float64Array.of(...before.at, RIDGE.variance, ...direction.map((one) => RIDGE.rate * one));
      return { at, value: f(at) };
    });
    const start = tried.reduce((best, one) => (one.value < best.value ? one : best));
    return start.value <= before.value - RIDGE.promise ? descend(f, start, RIDGE.iterations) : start;
  });
  const isBetter = result.value <= before.value - RIDGE.gain;
  return {
    learned: isBetter
      ? keepUsed(input.dimensions, result, { rows: before.rows, work: before.work })
      : undefined,
    work,
  };
}

/** What is made of the evidence of some of the rows. */
function onRows<T>(
  { table, dimensions, design, target }: ScalesInput,
  rows: Int32Array,
  use: (f: (at: Float64Array, gradient?: Float64Array) => number) => T,
): { result: T; work: number } {
  let work = 0;
  const own = positions(dimensions, table, rows);
  const result = closing(openScratch(), (scratch) =>
    closing(listPairs(dimensions, own), (pairs) => {
      const f = makeEvidence({
        dimensions,
        pairs,
        scratch,
        positions: own,
        linear: linearKernel(design.values, design.size, rows),
        target: Float64Array.from(rows, (row) => target[row]),
      });
      return use((at, gradient) => {
        work += rows.length * rows.length * (rows.length / 2 + dimensions.columns.length);
        return f(at, gradient);
      });
    }),
  );
  return { result, work };
}

/** What was learned, without the dimensions that have next to no effect. */
function keepUsed(
  dimensions: Dimensions,
  { at, value }: Reached,
  { rows, work }: Pick<Scales, 'rows' | 'work'>,
): Scales {
  const learned = readParameters(at, dimensions.columns.length);
  const { rates, variance, linearVariance, noise, additive, ridges } = learned;
  const whole = variance + additive.share;
  const most = Math.max(1, Math.sqrt(variance));
  const effects = rates.map((rate, d) =>
    Math.max(rate * most, additive.rates[d] * Math.sqrt(additive.weights[d] * additive.share)),
  );
  const largest = effects.indexOf(Math.max(...effects));
  const kept = Array.from(rates.keys()).filter((d) => d === largest || effects[d] >= LEAST_RATE);
  const pick = (list: Float64Array): Float64Array => Float64Array.from(kept, (d) => list[d]);
  return {
    dimensions: someDimensions(dimensions, kept),
    rates: pick(rates),
    additive: {
      share: additive.share / whole,
      rates: pick(additive.rates),
      weights: pick(additive.weights),
    },
    variance: whole,
    linearVariance,
    noise,
    ridges,
    at,
    value,
    rows,
    work,
  };
}

/** Where a descent ended, with the evidence there. */
type Reached = Pick<Descent, 'at' | 'value'>;
/** Where a descent continues or started: a point, and the curvature found there. */
type Begun = Pick<Descent, 'at'> & Partial<Descent>;

/**
 * Tries to escape a local minimum: a better point with one length scale much shorter, from here or from the start.
 * For a column of subject ids, say, a descent from long length scales does not get there.
 */
function shortened(f: (at: Float64Array) => number, here: Begun, dimensions: Dimensions): Begun {
  let best = here;
  let lowest = f(here.at);
  for (const origin of [here.at, chooseStart(dimensions)]) {
    for (const d of dimensions.columns.keys()) {
      for (const step of SHORTER) {
        const at = origin.slice();
        at[d] += step;
        const value = f(at);
        if (value < lowest) {
          lowest = value;
          best = { at };
        }
      }
    }
  }
  return best;
}

/** Rows × rows, the lower triangle. */
function linearKernel(design: Float64Array, size: number, rows: Int32Array): Float64Array {
  const out = new Float64Array(rows.length * rows.length);
  for (let i = 0; i < rows.length; i++) {
    for (let j = 0; j <= i; j++) {
      out[i * rows.length + j] = dotAt(design, rows[i] * size, design, rows[j] * size, size);
    }
  }
  return out;
}
