import { classCurves, numberCurves } from '../../metrics/curves';
import { logLossRange, rmseRange } from '../../metrics/loss-range';
import type { ScoredRows } from '../../metrics/neighbours';
import { errorsOf } from '../../metrics/regression';
import { timesFactor } from '../../metrics/scores';
import { findThresholds, type Thresholds } from '../../metrics/thresholds';
import {
  applyTemperature,
  balance,
  type Calibration,
  fitCalibration,
  logLoss,
  mixWithPriors,
  probabilities,
  rowLogLosses,
} from '../calibration/calibrate';
import { fitResiduals, type ResidualFit, type ResidualInput } from '../calibration/residuals';
import type { EncodedTable } from '../features/encode';
import { log, square } from '../math/numeric';
import { sorted } from '../math/order';
import { Random } from '../math/random';
import { heldOutScores, inUnits, type Member, type Model, type Part } from '../model/model';
import { RESIDUALS, STACKING } from '../tuned';
import type { FeatureImportance, FitReport, Label } from '../types';
import { candidatesOf, gaussianOf, type LearnedCandidate, type Process, sumOfParts } from './candidates';
import { type FoldResult, foldRows, keptTrees } from './fold';
import type { LearnerSettings } from './options';
import { type PreparedFit, STREAM } from './prepare';
import {
  bucketBorders,
  bucketFloor,
  importanceOf,
  makeReport,
  newestLevel,
  rowsTogether,
  smearingOf,
  tableOrder,
} from './report';
import { chooseWeights, leastLeft, scoreProbabilities, type StackInput, weightedSum } from './stacking';

/**
 * Combines all folds of `prepared` (in any order) into a model, but for the distribution of its residuals: weighs the candidates
 * by their out-of-fold scores (stacking), calibrates the result on the same scores, and reports on it.
 */
export function stack(prepared: PreparedFit, results: FoldResult[]): StackedFit {
  const folds = [...results].sort((a, b) => a.fold - b.fold);
  const weighed = weigh(prepared, folds);
  const members = membersOf(prepared, weighed);
  const outOfFold = told(weighed);
  if (prepared.task === 'classification') {
    return {
      residuals: undefined,
      reportAhead: () => undefined,
      finish: () => finishClassification(prepared, folds, members, outOfFold),
    };
  }
  return stackedRegression(prepared, folds, members, outOfFold);
}

/** The candidates of a fit, and how much each counts. */
interface Weighed {
  candidates: LearnedCandidate[];
  weights: Float64Array;
  /** Scores per row. */
  width: number;
  /** The rows that folds held out, one fold after the other. */
  rows: Int32Array;
  /** Candidates × (rows × width): the out-of-fold scores. */
  scores: Float64Array[];
  /** The same of other parts, folds × parts: rows × width. */
  scoresOf: (parts: Part[][]) => Float64Array;
  /** The process that is the last candidate, by kernels that have not seen the rows; undefined where there is none. */
  unseen: (() => Process | undefined) | undefined;
}

/** Weighs the candidates by their out-of-fold scores. A Gaussian process joins them where the others leave enough. */
function weigh(prepared: PreparedFit, folds: FoldResult[]): Weighed {
  const candidates = candidatesOf(prepared, folds);
  const heldOut = folds.map((fold) => foldRows(prepared, fold.fold).heldOut);
  const scoresOf = (parts: Part[][]) => {
    const scores = parts.map((own, m) => sumOfParts(own, prepared, heldOut[m]));
    return join(scores, new Float64Array(lengthOf(scores)));
  };
  const scores = candidates.map(({ parts }) => scoresOf(parts));
  const rows = join(heldOut, new Int32Array(lengthOf(heldOut)));
  const left = () =>
    leastLeft(
      scores,
      Float64Array.from(rows, (row) => prepared.values[row]),
    );
  const gaussian = gaussianOf(prepared, folds, left);
  if (gaussian) {
    candidates.push({ name: 'process', parts: gaussian.parts, work: gaussian.work });
    scores.push(scoresOf(gaussian.parts));
  }
  const width = candidates[0].parts[0][0].base.length;
  const costly = candidates.findIndex(({ name }) => name === 'randomised');
  const input = {
    ...stackInput(prepared, rows, scores, width),
    costly: costly < 0 ? undefined : costly,
  };
  const { metric } = prepared.settings.thinking ?? {};
  const weights = chooseWeights(input, prepared.classes.length, metric);
  return { candidates, weights, width, rows, scores, scoresOf, unseen: gaussian?.unseen };
}

