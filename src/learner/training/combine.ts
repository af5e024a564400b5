import { classCurves, numberCurves } from '../../metrics/curves';
import { logLossRange, rmseRange } from '../../metrics/loss-range';
import type { ScoredRows } from '../../metrics/neighbours';
import { errorsOf } from '../../metrics/regression';
import { timesFactor } from '../../metrics/scores';
import { findThresholds, type Thresholds } from '../../metrics/thresholds';
import {
  type Calibration,
  logLoss,
  mixWithPriors,
  probabilities,
  rowLogLosses,
  toProbabilities,
} from '../calibration/calibrate';
import { fitResiduals, type ResidualFit, type ResidualInput } from '../calibration/residuals';
import type { EncodedTable } from '../features/encode';
import { log, square } from '../math/numeric';
import { sorted } from '../math/order';
import { Random } from '../math/random';
import { heldOutScores, inUnits, type Member, type Model, numberColumns, type Part } from '../model/model';
import { RESIDUALS } from '../tuned';
import type { FeatureImportance, FitReport, Label } from '../types';
import { type FoldResult, keptTrees } from './fold';
import type { LearnerSettings } from './options';
import { type PreparedFit, STREAM } from './prepare';
import {
  bucketBorders,
  bucketFloor,
  type Combined,
  findSmearing,
  makeReport,
  measureImportance,
  newestLevel,
  rowsTogether,
  tableOrder,
} from './report';
import { scoreProbabilities, weightedSum } from './stacking';
import { calibrate, type OutOfFold, told, toldProbabilities, weigh, type Weighed } from './weigh';

/**
 * Combines all folds of `prepared` (in any order) into a model, but for the distribution of its residuals: weighs the candidates
 * by their out-of-fold scores (stacking), calibrates the result on the same scores, and reports on it.
 */
export function stack(prepared: PreparedFit, results: FoldResult[]): StackedFit {
  const folds = [...results].sort((a, b) => a.fold - b.fold);
  const weighed = weigh(prepared, folds);
  const combined = { prepared, folds, members: makeMembers(prepared, weighed) };
  if (prepared.task === 'classification') {
    return {
      residuals: undefined,
      reportAhead: () => undefined,
      finish: () => finishClassification(combined, weighed),
    };
  }
  return stackedRegression(combined, told(prepared, weighed));
}

/** What each fold adds to the model: all that counts of its candidates. */
function makeMembers(prepared: PreparedFit, { candidates, weights, width }: Weighed): Member[] {
  const folds = candidates[0].parts.length;
  return Array.from({ length: folds }, (_, m): Member => {
    const parts = candidates.flatMap((candidate, c) =>
      candidate.parts[m].map((part) => ({ ...trimmed(part, prepared), weight: weights[c] })),
    );
    return { weight: 1 / folds, width, parts: parts.filter((part) => part.weight > 0) };
  });
}

/** Drops the trees of a part that were only grown to score held-out rows. */
function trimmed(part: Part, { plan }: PreparedFit): Part {
  return part.kind === 'votes'
    ? { ...part, trees: keptTrees(part.trees, plan.randomised?.scored ?? 1) }
    : part;
}

