import type { ColumnSpec, EncodedTable } from '../features/encode';
import { openScratch, type Scratch } from '../kernels/scratch';
import { bytesOfGram, factorise, gramOfSome } from '../linear/dense';
import { makeDesign, makeTerms, type Term } from '../linear/design';
import { type LinearTables, tablesOf, WHOLE_IF_NEARER } from '../linear/linear';
import { solve } from '../math/matrix';
import type { Random } from '../math/random';
import { JITTER } from './evidence';
import { makeDimensions } from './kernel';
import { choosePoints } from './points';
import { learnScales, type Stage } from './scales';
import { type GaussianScores, scoresOfFactor } from './scores';

export interface ProcessInput extends EncodedTable {
  specs: ColumnSpec[];
  centers: (Float64Array | undefined)[];
  /** The columns to learn from. */
  chosen: number[];
  /** Standardised target of each row of the table. */
  target: Float64Array;
  /** The rows that each fold learns from. */
  folds: Int32Array[];
  /**
   * The rows that length scales, shares and noise are learned from, and the parameters to begin with, of another process of the
   * same columns. Undefined: all rows, and what is likely before any is seen.
   */
  scalesOf?: { rows: Int32Array; start: Float64Array };
  rules: ProcessRules;
  random: Random;
}

export interface ProcessRules {
  stages: Stage[];
  /** Points of the kernel. */
  points: number;
}

/** What each fold learned: weights of its own for a common kernel, and a linear model from the linear kernel. */
export interface LearnedProcess {
  folds: { gaussian: GaussianScores; line: LinearTables }[];
  /** The parameters of the kernel. */
  at: Float64Array;
  work: number;
}

/** Terms of the linear kernel; with more, categories are left out of it. */
const MOST_TERMS = 100;
/** Fraction of the noise that points may leave unexplained of a row, in the variance of the kernel. */
const LEFT_OF_NOISE = 0.03;
const LEAST_LEFT = 1e-6;

/**
 * Gaussian process regression, one per fold, with Matérn kernels (a product of all columns, and an additive one) and a
 * linear one. Length scales, shares and noise maximise the posterior density on a sample of the rows. The kernel is
 * represented by `points` rows of the table (subset of regressors: J. Quiñonero-Candela and C. Rasmussen, 2005).
 * Undefined if no column varies.
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
  const { stages, points } = rules;
  const learned = learnScales({
    table: input,
    dimensions,
    design: { values: design, size },
    target,
    from: input.scalesOf?.rows ?? all,
    start: input.scalesOf?.start,
    stages,
    random: input.random,
  });
  const { variance, linearVariance, noise } = learned;
  const tolerance = Math.max(LEAST_LEFT, (LEFT_OF_NOISE * noise) / variance);
  const { kernel, factor, pivots } = choosePoints(learned, input, all, { most: points, tolerance });
  const sizes = { points: pivots.length, all: pivots.length + size };
  const columns = Uint16Array.from(terms, ({ column }) => column);
  const scratch = openScratch(bytesOfGram(all.length, sizes.all, 1));
  const features = scratch.numbers(all.length * sizes.all);
  joinFeatures(factor, Math.sqrt(variance), design, Math.sqrt(linearVariance), all.length, features);
  const ofFold = (weights: Float64Array) => {
    const ofFactor = Float32Array.from(
      weights.subarray(0, sizes.points),
      (weight) => weight * Math.sqrt(variance),
    );
    const slopes = weights.subarray(sizes.points).map((weight) => weight * Math.sqrt(linearVariance));
    const linear = {
      columns,
      rules: terms.map(({ rule }) => rule),
      ...WHOLE_IF_NEARER,
      weights: Float32Array.from(slopes.subarray(1)),
    };
    const line = tablesOf(linear, slopes.slice(0, 1), specs, input.centers);
    return { gaussian: scoresOfFactor(kernel, factor, pivots, ofFactor), line };
  };
  let folds: LearnedProcess['folds'];
  try {
    const weightsOf = foldWeights(scratch, features, sizes.all, target, noise + JITTER);
    folds = input.folds.map((rows) => ofFold(weightsOf(rows)));
  } finally {
    scratch.close();
  }
  const work =
    learned.work + all.length * sizes.all * sizes.all + folds.length * sizes.all * sizes.all * sizes.all;
  return { folds, at: learned.at, work };
}

function linearTerms(input: ProcessInput, rows: Int32Array): Term[] {
  const { chosen, columns, numbers, specs, centers } = input;
  const pick = <T>(list: T[]) => chosen.map((column) => list[column]);
  const own = { columns: pick(columns), numbers: pick(numbers), specs: pick(specs), centers: pick(centers) };
  const terms = makeTerms({ ...own, rows }, (count) => count <= MOST_TERMS).map((term) => ({
    ...term,
    column: chosen[term.column],
  }));
  return terms.length <= MOST_TERMS ? terms : terms.filter(({ rule }) => rule.kind !== 'category');
}

/** Writes rows × (points + size): the features of both kernels, each with its scale. */
function joinFeatures(
  factor: Float64Array,
  ofFactor: number,
  design: Float64Array,
  ofDesign: number,
  rows: number,
  out: Float64Array,
): void {
  const points = factor.length / rows;
  const size = design.length / rows;
  for (let row = 0, at = 0; row < rows; row++) {
    for (let point = 0; point < points; point++) {
      out[at++] = ofFactor * factor[point * rows + row];
    }
    for (let t = 0; t < size; t++) {
      out[at++] = ofDesign * design[row * size + t];
    }
  }
}

/**
 * Ridge regression on any rows: the Gram matrix of all rows less that of the rows left out.
 *
 * @param features rows × size
 */
function foldWeights(
  scratch: Scratch,
  features: Float64Array,
  size: number,
  target: Float64Array,
  penalty: number,
) {
  const writeProducts = gramOfSome(features, size, scratch);
  const products = scratch.numbers(size * size);
  return (rows: Int32Array): Float64Array => {
    const right = new Float64Array(size);
    for (const row of rows) {
      for (let i = 0; i < size; i++) {
        right[i] += features[row * size + i] * target[row];
      }
    }
    writeProducts(rows, products);
    for (let i = 0; i < size; i++) {
      products[i * size + i] += penalty;
    }
    factorise(products, size, scratch.kernels);
    solve(products, size, right);
    return right;
  };
}
