import type { ColumnSpec, EncodedTable } from '../features/encode';
import { makeDesign, makeTerms, type Term } from '../linear/design';
import { type LinearTables, tablesOf } from '../linear/linear';
import { solve } from '../math/matrix';
import { exp } from '../math/numeric';
import type { Random } from '../math/random';
import { addGram, dotAt, factorise } from './dense';
import { descend, type Descent } from './descend';
import { evidenceOf, JITTER, startOf } from './evidence';
import { inducingRows, kernelWeights, pointFactor } from './inducing';
import { type Dimensions, type Kernel, kernelRow, makeDimensions, positions, someDimensions } from './kernel';

/** Scores of a Gaussian process: the kernel with each of its points, times its weight. The kernel may be shared. */
export interface GaussianScores {
  kernel: Kernel;
  weights: Float64Array;
  /**
   * What the weights are made of, by the factor of the points: numbers of even size, which may be rounded, where weights
   * of neighbours nearly cancel. Missing of a sum of several, and in models that were fitted before they kept it.
   */
  ofFactor?: Float32Array;
}

export interface ProcessInput extends EncodedTable {
  specs: ColumnSpec[];
  centers: (Float64Array | undefined)[];
  /** The columns to learn from. */
  chosen: number[];
  /** Standardised target of each row of the table. */
  target: Float64Array;
  /** The rows that each fold learns from. */
  folds: Int32Array[];
  rules: ProcessRules;
  random: Random;
}

export interface ProcessRules {
  /** The length scales are learned in stages: of so many rows, in at most so many quasi-Newton steps. */
  stages: { sample: number; iterations: number }[];
  /** Points of the kernel. */
  points: number;
}

/** What each fold learned: one kernel for all, with weights of each; and a line, from the linear kernel. */
export interface LearnedProcess {
  folds: { gaussian: GaussianScores; line: LinearTables }[];
  work: number;
}

/** Terms of the linear kernel; with more, categories are left out of it. */
const MOST_TERMS = 100;
/** √5 over the length scale: below, a dimension does next to nothing. */
const LEAST_RATE = 0.05;
/** Share of the noise that points may leave unexplained of a row, in the variance of the kernel. */
const LEFT_OF_NOISE = 0.1;
const LEAST_LEFT = 1e-6;

/**
 * Gaussian process regression, one per fold, with a Matérn kernel and a linear one. Length scales and noise are those of
 * the highest posterior density on a sample of the rows; the kernel is that of `points` rows of the table (the subset of
 * regressors; J. Quiñonero-Candela and C. Rasmussen, 2005). Undefined where no column varies.
 */
export function fitProcess(input: ProcessInput): LearnedProcess | undefined {
  const { specs, chosen, target, rules } = input;
  const all = Int32Array.from(target, (_, row) => row);
  const dimensions = makeDimensions(input, specs, chosen);
  if (dimensions.columns.length === 0) {
    return undefined;
  }
  const terms = linearTerms(input, all);
  const size = terms.length + 1;
  const design = makeDesign(terms, { ...input, rows: all });
  const learned = learnScales(input, dimensions, design, size);
  const { variance, lines, noise } = learned;
  const at = positions(learned.dimensions, input, all);
  const tolerance = Math.max(LEAST_LEFT, (LEFT_OF_NOISE * noise) / variance);
  const most = Math.min(rules.points, all.length);
  const { pivots, factor } = inducingRows(learned.dimensions, learned.rates, at, most, tolerance);
  const width = learned.rates.length;
  const points = new Float32Array(pivots.length * width);
  pivots.forEach((row, i) => points.set(at.subarray(row * width, (row + 1) * width), i * width));
  const kernel: Kernel = { ...learned.dimensions, rates: learned.rates, points };
  const features = joinFeatures(factor, Math.sqrt(variance), design, Math.sqrt(lines), all.length);
  const sizes = { points: pivots.length, all: pivots.length + size };
  const weightsOf = foldWeights(features, sizes.all, target, noise + JITTER);
  const columns = Uint16Array.from(terms, ({ column }) => column);
  const folds = input.folds.map((rows) => {
    const weights = weightsOf(rows);
    const ofFactor = Float32Array.from(
      weights.subarray(0, sizes.points),
      (weight) => weight * Math.sqrt(variance),
    );
    const slopes = weights.subarray(sizes.points).map((weight) => weight * Math.sqrt(lines));
    const linear = {
      columns,
      rules: terms.map(({ rule }) => rule),
      weights: Float32Array.from(slopes.subarray(1)),
    };
    const line = tablesOf(linear, slopes.slice(0, 1), specs, input.centers);
    const own = kernelWeights(ofFactor, factor, pivots, all.length);
    return { gaussian: { kernel, weights: own, ofFactor }, line };
  });
  const work =
    learned.work + all.length * sizes.all * sizes.all + folds.length * sizes.all * sizes.all * sizes.all;
  return { folds, work };
}

