import { numberCurves } from '../../../metrics/curves';
import { rmseRange } from '../../../metrics/loss-range';
import { errorsOf } from '../../../metrics/regression';
import { timesFactor } from '../../../metrics/scores';
import { fitResiduals, type ResidualFit, type ResidualInput } from '../../calibration/residuals';
import type { EncodedTable } from '../../features/encode';
import { square } from '../../math/numeric';
import { Random } from '../../math/random';
import { inUnits } from '../../model/growth';
import { heldOutScores, type Member } from '../../model/members';
import type { Model } from '../../model/model';
import type { FeatureImportance } from '../../types';
import type { FoldResult } from '../candidates/fold';
import { type PreparedFit, STREAM } from '../preparation/prepare';
import { bucketBorders, newestLevel, smearingOf } from '../report/in-units';
import { importanceOf, makeReport, rowsTogether, tableOrder } from '../report/report';
import { commonFields } from './common-fields';
import { holders, inCopies, type OutOfFold, sampleOf } from './out-of-fold';

/** What the distribution of residuals is learned from, besides `prepared`. Structured-cloneable. */
export type ResidualTask = Pick<ResidualInput, 'rows' | 'predicted' | 'residuals'>;

/** A model that still lacks the distribution of its residuals, which another thread may learn meanwhile. */
export interface StackedFit {
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
export function stackedRegression(
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
    residuals: { rows, predicted: scores, residuals },
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
  return {
    ...commonFields(prepared, members, report),
    threshold: undefined,
    calibration: undefined,
    ...(growth && { growth }),
    residuals: fit.forest,
    meanOfDistribution: true,
    borders: bucketBorders(prepared, fit.forest.atoms),
  };
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value / values.length, 0);
}
