import type { ColumnSpec, EncodedTable } from '../features/encode';
import { gramOfSome } from '../linear/dense';
import { dotAt } from '../math/matrix';
import { log, sigmoid, softmax, square } from '../math/numeric';
import type { Random } from '../math/random';
import { type Dimensions, distance, makeDimensions, positions } from './kernel';
import { denseLogistic } from './logistic';
import { choosePoints, type Chosen } from './points';
import { learnScales, type Stage } from './scales';
import { type GaussianScores, scoresOfFactor } from './scores';
import { Slopes } from './slopes';

export interface ClassesInput extends EncodedTable {
  specs: ColumnSpec[];
  /** The columns to learn from. */
  chosen: number[];
  /** Per column, what trees gained by splitting on it. */
  gains: Float64Array;
  /** Class of each row of the table. */
  codes: Int32Array;
  classes: number;
  folds: { rows: Int32Array; heldOut: Int32Array }[];
  /** Most points of the kernel. */
  points: number;
  random: Random;
}

/** What each fold learned: weights of its own for a common kernel, and an intercept per output. */
export interface LearnedClasses {
  folds: { gaussian: GaussianScores; base: Float64Array }[];
  work: number;
}

/** Inverse variances of the kernel's weights: the first folds try all of them. */
const PENALTIES = [0.3, 0.1, 0.03, 0.01];
const TRIED_FOLDS = 3;
/** Fraction of a row's variance that the points may leave unexplained. */
const TOLERANCE = 1e-3;
/**
 * From so many rows on, length scales of two classes are learned, from some of them: chosen on four machines of classes of
 * `npm run bench -- advise` with 2,000 rows and two train sets, where the loss above that of the truth falls by 12 to 25 %, as
 * with 500 or 1,000 rows in the last stage, for 0.1 s of a fit. Measured again in docs/benchmarks/advise.md.
 */
const ROWS_TO_LEARN = 1000;
const STAGES: Stage[] = [
  { sample: 200, iterations: 12 },
  { sample: 300, iterations: 12 },
];
/** Floor for a column's gain when its length scale is set, as a fraction of the largest gain. */
const LEAST_GAIN = 0.01;
/** Rows among which the median distance is found. */
const MEASURED_ROWS = 100;
/** Work is counted in histogram updates, each of which takes as long as this many products. */
const PRODUCTS_PER_UPDATE = 5;
const LEAST_PROBABILITY = 1e-15;

/**
 * Gaussian process classification, one per fold: maximum a posteriori logistic regression on the features of a Matérn
 * kernel (C. Rasmussen and C. Williams, 2006, 3.4). Length scales come from what trees gained by each column: learned
 * ones are no better on small tables, and take longer. With many rows of two classes they are learned, and with them what
 * few columns do together whatever the others are. Undefined if no column varies.
 */
export function fitClasses(input: ClassesInput): LearnedClasses | undefined {
  const { specs, chosen, codes } = input;
  const all = Int32Array.from(codes, (_, row) => row);
  const dimensions = makeDimensions(input, specs, chosen);
  if (dimensions.columns.length === 0) {
    return undefined;
  }
  const isLearned = input.classes === 2 && all.length >= ROWS_TO_LEARN;
  const learned = isLearned ? learnedScales(input, dimensions, all) : undefined;
  const shape = learned ?? { dimensions, rates: chooseRates(input, dimensions) };
  const points = choosePoints(shape, input, all, { most: input.points, tolerance: TOLERANCE });
  const { best, work } = fitFolds(input, points, all);
  const size = points.pivots.length + 1;
  const folds = best.map((weights) => {
    const outputs = weights.length / size;
    const ofFactor = new Float32Array(weights.length - outputs);
    for (let k = 0; k < outputs; k++) {
      ofFactor.set(weights.subarray(k * size + 1, (k + 1) * size), k * (size - 1));
    }
    return {
      gaussian: scoresOfFactor(points.kernel, points.factor, points.pivots, ofFactor),
      base: Float64Array.from({ length: outputs }, (_, k) => weights[k * size]),
    };
  });
  return { folds, work: work + (learned?.work ?? 0) };
}

/**
 * Those of a regression of the classes as numbers: what is near in one is near in the other (C. Rasmussen and C. Williams,
 * 2006, 6.5, of least squares classification). It has a constant in place of a line, which the classes have none of.
 */
function learnedScales({ codes, random, ...table }: ClassesInput, dimensions: Dimensions, all: Int32Array) {
  const second = codes.reduce((sum, code) => sum + code, 0) / codes.length;
  const spread = Math.sqrt(second * (1 - second));
  return learnScales({
    table,
    dimensions,
    random,
    design: { values: new Float64Array(all.length).fill(1), size: 1 },
    target: Float64Array.from(codes, (code) => (code - second) / spread),
    from: all,
    stages: STAGES,
  });
}