/** Writes the scores of rows: the sum of weighted kernels, without any base. */
export function gaussianScores(
  { kernel, weights }: GaussianScores,
  table: EncodedTable,
  rows: Int32Array,
): Float64Array {
  const at = positions(kernel, table, rows);
  const width = kernel.rates.length;
  const own = new Float64Array(weights.length);
  return Float64Array.from(rows, (_, i) => {
    kernelRow(kernel, kernel.rates, at.subarray(i * width, (i + 1) * width), kernel.points, own.length, own);
    let sum = 0;
    for (let point = 0; point < own.length; point++) {
      sum += weights[point] * own[point];
    }
    return sum;
  });
}

function linearTerms(input: ProcessInput, rows: Int32Array): Term[] {
  const { chosen, columns, numbers, specs, centers } = input;
  const pick = <T>(list: T[]) => chosen.map((column) => list[column]);
  const own = { columns: pick(columns), numbers: pick(numbers), specs: pick(specs), centers: pick(centers) };
  const terms = makeTerms({ ...own, rows }).map((term) => ({ ...term, column: chosen[term.column] }));
  return terms.length <= MOST_TERMS ? terms : terms.filter(({ rule }) => rule.kind !== 'category');
}

interface Scales {
  dimensions: Dimensions;
  rates: Float64Array;
  variance: number;
  lines: number;
  noise: number;
  work: number;
}

/** @param design rows × size, of the linear kernel */
function learnScales(
  input: ProcessInput,
  dimensions: Dimensions,
  design: Float64Array,
  size: number,
): Scales {
  const { target, rules, random } = input;
  let descent: Pick<Descent, 'at'> & Partial<Descent> = { at: startOf(dimensions) };
  let work = 0;
  for (const { sample, iterations } of rules.stages) {
    const rows = random.sample(target.length, Math.min(sample, target.length));
    const f = evidenceOf({
      dimensions,
      positions: positions(dimensions, input, rows),
      linear: linearKernel(design, size, rows),
      target: Float64Array.from(rows, (row) => target[row]),
    });
    descent = descend(
      (at, gradient) => {
        work += rows.length * rows.length * (rows.length / 2 + dimensions.columns.length);
        return f(at, gradient);
      },
      descent,
      iterations,
    );
  }
  const found = descent.at.map(exp);
  const count = dimensions.columns.length;
  const largest = found.subarray(0, count).indexOf(Math.max(...found.subarray(0, count)));
  const kept = Array.from(dimensions.columns.keys()).filter((d) => d === largest || found[d] >= LEAST_RATE);
  return {
    dimensions: someDimensions(dimensions, kept),
    rates: Float64Array.from(kept, (d) => found[d]),
    variance: found[count],
    lines: found[count + 1],
    noise: found[count + 2],
    work,
  };
}

/** rows × rows, the lower triangle. */
function linearKernel(design: Float64Array, size: number, rows: Int32Array): Float64Array {
  const out = new Float64Array(rows.length * rows.length);
  for (let i = 0; i < rows.length; i++) {
    for (let j = 0; j <= i; j++) {
      out[i * rows.length + j] = dotAt(design, rows[i] * size, design, rows[j] * size, size);
    }
  }
  return out;
}

/** rows × (points + size): the features of both kernels, each with its scale. */
function joinFeatures(
  factor: Float64Array,
  ofFactor: number,
  design: Float64Array,
  ofDesign: number,
  rows: number,
): Float64Array {
  const points = factor.length / rows;
  const size = design.length / rows;
  const out = new Float64Array(rows * (points + size));
  for (let row = 0, at = 0; row < rows; row++) {
    for (let point = 0; point < points; point++) {
      out[at++] = ofFactor * factor[point * rows + row];
    }
    for (let t = 0; t < size; t++) {
      out[at++] = ofDesign * design[row * size + t];
    }
  }
  return out;
}

/**
 * Ridge regression of any rows, by the products of all rows' features less those of the rows left out.
 *
 * @param features rows × size
 */
function foldWeights(features: Float64Array, size: number, target: Float64Array, penalty: number) {
  const { length } = target;
  const all = Int32Array.from(target, (_, row) => row);
  const whole = new Float64Array(size * size);
  addGram(features, all, size, 1, whole);
  return (rows: Int32Array): Float64Array => {
    const isIn = new Uint8Array(length);
    const right = new Float64Array(size);
    for (const row of rows) {
      isIn[row] = 1;
      for (let i = 0; i < size; i++) {
        right[i] += features[row * size + i] * target[row];
      }
    }
    const isFew = rows.length * 2 < length;
    const products = isFew ? new Float64Array(size * size) : whole.slice();
    const counted = isFew ? rows : all.filter((row) => isIn[row] === 0);
    addGram(features, counted, size, isFew ? 1 : -1, products);
    for (let i = 0; i < size; i++) {
      products[i * size + i] += penalty;
    }
    factorise(products, size);
    solve(products, size, right);
    return right;
  };
}

/** Of a stored model: the scores that were fitted, to the bit. */
export function storedScores(kernel: Kernel): (ofFactor: Float32Array) => GaussianScores {
  const factor = pointFactor(kernel);
  return (ofFactor) => {
    const pivots = Int32Array.from(ofFactor, (_, i) => i);
    return { kernel, weights: kernelWeights(ofFactor, factor, pivots, pivots.length), ofFactor };
  };
}
