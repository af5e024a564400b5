import { classCurves } from '../../../metrics/curves';
import { logLossRange } from '../../../metrics/loss-range';
import type { ScoredRows } from '../../../metrics/neighbours';
import { findThresholds, type Thresholds } from '../../../metrics/thresholds';
import {
  applyTemperature,
  balance,
  type Calibration,
  fitCalibration,
  logLoss,
  mixWithPriors,
  probabilities,
  rowLogLosses,
} from '../../calibration/calibrate';
import type { EncodedTable } from '../../features/encode';
import { log } from '../../math/numeric';
import { heldOutScores, type Member } from '../../model/members';
import type { Model } from '../../model/model';
import type { Label } from '../../types';
import type { FoldResult } from '../candidates/fold';
import type { LearnerSettings } from '../plan/options';
import type { PreparedFit } from '../preparation/prepare';
import { importanceOf, makeReport, rowsTogether } from '../report/report';
import { scoreProbabilities } from '../stacking/metrics';
import { commonFields } from './common-fields';
import { holders, inCopies, MAX_SAMPLED, type OutOfFold, sampleOf } from './out-of-fold';

/** Calibrates the ensemble's scores to probabilities, and reports on them. */
export function finishClassification(
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
      ...logLossRange(losses, actual, count, (share) => -log(share), together),
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
  const step = Math.ceil(codes.length / MAX_SAMPLED);
  if (step <= 1) {
    return fitCalibration(scores, codes, width, priors);
  }
  const chosen = codes.filter((_, i) => i % step === 0);
  const own = new Float64Array(chosen.length * width);
  chosen.forEach((_, i) => own.set(scores.subarray(i * step * width, (i * step + 1) * width), i * width));
  return fitCalibration(own, chosen, width, priors);
}