/**
 * √5 over the length scale of each dimension: proportional to the root of its column's gain, scaled so that the
 * median distance of two rows is one length.
 */
function chooseRates(input: ClassesInput, dimensions: Dimensions): Float64Array {
  const { gains, codes, random } = input;
  const { columns, kinds } = dimensions;
  const most = Math.max(...Array.from(columns, (column) => gains[column]));
  const relevance = Float64Array.from(columns, (column) =>
    Math.sqrt(most > 0 ? Math.max(LEAST_GAIN, gains[column] / most) : 1),
  );
  const rows = random.sample(codes.length, Math.min(MEASURED_ROWS, codes.length));
  const at = positions(dimensions, input, rows);
  const squares: number[] = [];
  for (let i = 0; i < at.length; i += columns.length) {
    for (let j = 0; j < i; j += columns.length) {
      squares.push(
        relevance.reduce((sum, own, d) => sum + square(own * distance(kinds[d], at[i + d], at[j + d])), 0),
      );
    }
  }
  const median = Float64Array.from(squares).sort()[squares.length >> 1];
  const scale = Math.sqrt(5 / (median > 0 ? median : 1));
  return relevance.map((own) => scale * own);
}

/** Weights of each fold (outputs × features), with the penalty that is best for the first folds. */
function fitFolds(
  input: ClassesInput,
  chosen: Chosen,
  all: Int32Array,
): { best: Float64Array[]; work: number } {
  const { classes } = input;
  const outputs = classes === 2 ? 1 : classes;
  const slopes = new Slopes({ rows: all.length, size: chosen.pivots.length + 1, outputs });
  try {
    return fitTo(slopes, input, chosen, all);
  } finally {
    slopes.close();
  }
}

function fitTo(
  slopes: Slopes,
  { codes, folds }: ClassesInput,
  { factor, pivots }: Chosen,
  all: Int32Array,
): { best: Float64Array[]; work: number } {
  const { features, size, outputs, scratch } = slopes;
  for (let row = 0, at = 0; row < all.length; row++) {
    features[at++] = 1;
    for (let point = 0; point < pivots.length; point++) {
      features[at++] = factor[point * all.length + row];
    }
  }
  const writeProducts = gramOfSome(features, size, scratch);
  const products = scratch.numbers(size * size);
  const productsOf = (rows: Int32Array) => {
    writeProducts(rows, products);
    return products.slice();
  };
  let work = all.length * size * size;
  const inputs = folds.map(({ rows }) => ({ slopes, rows, products: productsOf(rows), codes }));
  const fit = (fold: number, penalty: number, weights: Float64Array): Float64Array => {
    const steps = denseLogistic(inputs[fold], penalty, weights);
    work += size * size * size + 2 * steps * inputs[fold].rows.length * size * outputs;
    return weights;
  };
  const tried = folds.slice(0, TRIED_FOLDS).map(({ heldOut }, fold) => {
    let weights: Float64Array = new Float64Array(outputs * size);
    return PENALTIES.map((penalty) => {
      weights = fit(fold, penalty, weights.slice());
      return { weights, loss: sumLosses(features, size, weights, heldOut, codes, outputs) };
    });
  });
  const losses = PENALTIES.map((_, i) => tried.reduce((sum, own) => sum + own[i].loss, 0));
  const at = losses.indexOf(Math.min(...losses));
  const best = tried.map((own) => own[at].weights);
  for (let fold = best.length; fold < folds.length; fold++) {
    best.push(fit(fold, PENALTIES[at], best[0].slice()));
  }
  return { best, work: work / PRODUCTS_PER_UPDATE };
}

/** The log-loss, summed over rows. */
function sumLosses(
  features: Float64Array,
  size: number,
  weights: Float64Array,
  rows: Int32Array,
  codes: Int32Array,
  outputs: number,
): number {
  const scores = new Float64Array(outputs);
  let sum = 0;
  for (const row of rows) {
    for (let k = 0; k < outputs; k++) {
      scores[k] = dotAt(features, row * size, weights, k * size, size);
    }
    if (outputs === 1) {
      sum -= log(Math.max(sigmoid(codes[row] === 1 ? scores[0] : -scores[0]), LEAST_PROBABILITY));
      continue;
    }
    softmax(scores, 0, outputs, scores, 0);
    sum -= log(Math.max(scores[codes[row]], LEAST_PROBABILITY));
  }
  return sum;
}