/** What each fold adds to the model: all that counts of its candidates. */
function membersOf(prepared: PreparedFit, { candidates, weights, width }: Weighed): Member[] {
  const folds = candidates[0].parts.length;
  return Array.from({ length: folds }, (_, m): Member => {
    const parts = candidates.flatMap((candidate, c) =>
      candidate.parts[m].map((part) => ({ ...trimmed(part, prepared), weight: weights[c] })),
    );
    return { weight: 1 / folds, width, parts: parts.filter((part) => part.weight > 0) };
  });
}

/**
 * The scores that are told: of rows that no kernel has seen. Those by which candidates are weighed stay as they are: the others
 * would leave out good processes.
 */
function told({ candidates, weights, width, rows, scores, scoresOf, unseen }: Weighed): OutOfFold {
  const last = candidates.length - 1;
  const ofModel = weightedSum(scores, weights);
  const found = weights[last] > 0 ? unseen?.() : undefined;
  if (found === undefined) {
    return { rows, width, scores: ofModel, ofModel, candidates, weights };
  }
  const process = { ...candidates[last], work: candidates[last].work + found.work };
  return {
    rows,
    width,
    scores: weightedSum([...scores.slice(0, last), scoresOf(found.parts)], weights),
    ofModel,
    candidates: [...candidates.slice(0, last), process],
    weights,
  };
}

/** Drops the trees of a part that were only grown to score held-out rows. */
function trimmed(part: Part, { plan }: PreparedFit): Part {
  return part.kind === 'votes'
    ? { ...part, trees: keptTrees(part.trees, plan.randomised?.scored ?? 1) }
    : part;
}

/** Every n-th row of very many. */
function stackInput(
  prepared: PreparedFit,
  rows: Int32Array,
  scores: Float64Array[],
  width: number,
): StackInput {
  const step = Math.ceil(rows.length / STACKING.rows);
  const chosen = Int32Array.from({ length: Math.floor((rows.length + step - 1) / step) }, (_, i) => i * step);
  const regression = prepared.task === 'regression';
  const target = regression ? prepared.values : prepared.codes;
  return {
    scores: scores.map((one) => {
      const out = new Float64Array(chosen.length * width);
      chosen.forEach((row, i) => {
        out.set(one.subarray(row * width, (row + 1) * width), i * width);
      });
      return out;
    }),
    width,
    target: Float64Array.from(chosen, (i) => target[rows[i]]),
    regression,
  };
}

function lengthOf(lists: { length: number }[]): number {
  return lists.reduce((sum, list) => sum + list.length, 0);
}

/** Concatenates lists into `out`. */
function join<List extends Float64Array | Int32Array>(lists: List[], out: List): List {
  let at = 0;
  for (const list of lists) {
    out.set(list, at);
    at += list.length;
  }
  return out;
}

/** Calibrates the ensemble's scores to probabilities, and reports on them. */
function finishClassification(
  prepared: PreparedFit,
  folds: FoldResult[],
  members: Member[],
  outOfFold: OutOfFold,
): Model {
  const { settings, codes, classes } = prepared;
  const count = classes.length;
  const actual = outOfFold.rows.map((row) => codes[row]);
  const { width, scores } = outOfFold;
  const priors = new Float64Array(count);
  for (const code of codes) {
    priors[code] += 1 / codes.length;
  }
  const calibration: Calibration = {
    ...calibrate(outOfFold, actual, priors),
    priors,
    averageScores: settings.averageScores,
    softmaxTemperature: settings.temperature ?? 1,
    balance: settings.balance,
  };
  const probas = probabilities(scores, width, count, calibration.temperature);
  mixWithPriors(probas, calibration);
  applyTemperature(probas, calibration);
  if (settings.balance) {
    balance(probas, priors);
  }
  const thresholds = findThresholds(probas, actual, classes, settings.costs);
  const trivial = Float64Array.from({ length: actual.length * count }, (_, i) => priors[i % count]);
  const sample = sampleOf(prepared, outOfFold);
  const sampleCodes = sample.map((row) => codes[row]);
  const lossesOf = (table: EncodedTable, copies: number) => {
    const own = heldOutScores(members, holders(prepared, sample, copies), table);
    const p = probabilities(own, width, count, calibration.temperature);
    mixWithPriors(p, calibration);
    return inCopies(p, copies).map((one) => logLoss(one, sampleCodes, count));
  };
  const losses = rowLogLosses(probas, actual, count);
  const heldOut: ScoredRows = {
    rows: outOfFold.rows,
    target: actual,
    width: count,
    error: (i, k) => (actual[i] === k ? 1 : 0) - probas[i * count + k],
  };
  const together = rowsTogether(prepared, heldOut);
  const report = makeReport(prepared, folds, members, {
    scores: {
      ...scoreProbabilities(probas, actual, count),
      ...logLossRange(losses, actual, (share) => -log(share), together),
    },
    baseline: scoreProbabilities(trivial, actual, count),
    curves: classCurves({
      labels: classes,
      codes: actual,
      probability: (row, of) => probas[row * count + of],
    }),
    heldOut,
    together,
    losses,
    thresholds,
    importance: importanceOf(prepared, folds, members, { ...outOfFold, sample, lossesOf }),
    candidates: outOfFold.candidates,
    extraWork: 0,
  });
  return {
    threshold: chosenThreshold(thresholds, classes, settings.threshold),
    ...commonFields(prepared, members, report),
    calibration,
    residuals: undefined,
    borders: undefined,
  };
}

