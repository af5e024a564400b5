import { classCurves, numberCurves } from '../../metrics/curves';
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
import { fitResiduals } from '../calibration/residuals';
import type { EncodedTable } from '../features/encode';
import { square } from '../math/numeric';
import { Random } from '../math/random';
import { inUnits } from '../model/growth';
import { heldOutScores, type Member, type Part } from '../model/members';
import type { Model } from '../model/model';
import type { FitReport, Label } from '../types';
import { candidatesOf, sumOfParts } from './candidates/candidates';
import { completeRuns, type FoldResult, foldRows } from './candidates/fold';
import { gaussianOf } from './candidates/gaussian';
import { keptTrees } from './candidates/randomised';
import type { LearnerSettings } from './plan/options';
import { type PreparedFit, STREAM } from './preparation/prepare';
import { bucketBorders, newestLevel, smearingOf } from './report/in-units';
import { makeReport, tableOrder } from './report/report';
import { scoreProbabilities } from './stacking/metrics';
import { chooseWeights, type StackInput } from './stacking/stacking';
import { leastLeft } from './stacking/wild-errors';

/** The rows that folds held out, each scored by the fold that did. */
interface OutOfFold {
  rows: Int32Array;
  width: number;
  /** rows × width, row-major: the weighted sum of the candidates' scores. */
  scores: Float64Array;
  /** Weight of each candidate. */
  weights: Float64Array;
  /** Of candidates that no fold learned by itself. */
  work: number;
}

/** With fewer rows too few are held out to tell which candidate is better; fewer members hardly make a mean. */
const FEWEST_SHARP_ROWS = 2000;
const FEWEST_SHARP_MEMBERS = 3;

/** Combines all folds of `prepared` (in any order) into a model, with its calibration and report. */
export function combine(prepared: PreparedFit, results: FoldResult[]): Model {
  const folds = [...results].sort((a, b) => a.fold - b.fold);
  const candidates = candidatesOf(prepared, folds);
  const heldOut = folds.map((fold) => foldRows(prepared, fold.fold).heldOut);
  const scoresOf = (parts: Part[][]) => {
    const scores = parts.map((own, m) => sumOfParts(own, prepared, heldOut[m]));
    return join(scores, new Float64Array(lengthOf(scores)));
  };
  const scores = candidates.map(scoresOf);
  const rows = join(heldOut, new Int32Array(lengthOf(heldOut)));
  const left = () =>
    leastLeft(
      scores,
      Float64Array.from(rows, (row) => prepared.values[row]),
    );
  const gaussian = gaussianOf(prepared, folds, left);
  if (gaussian) {
    candidates.push(gaussian.parts);
    scores.push(scoresOf(gaussian.parts));
  }
  const width = candidates[0][0][0].base.length;
  const { metric } = prepared.settings.thinking ?? {};
  // The candidate for little noise comes last, and without thinking too.
  const { usual, boosts } = prepared.plan;
  const runs = completeRuns(folds);
  const extra = runs.map((run) => run >= usual && run < boosts.length);
  const lowNoise = runs.indexOf(boosts.length);
  const isSharp = prepared.rows >= FEWEST_SHARP_ROWS && folds.length >= FEWEST_SHARP_MEMBERS;
  // Randomised trees come after the boosted candidates.
  const costly = folds.every((fold) => fold.randomised) ? extra.length : undefined;
  const input = {
    ...stackInput(prepared, rows, scores, width),
    extra,
    costly,
    smooth: gaussian !== undefined,
    sharp: lowNoise >= 0 && isSharp ? lowNoise : undefined,
  };
  const weights = chooseWeights(input, prepared.classes.length, metric);
  const members = folds.map((_, m): Member => {
    const parts = candidates.flatMap((candidate, c) =>
      candidate[m].map((part) => ({ ...kept(part, prepared), weight: weights[c] })),
    );
    return { weight: 1 / folds.length, width, parts: parts.filter((part) => part.weight > 0) };
  });
  const mixed = new Float64Array(rows.length * width);
  scores.forEach((one, c) => {
    for (let i = 0; i < mixed.length; i++) {
      mixed[i] += weights[c] * one[i];
    }
  });
  const outOfFold = { rows, width, scores: mixed, weights, work: gaussian?.work ?? 0 };
  return prepared.task === 'classification'
    ? finishClassification(prepared, folds, members, outOfFold)
    : finishRegression(prepared, folds, members, outOfFold);
}

/** What a model keeps of a part. */
function kept(part: Part, { plan }: PreparedFit): Part {
  return part.kind === 'votes'
    ? { ...part, trees: keptTrees(part.trees, plan.randomised?.scored ?? 1) }
    : part;
}

const MAX_STACKED = 20_000;

