import { numberCurves } from '../../../metrics/curves';
import { errorsOf } from '../../../metrics/regression';
import { timesFactor } from '../../../metrics/scores';
import { fitResiduals } from '../../calibration/residuals';
import type { EncodedTable } from '../../features/encode';
import { square } from '../../math/numeric';
import { Random } from '../../math/random';
import { inUnits } from '../../model/growth';
import { heldOutScores, type Member } from '../../model/members';
import type { Model } from '../../model/model';
import type { FoldResult } from '../candidates/fold';
import { type PreparedFit, STREAM } from '../preparation/prepare';
import { bucketBorders, newestLevel, smearingOf } from '../report/in-units';
import { makeReport, tableOrder } from '../report/report';
import { commonFields } from './common-fields';
import { holders, inCopies, type OutOfFold, sampleOf } from './out-of-fold';

/** Learns the distribution of residuals around the ensemble's mean, and reports on both. */
export function finishRegression(
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
  // Converts errors of logarithms to units as it does absolute errors.
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
    // Errors that grow with the level are not comparable.
    losses: growth === undefined ? residuals.map((one) => Math.abs(one) * scale) : undefined,
    lossesOf,
    sample,
    weights: outOfFold.weights,
    extraWork: outOfFold.work + fit.work,
  });
  return {
    ...commonFields(prepared, members, report),
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
