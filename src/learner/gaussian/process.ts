import type { ColumnSpec, EncodedTable } from '../features/encode';
import { openScratch, type Scratch } from '../kernels/scratch';
import { factorise, gramOfSome } from '../linear/dense';
import { makeDesign, makeTerms, type Term } from '../linear/design';
import { expandTerms, type LinearTables, WHOLE_IF_NEARER } from '../linear/linear';
import { dotAt, solve } from '../math/matrix';
import type { Random } from '../math/random';
import { RIDGE } from '../tuned';
import { beyondColumns, findDirections } from './directions';
import { JITTER } from './evidence';
import { type Dimensions, makeDimensions, positions } from './kernel';
import { choosePoints } from './points';
import { type Ridge, ridgeFeatures, ridgeOfWeights, writeRidgeFeatures } from './ridges';
import { learnRidge, learnScales, type Scales, type ScalesInput, type Stage } from './scales';
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
  /** Most kernels of one direction. */
  ridges: number;
}

/** What each fold learned: weights of its own for a common kernel, and a linear model from the linear kernel. */
export interface LearnedProcess {
  folds: { gaussian: GaussianScores; line: LinearTables; ridges: Ridge[] }[];
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
 * linear one; with kernels of one direction where the evidence asks for them. Length scales, shares and noise maximise the
 * posterior density on a sample of the rows. The kernel is represented by `points` rows of the table (subset of regressors:
 * J. Quiñonero-Candela and C. Rasmussen, 2005). Undefined if no column varies.
 */
export function fitProcess(input: ProcessInput): LearnedProcess | undefined {
  const { specs, chosen, target, rules } = input;
  const all = Int32Array.from(target, (_, row) => row);
  const dimensions = makeDimensions(input, specs, chosen);
  if (dimensions.columns.length === 0) {
    return undefined;
  }
  const terms = linearTerms(input, all);
  const design = makeDesign(terms, { ...input, rows: all });
  const scales: ScalesInput = {
    table: input,
    dimensions,
    design: { values: design, size: terms.length + 1 },
    target,
    from: input.scalesOf?.rows ?? all,
    start: input.scalesOf?.start,
    stages: rules.stages,
    random: input.random,
  };
  const about = { input, dimensions, terms, design, all };
  let learned = learnScales(scales);
  let fitted = fitFolds(about, learned);
  let { work } = fitted;
  const at = rules.ridges > 0 ? positions(dimensions, input, all) : new Float64Array(0);
  for (let ridge = 0; ridge < rules.ridges; ridge++) {
    const left = ridge === 0 ? [beyondColumns(dimensions.kinds, at, target), fitted.errors] : [fitted.errors];
    const directions = left
      .flatMap((one) => findDirections(dimensions.kinds, at, one).slice(0, 2))
      .filter(({ told }) => told >= RIDGE.told);
    if (directions.length === 0) {
      break;
    }
    const next = learnRidge(
      scales,
      learned,
      directions.map(({ weights }) => weights),
    );
    work += next.work;
    const again = next.learned && fitFolds(about, next.learned);
    if (again === undefined) {
      break;
    }
    work += again.work;
    if (sumSquares(again.errors) >= sumSquares(fitted.errors)) {
      break;
    }
    learned = next.learned!;
    fitted = again;
  }
  return { folds: fitted.folds, at: learned.at, work: learned.work + work };
}

const sumSquares = (errors: Float64Array): number => errors.reduce((sum, error) => sum + error * error, 0);

/** A process before what its folds learn. */
interface Prepared {
  input: ProcessInput;
  dimensions: Dimensions;
  terms: Term[];
  /** Rows × (1 + terms). */
  design: Float64Array;
  all: Int32Array;
}

/** What every fold learns by the same kernels, and the error of each row by a fold that did not learn from it, else 0. */
function fitFolds(
  { input, dimensions, terms, design, all }: Prepared,
  learned: Scales,
): { folds: LearnedProcess['folds']; errors: Float64Array; work: number } {
  const { specs, target, rules } = input;
  const { variance, linearVariance, noise } = learned;
  const tolerance = Math.max(LEAST_LEFT, (LEFT_OF_NOISE * noise) / variance);
  const { kernel, factor, pivots } = choosePoints(learned, input, all, { most: rules.points, tolerance });
  const along = learned.ridges.map((shape) => ridgeFeatures(dimensions, shape, input, all));
  const size = terms.length + 1;
  const ofRidges = along.reduce((sum, { count }) => sum + count, 0);
  const sizes = { points: pivots.length, all: pivots.length + size + ofRidges };
  const columns = Uint16Array.from(terms, ({ column }) => column);
  const scratch = openScratch();
  /** Rows × features: of the points, of the linear kernel, and of those of one direction. */
  const features = scratch.numbers(all.length * sizes.all);
  const [ofFactors, ofDesign] = [Math.sqrt(variance), Math.sqrt(linearVariance)];
  for (let row = 0, at = 0; row < all.length; row++) {
    for (let point = 0; point < sizes.points; point++) {
      features[at++] = ofFactors * factor[point * all.length + row];
    }
    for (let t = 0; t < size; t++) {
      features[at++] = ofDesign * design[row * size + t];
    }
    for (const ridge of along) {
      writeRidgeFeatures(ridge, row, features, at);
      at += ridge.count;
    }
  }
  const ofFold = (weights: Float64Array) => {
    const ofFactor = Float32Array.from(weights.subarray(0, sizes.points), (weight) => weight * ofFactors);
    const slopes = weights.subarray(sizes.points, sizes.points + size).map((weight) => weight * ofDesign);
    const linear = {
      columns,
      rules: terms.map(({ rule }) => rule),
      ...WHOLE_IF_NEARER,
      weights: Float32Array.from(slopes.subarray(1)),
    };
    const line = expandTerms(linear, slopes.slice(0, 1), specs, input.centers);
    let from = sizes.points + size;
    const ridges = along.map((one) => {
      from += one.count;
      return ridgeOfWeights(one, weights.subarray(from - one.count, from));
    });
    return { gaussian: scoresOfFactor(kernel, factor, pivots, ofFactor), line, ridges };
  };
  const errors = new Float64Array(all.length);
  try {
    const weightsOf = foldWeights(scratch, features, sizes.all, target, noise + JITTER);
    const folds = input.folds.map((rows) => {
      const weights = weightsOf(rows);
      const isLearned = new Uint8Array(all.length);
      rows.forEach((row) => (isLearned[row] = 1));
      for (let row = 0; row < all.length; row++) {
        if (isLearned[row] === 0) {
          errors[row] = target[row] - dotAt(features, row * sizes.all, weights, 0, sizes.all);
        }
      }
      return ofFold(weights);
    });
    const work = all.length * sizes.all * sizes.all + folds.length * sizes.all * sizes.all * sizes.all;
    return { folds, errors, work };
  } finally {
    scratch.close();
  }
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