/** Every n-th row: a sample is enough to fit a few weights. */
function stackInput(
  prepared: PreparedFit,
  rows: Int32Array,
  scores: Float64Array[],
  width: number,
): StackInput {
  const step = Math.ceil(rows.length / MAX_STACKED);
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

/** Writes the lists to `out`, one after the other. */
function join<List extends Float64Array | Int32Array>(lists: List[], out: List): List {
  let at = 0;
  for (const list of lists) {
    out.set(list, at);
    at += list.length;
  }
  return out;
}

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
  const report = makeReport(prepared, folds, members, {
    scores: scoreProbabilities(probas, actual, count),
    baseline: scoreProbabilities(trivial, actual, count),
    curves: classCurves({
      labels: classes,
      codes: actual,
      probability: (row, of) => probas[row * count + of],
    }),
    heldOut: {
      rows: outOfFold.rows,
      target: actual,
      width: count,
      error: (i, k) => (actual[i] === k ? 1 : 0) - probas[i * count + k],
    },
    losses: rowLogLosses(probas, actual, count),
    thresholds,
    lossesOf,
    sample,
    weights: outOfFold.weights,
    extraWork: outOfFold.work,
  });
  return {
    threshold: chosenThreshold(thresholds, classes, settings.threshold),
    ...commonParts(prepared, members, report),
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

/** Calibrates on the out-of-fold scores, of every n-th row where there are very many. */
function calibrate(
  { scores, width }: OutOfFold,
  codes: Int32Array,
  priors: Float64Array,
): Pick<Calibration, 'temperature' | 'noise'> {
  const step = Math.ceil(codes.length / MAX_STACKED);
  if (step <= 1) {
    return fitCalibration(scores, codes, width, priors);
  }
  const chosen = codes.filter((_, i) => i % step === 0);
  const own = new Float64Array(chosen.length * width);
  chosen.forEach((_, i) => own.set(scores.subarray(i * step * width, (i * step + 1) * width), i * width));
  return fitCalibration(own, chosen, width, priors);
}

function finishRegression(
  prepared: PreparedFit,
  folds: FoldResult[],
  members: Member[],
  outOfFold: OutOfFold,
): Model {
  const { values, center, scale, settings } = prepared;
  const { rows, scores } = outOfFold;
  const actual = Float64Array.from(rows, (row) => values[row]);
  const residuals = actual.map((value, i) => value - scores[i]);
  const { columns, specs, clusters } = prepared;
  const input = { columns, specs, rows, predicted: scores, residuals, clusters };
  const fit = fitResiduals(input, new Random(settings.seed, STREAM.residuals));
  const growth = prepared.growth && { ...prepared.growth, smearing: smearingOf(fit.forest, scale) };
  const own = (scaled: Float64Array, at: Int32Array, factor?: number) =>
    scaled.map((value, i) => inUnits(prepared, value, at[i], factor));
  const truths = own(actual, rows);
  const measured = errorsOf(own(scores, rows, growth?.smearing), truths);
  // Errors in percent differ in units as absolute errors do.
  const unit = growth === undefined ? scale : measured.mae! / meanOf(residuals.map(Math.abs));
  measured.pinball = fit.pinball * unit;
  measured.coverage_80 = fit.coverage80;
  const baseline = errorsOf(
    new Float64Array(rows.length).fill(growth === undefined ? center : meanOf(truths)),
    truths,
  );
  const sample = sampleOf(prepared, outOfFold);
  const lossesOf = (table: EncodedTable, copies: number) =>
    inCopies(heldOutScores(members, holders(prepared, sample, copies), table), copies).map((one) =>
      one.reduce((sum, score, i) => sum + square(score - values[sample[i]]) / sample.length, 0),
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
    heldOut: { rows, target: actual, width: 1, error: (i) => residuals[i] },
    // Errors that grow with their level are not of one.
    losses: growth === undefined ? residuals.map((one) => Math.abs(one) * scale) : undefined,
    lossesOf,
    sample,
    weights: outOfFold.weights,
    extraWork: outOfFold.work + fit.work,
  });
  return {
    ...commonParts(prepared, members, report),
    threshold: undefined,
    calibration: undefined,
    ...(growth && { growth }),
    residuals: fit.forest,
    borders: bucketBorders(prepared, fit.forest.atoms),
  };
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}

/** Rows for permutation importance: at most 1,000 of those held out. */
function sampleOf(prepared: PreparedFit, { rows }: OutOfFold): Int32Array {
  const random = new Random(prepared.settings.seed, STREAM.importance);
  return random.sample(rows.length, 1000).map((i) => rows[i]);
}

/** Which member held out each of the rows, as often as there are copies of them. */
function holders({ part }: PreparedFit, rows: Int32Array, copies: number): Uint8Array {
  return Uint8Array.from({ length: rows.length * copies }, (_, i) => part[rows[i % rows.length]]);
}

function inCopies(values: Float64Array, copies: number): Float64Array[] {
  const length = values.length / copies;
  return Array.from({ length: copies }, (_, copy) => values.subarray(copy * length, (copy + 1) * length));
}

function commonParts(prepared: PreparedFit, members: Member[], report: FitReport) {
  const { task, classes, features, encoders, center, scale, background, centers } = prepared;
  const linear = members.flatMap(({ parts }) => parts).filter((part) => part.kind === 'linear');
  const along = new Set([
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
      numbers: background.numbers?.map((values, column) => (along.has(column) ? values : undefined)),
    },
    ...(linear.length > 0 && { centers }),
  };
}
