import assert from 'node:assert/strict';

import {
  explain,
  LearnerError,
  loadModel,
  type Model,
  predict,
  type RegressionResult,
  saveModel,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import { normals, numbers, regress } from './tables';

const ROWS = 260;
const FITTED = 150;
const inTime = { BLOCKS: 25, EMBARGO: 3, RELATIVE_TO: 'now' };

/** A value a month, that grows and has seasons, and what is known of it. */
function monthly(noise: number, { growth = 0.012, base = 100 } = {}) {
  const random = normals(ROWS + 30, 3);
  const season = (month: number) => 0.2 * Math.sin((2 * Math.PI * month) / 12);
  const all = Float64Array.from({ length: ROWS + 30 }, (_, month) =>
    growth > 0
      ? base * Math.exp(growth * month + season(month) + noise * random[month]!)
      : base * (1 + season(month) + noise * random[month]!),
  );
  const at = Array.from({ length: ROWS }, (_, row) => row + 12);
  const column = (of: (month: number) => number) => Float64Array.from(at, of);
  return {
    columns: {
      now: column((month) => all[month]!),
      'change 1': column((month) => all[month]! - all[month - 1]!),
      'a year before': column((month) => all[month - 9]! - all[month]!),
      month: column((month) => (month + 3) % 12),
    },
    changes: column((month) => all[month + 3]! - all[month]!),
  };
}

type Table = ReturnType<typeof monthly>;

const part = ({ columns }: Table, from: number, to: number) =>
  Object.entries(columns).map(([name, values]) => numbers(name, values.slice(from, to)));

const fit = (table: Table, config: TrainOptions['inference_config'] = inTime): Model =>
  trainModel(
    regress(part(table, 0, FITTED), table.changes.slice(0, FITTED), {
      n_estimators: 5,
      inference_config: config,
    }),
  );

/** Of the rows after those fitted: the mean absolute error, and the part within the 80 % band. */
function later(model: Model, table: Table) {
  const truths = table.changes.slice(FITTED);
  const result = predict(model, part(table, FITTED, ROWS), truths.length) as RegressionResult;
  const [means, [low, high]] = [result.mean(), result.quantiles([0.1, 0.9])];
  const share = (of: (truth: number, row: number) => number) =>
    truths.reduce((sum, truth, row) => sum + of(truth, row) / truths.length, 0);
  return {
    mae: share((truth, row) => Math.abs(truth - means[row]!)),
    covered: share((truth, row) => (truth >= low![row]! && truth <= high![row]! ? 1 : 0)),
  };
}

describe('learner: changes that grow with their level', () => {
  const growing = monthly(0.03);
  const model = fit(growing);

  it('are learned in percent: far nearer to what comes, in bands that hold', () => {
    assert.equal(model.report.growth?.column, 'now');
    const plain = fit(growing, { BLOCKS: 25, EMBARGO: 3 });
    assert.equal(plain.report.growth, undefined);
    const [own, other] = [later(model, growing), later(plain, growing)];
    assert.ok(own.mae < 0.7 * other.mae, `${own.mae} against ${other.mae}`);
    assert.ok(own.covered > 0.65 && own.covered < 0.95, String(own.covered));
    assert.ok(other.covered < 0.6, String(other.covered));
  });

  it('are told as they are at the level of the newest rows', () => {
    const { scores, baseline, growth } = model.report;
    assert.ok(growth!.factor > 1.5 && growth!.factor < 3, String(growth!.factor));
    const own = Array.from(growing.changes.slice(0, FITTED));
    const mean = own.reduce((sum, value) => sum + value / FITTED, 0);
    const mae = own.reduce((sum, value) => sum + Math.abs(value - mean) / FITTED, 0);
    assert.ok(Math.abs(baseline.mae! / mae / growth!.factor - 1) < 0.05, `${baseline.mae} of ${mae}`);
    assert.ok(scores.mae! < 0.6 * baseline.mae! && scores.pinball! < scores.mae!);
    assert.ok(scores.coverage_80! > 0.7 && scores.coverage_80! < 0.9);
  });

  it('are learned as they are where that is not clear', () => {
    const isPlain = (table: Table, config?: TrainOptions['inference_config']) =>
      assert.equal(fit(table, config).report.growth, undefined);
    isPlain(monthly(0.03, { growth: 0 }));
    isPlain(monthly(0.03, { base: -100 }));
    isPlain(growing, { RELATIVE_TO: 'now' });
    const { columns, changes } = monthly(0.03);
    // The level grows, its changes do not.
    isPlain({ columns, changes: normals(changes.length, 9).map((value) => 5 * value) });
    const day = Float64Array.from(columns.now, (_, hour) => 5 + 4.5 * Math.sin((2 * Math.PI * hour) / 24));
    isPlain({ columns: { ...columns, now: day }, changes: day.map((value, i) => day[i + 3]! - value || 0) });
  });

  it('may be named by the number of their column, which must be there', () => {
    assert.deepEqual(fit(growing, { ...inTime, RELATIVE_TO: 0 }).report.growth, model.report.growth);
    assert.throws(() => fit(growing, { ...inTime, RELATIVE_TO: 'then' }), LearnerError);
  });

  it('have answers at any level, which are the same from a file, and quantiles that do not cross', () => {
    const level = [NaN, 0, -5, Infinity, 1e300, 200];
    const features = part(growing, 0, level.length).slice(1);
    const ask = (of: Model) => {
      const result = predict(of, [numbers('now', level), ...features], level.length) as RegressionResult;
      return [result.mean(), ...result.quantiles([0.1, 0.5, 0.9])] as const;
    };
    const [mean, low, middle, high] = ask(model);
    assert.ok([...mean, ...low!, ...high!].every(Number.isFinite), String(mean));
    level.forEach((_, row) => {
      assert.ok(low![row]! <= middle![row]! && middle![row]! <= high![row]!);
    });
    assert.deepEqual(ask(loadModel(saveModel(model)))[0], mean);
  });

  it('have a full distribution that agrees with its quantiles, but for its floor', () => {
    const features = part(growing, 140, 150);
    const result = predict(model, features, 10) as RegressionResult;
    const { borders, logits } = result.full();
    const [middle] = result.quantiles([0.5]);
    const { weight } = model.floor!;
    for (let row = 0; row < 10; row++) {
      const at = borders.findIndex((border) => border > middle![row]!);
      const before = Math.exp(logits[row * (borders.length - 1) + at - 1]!);
      let below = 0;
      for (let b = 0; b < at; b++) {
        below += Math.exp(logits[row * (borders.length - 1) + b]!);
      }
      assert.ok(below >= 0.5 - weight && below - before <= 0.5 + weight, `${below} with ${before}`);
    }
  });

  it('are explained in units: effects and base add up to the mean', () => {
    const features = part(growing, 100, ROWS);
    const result = predict(model, features, ROWS - 100);
    const { bases, effects, predictions, groups } = explain(model, features, result);
    predictions.forEach((prediction, row) => {
      const own = effects.subarray(row * groups.length, (row + 1) * groups.length);
      const sum = own.reduce((total, effect) => total + effect, bases[row]!);
      assert.ok(
        Math.abs(sum - prediction) < 1e-9 * Math.max(1, Math.abs(prediction)),
        `${sum} ${prediction}`,
      );
    });
    // What is usual is told in the units of the column.
    const { low, high } = model.background!;
    assert.ok(low[1]! < -5 && high[1]! > 5, `${low[1]} to ${high[1]}`);
  });
});