function chosenThreshold(
  thresholds: Thresholds | undefined,
  classes: Label[],
  wish: LearnerSettings['threshold'],
): Model['threshold'] {
  if (thresholds === undefined || wish === undefined) {
    return undefined;
  }
  const at = typeof wish === 'number' ? wish : thresholds[wish]?.at;
  return at === undefined ? undefined : { of: classes.indexOf(thresholds.label), at };
}

/** Calibrates on the out-of-fold scores, or on every n-th row of very many. */
function calibrate(
  { scores, width }: OutOfFold,
  codes: Int32Array,
  priors: Float64Array,
): Pick<Calibration, 'temperature' | 'noise'> {
  const step = Math.ceil(codes.length / STACKING.rows);
  if (step <= 1) {
    return fitCalibration(scores, codes, width, priors);
  }
  const chosen = codes.filter((_, i) => i % step === 0);
  const own = new Float64Array(chosen.length * width);
  chosen.forEach((_, i) => own.set(scores.subarray(i * step * width, (i * step + 1) * width), i * width));
  return fitCalibration(own, chosen, width, priors);
}

/** What the distribution of residuals is learned from, besides `prepared`. Structured-cloneable. */
export type ResidualTask = Pick<ResidualInput, 'rows' | 'predicted' | 'residuals'>;

/** A model that still lacks the distribution of its residuals, which another thread may learn meanwhile. */
interface StackedFit {
  /** What `learnResiduals` takes; undefined for classification. */
  residuals: ResidualTask | undefined;
  /** Reports what does not depend on the residuals, so that less is left for `finish`. */
  reportAhead: () => void;
  /** @param fit what `learnResiduals` makes of `residuals` */
  finish: (fit: ResidualFit | undefined) => Model;
}

/** Learns the distribution of residuals around the ensemble's mean: the same bits wherever it runs. */
export function learnResiduals(prepared: PreparedFit, task: ResidualTask): ResidualFit {
  const { columns, specs, clusters, settings } = prepared;
  return fitResiduals({ ...task, columns, specs, clusters }, new Random(settings.seed, STREAM.residuals));
}

/** A regression model to be finished with the distribution of its residuals. */
function stackedRegression(
  prepared: PreparedFit,
  folds: FoldResult[],
  members: Member[],
  outOfFold: OutOfFold,
): StackedFit {
  const { values } = prepared;
  const { rows, scores } = outOfFold;
  const actual = Float64Array.from(rows, (row) => values[row]);
  const residuals = actual.map((value, i) => value - scores[i]);
  const sample = sampleOf(prepared, outOfFold);
  const lossesOf = (table: EncodedTable, copies: number) =>
    inCopies(heldOutScores(members, holders(prepared, sample, copies), table), copies).map((one) =>
      one.reduce((sum, score, i) => sum + square(score - values[sample[i]]) / sample.length, 0),
    );
  let importance: FeatureImportance[] | undefined;
  const reportAhead = () => {
    importance ??= importanceOf(prepared, folds, members, { ...outOfFold, sample, lossesOf });
    return importance;
  };
  return {
    residuals: {
      rows,
      predicted: outOfFold.ofModel,
      residuals: widened(outOfFold.ofModel, actual, residuals),
    },
    reportAhead,
    finish: (fit) =>
      finishRegression(prepared, folds, members, {
        outOfFold,
        actual,
        residuals,
        fit: fit!,
        importance: reportAhead(),
      }),
  };
}

/**
 * What the model's own scores leave of the target, as wide as what is left where no kernel has seen the rows. Those errors
 * themselves are partly of kernels that the model does not have, and would move its mean.
 */
function widened(scores: Float64Array, actual: Float64Array, residuals: Float64Array): Float64Array {
  const own = actual.map((value, i) => value - scores[i]);
  const size = (errors: Float64Array) =>
    sorted(errors.map(Math.abs))[Math.floor(RESIDUALS.compared * (errors.length - 1))];
  const factor = size(own) > 0 ? Math.max(1, size(residuals) / size(own)) : 1;
  return own.map((error) => factor * error);
}

interface Learned {
  outOfFold: OutOfFold;
  /** The scaled target of the held-out rows, and what the ensemble leaves of it. */
  actual: Float64Array;
  residuals: Float64Array;
  fit: ResidualFit;
  importance: FeatureImportance[];
}