/** Calibrates the ensemble's scores to probabilities, and reports on them. */
function finishClassification(combined: Combined, weighed: Weighed): Model {
  const { prepared, members } = combined;
  const { settings, codes, classes } = prepared;
  const count = classes.length;
  const actual = weighed.rows.map((row) => codes[row]);
  const { width } = weighed;
  const scores = weightedSum(weighed.scores, weighed.weights);
  const priors = new Float64Array(count);
  for (const code of codes) {
    priors[code] += 1 / codes.length;
  }
  const calibration: Calibration = {
    ...calibrate(scores, width, actual, priors),
    priors,
    averageScores: settings.averageScores,
    softmaxTemperature: settings.temperature ?? 1,
    balance: settings.balance,
  };
  const ofModel = toProbabilities(scores, width, calibration);
  const thresholds = findThresholds(ofModel, actual, classes, settings.costs);
  const probas = toldProbabilities(prepared, weighed, calibration, ofModel);
  const trivial = Float64Array.from({ length: actual.length * count }, (_, i) => priors[i % count]);
  const sample = drawSample(prepared, weighed.rows);
  const sampleCodes = sample.map((row) => codes[row]);
  const lossesOf = (table: EncodedTable, copies: number) => {
    const own = heldOutScores(members, holders(prepared, sample, copies), table);
    const p = probabilities(own, width, count, calibration.temperature);
    mixWithPriors(p, calibration);
    return inCopies(p, copies).map((one) => logLoss(one, sampleCodes, count));
  };
  const losses = rowLogLosses(probas, actual, count);
  const heldOut: ScoredRows = {
    rows: weighed.rows,
    target: actual,
    width: count,
    error: (i, k) => (actual[i] === k ? 1 : 0) - probas[i * count + k],
  };
  const together = rowsTogether(prepared, heldOut);
  const report = makeReport(combined, {
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
    importance: measureImportance(combined, { ...weighed, sample, lossesOf }),
    candidates: weighed.candidates,
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
function stackedRegression(combined: Combined, outOfFold: OutOfFold): StackedFit {
  const { prepared, members } = combined;
  const { values } = prepared;
  const { rows } = outOfFold;
  const actual = Float64Array.from(rows, (row) => values[row]);
  const sample = drawSample(prepared, rows);
  const lossesOf = (table: EncodedTable, copies: number) =>
    inCopies(heldOutScores(members, holders(prepared, sample, copies), table), copies).map((one) =>
      one.reduce((sum, score, i) => sum + square(score - values[sample[i]]) / sample.length, 0),
    );
  let importance: FeatureImportance[] | undefined;
  const reportAhead = () => {
    importance ??= measureImportance(combined, { ...outOfFold, sample, lossesOf });
    return importance;
  };
  return {
    residuals: {
      rows,
      predicted: outOfFold.ofModel,
      residuals: widened(outOfFold, actual),
    },
    reportAhead,
    finish: (fit) => finishRegression(combined, { outOfFold, actual, fit: fit!, importance: reportAhead() }),
  };
}

/**
 * What the model's own scores leave of the target, as wide as what is left where no kernel has seen the rows. Those errors
 * themselves are partly of kernels that the model does not have, and would move its mean.
 */
function widened({ ofModel, unseen }: OutOfFold, actual: Float64Array): Float64Array {
  const own = actual.map((value, i) => value - ofModel[i]);
  const others = actual.map((value, i) => value - unseen[i]);
  const size = (errors: Float64Array) =>
    sorted(errors.map(Math.abs))[Math.floor(RESIDUALS.compared * (errors.length - 1))];
  const factor = size(own) > 0 ? Math.max(1, size(others) / size(own)) : 1;
  return own.map((error) => factor * error);
}

/**
 * Below this part of the RMSE of a constant there is no noise, but errors of the model itself. Later rows have less of them: the
 * mean residual around a held-out row is of the third of the trees that had not seen it (docs/benchmarks/told.md, "The mean that
 * is predicted"). So the range begins lower.
 */
const NO_NOISE = 1e-4;

interface Learned {
  outOfFold: OutOfFold;
  /** The scaled target of the held-out rows. */
  actual: Float64Array;
  fit: ResidualFit;
  importance: FeatureImportance[];
}

function finishRegression(combined: Combined, { outOfFold, actual, fit, importance }: Learned): Model {
  const { prepared, members } = combined;
  const { center, scale } = prepared;
  const { rows } = outOfFold;
  const growth = prepared.growth && { ...prepared.growth, smearing: findSmearing(fit.forest, scale) };
  // What is predicted is the mean of the distribution. That of a change that grows with its level is in `smearing`.
  const scores = outOfFold.scores.map((score, i) => score + (growth === undefined ? fit.shifts[i] : 0));
  const residuals = actual.map((value, i) => value - scores[i]);
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
  const baseline = errorsOf(
    new Float64Array(rows.length).fill(growth === undefined ? center : average(truths)),
    truths,
  );
  if (measured.loss_low !== undefined && measured.rmse! < NO_NOISE * baseline.rmse!) {
    measured.loss_low /= Math.sqrt(members.length);
  }
  // Converts errors of logarithms to units as it does absolute errors.
  const unit = growth === undefined ? scale : measured.mae! / average(residuals.map(Math.abs));
  measured.pinball = fit.pinball * unit;
  measured.coverage_80 = fit.coverage80;
  const order = tableOrder(rows);
  const inTable = order.map((i) => rows[i]);
  const ordered = (scaled: Float64Array, factor?: number) =>
    own(
      Float64Array.from(order, (i) => scaled[i]),
      inTable,
      factor,
    );
  const newest = newestLevel(prepared);
  const report = makeReport(combined, {
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

function average(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

/** The fields of a model that do not depend on the task. Values of the background are kept only where a member needs them. */
function commonFields(prepared: PreparedFit, members: Member[], report: FitReport) {
  const { task, classes, features, encoders, center, scale, background, centers } = prepared;
  const parts = members.flatMap((member) => member.parts);
  const asNumbers = new Set(parts.flatMap((part) => Array.from(numberColumns(part))));
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
    ...(parts.some(({ kind }) => kind === 'linear') && { centers }),
  };
}

/** Rows for permutation importance: at most 1,000 of those held out. */
function drawSample(prepared: PreparedFit, rows: Int32Array): Int32Array {
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