function finishRegression(
  prepared: PreparedFit,
  folds: FoldResult[],
  members: Member[],
  { outOfFold, actual, residuals, fit, importance }: Learned,
): Model {
  const { center, scale } = prepared;
  const { rows, scores } = outOfFold;
  const growth = prepared.growth && { ...prepared.growth, smearing: smearingOf(fit.forest, scale) };
  const own = (scaled: Float64Array, at: Int32Array, factor?: number) =>
    scaled.map((value, i) => inUnits(prepared, value, at[i], factor));
  const truths = own(actual, rows);
  const predicted = own(scores, rows, growth?.smearing);
  const heldOut = { rows, target: actual, width: 1, error: (i: number) => residuals[i] };
  const together = rowsTogether(prepared, heldOut);
  const measured = {
    ...errorsOf(predicted, truths),
    ...rmseRange(
      truths.map((truth, i) => truth - predicted[i]),
      together,
    ),
  };
  // Converts errors of logarithms to units as it does absolute errors.
  const unit = growth === undefined ? scale : measured.mae! / meanOf(residuals.map(Math.abs));
  measured.pinball = fit.pinball * unit;
  measured.coverage_80 = fit.coverage80;
  const baseline = errorsOf(
    new Float64Array(rows.length).fill(growth === undefined ? center : meanOf(truths)),
    truths,
  );
  const order = tableOrder(rows);
  const inTable = order.map((i) => rows[i]);
  const ordered = (scaled: Float64Array, factor?: number) =>
    own(
      Float64Array.from(order, (i) => scaled[i]),
      inTable,
      factor,
    );
  const newest = newestLevel(prepared);
  const report = makeReport(prepared, folds, members, {
    scores: timesFactor(measured, newest?.factor),
    baseline: timesFactor(baseline, newest?.factor),
    growth: newest,
    curves: numberCurves(ordered(actual), ordered(scores, growth?.smearing)),
    heldOut,
    together,
    // Errors that grow with the level are not comparable.
    losses: growth === undefined ? residuals.map((one) => Math.abs(one) * scale) : undefined,
    importance,
    candidates: outOfFold.candidates,
    extraWork: fit.work,
  });
  const borders = bucketBorders(prepared, fit.forest.atoms);
  return {
    ...commonFields(prepared, members, report),
    threshold: undefined,
    calibration: undefined,
    ...(growth && { growth }),
    residuals: fit.forest,
    meanOfDistribution: true,
    borders,
    floor: bucketFloor(prepared, borders),
  };
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

/** The fields of a model that do not depend on the task. Values of the background are kept only where a member needs them. */
function commonFields(prepared: PreparedFit, members: Member[], report: FitReport) {
  const { task, classes, features, encoders, center, scale, background, centers } = prepared;
  const linear = members.flatMap(({ parts }) => parts).filter((part) => part.kind === 'linear');
  const asNumbers = new Set([
    ...linear.flatMap(({ tables }) => Array.from(tables.lines?.columns ?? [])),
    ...members.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'gaussian' ? Array.from(part.gaussian.kernel.columns) : [])),
    ),
  ]);
  return {
    task,
    classes,
    features,
    encoders,
    members,
    report,
    center,
    scale,
    background: {
      ...background,
      numbers: background.numbers?.map((values, column) => (asNumbers.has(column) ? values : undefined)),
    },
    ...(linear.length > 0 && { centers }),
  };
}

/** The rows that folds held out, each scored by the fold that did not learn from it. */
interface OutOfFold {
  rows: Int32Array;
  width: number;
  /** Rows × width: the weighted sum of the candidates' scores. */
  scores: Float64Array;
  /** The same by the model's own kernel, which has seen the rows. */
  ofModel: Float64Array;
  candidates: LearnedCandidate[];
  /** Their weights. */
  weights: Float64Array;
}

/** Rows for permutation importance: at most 1,000 of those held out. */
function sampleOf(prepared: PreparedFit, { rows }: OutOfFold): Int32Array {
  const random = new Random(prepared.settings.seed, STREAM.importance);
  return random.sample(rows.length, 1000).map((i) => rows[i]);
}

/** The member that held out each of the rows, repeated for each copy of them. */
function holders({ part }: PreparedFit, rows: Int32Array, copies: number): Uint8Array {
  return Uint8Array.from({ length: rows.length * copies }, (_, i) => part[rows[i % rows.length]]);
}

/** Splits the results of all copies. */
function inCopies(values: Float64Array, copies: number): Float64Array[] {
  const length = values.length / copies;
  return Array.from({ length: copies }, (_, copy) => values.subarray(copy * length, (copy + 1) * length));
}
