import assert from 'node:assert/strict';

import { explain, type Model, predict, type RegressionResult, trainModel } from '../../../dist/src/learner';
import { normals, numbers, regress } from './tables';

const ROWS = 240;
const LEVELS = Array.from({ length: 400 }, (_, i) => (i + 0.5) / 400);

/** Residuals that are skewed where `spread` is large. */
const spread = normals(2 * ROWS, 1).map(Math.abs);
const slope = normals(2 * ROWS, 2);
const noise = normals(2 * ROWS, 3);
const target = slope.map((value, row) => value + spread[row]! * Math.exp(1.2 * noise[row]!));
const part = (from: number, to: number) => [
  numbers('spread', spread.slice(from, to)),
  numbers('slope', slope.slice(from, to)),
];
const later = part(ROWS, 2 * ROWS);
const answersOf = (model: Model) => predict(model, later, ROWS) as RegressionResult;

/** Mean distance of each row's mean from that of its quantiles, in standard deviations of the target. */
function gap(result: RegressionResult): number {
  const mean = result.mean();
  const quantiles = result.quantiles(LEVELS);
  const center = target.reduce((sum, value) => sum + value / target.length, 0);
  const deviation = Math.sqrt(target.reduce((sum, value) => sum + (value - center) ** 2 / target.length, 0));
  return mean.reduce((sum, value, row) => {
    const ofQuantiles = quantiles.reduce((all, level) => all + level[row]! / LEVELS.length, 0);
    return sum + Math.abs(value - ofQuantiles) / deviation / ROWS;
  }, 0);
}

describe('learner: the mean of a number', () => {
  const model = trainModel(regress(part(0, ROWS), target.slice(0, ROWS), { n_estimators: 4 }));
  const former: Model = { ...model, meanOfDistribution: undefined };

  it('is that of its distribution, but for a model fitted before it was', () => {
    assert.ok(gap(answersOf(model)) < 0.005, `${gap(answersOf(model))}`);
    assert.ok(gap(answersOf(former)) > 0.02, `${gap(answersOf(former))}`);
  });

  it('is what its causes add up to, for either', () => {
    for (const one of [model, former]) {
      const result = answersOf(one);
      const { predictions, bases, effects, groups } = explain(one, later, result);
      assert.deepEqual(predictions, result.mean());
      predictions.forEach((prediction, row) => {
        const own = effects.subarray(row * groups.length, (row + 1) * groups.length);
        const sum = own.reduce((all, effect) => all + effect, bases[row]!);
        assert.ok(Math.abs(sum - prediction) < 1e-9, `${sum} for ${prediction}`);
      });
    }
  });

  it('is explained from one base, asked together or row by row', () => {
    const { bases, effects, groups } = explain(model, later, answersOf(model));
    assert.equal(new Set(bases).size, 1);
    const row = part(ROWS, ROWS + 1);
    const alone = explain(model, row, predict(model, row, 1));
    assert.equal(alone.bases[0], bases[0]);
    assert.deepEqual(alone.effects, effects.slice(0, groups.length));
  });

  it('stays where the ensemble is beyond the train set, however wide the band: nothing says to which side it is off', () => {
    const [a, b, tiny] = [normals(120, 4), normals(120, 5), normals(120, 6)];
    const line = a.map((x, row) => 3 * x - 2 * b[row]! + 1e-5 * Math.exp(tiny[row]!));
    const nearlyExact = trainModel(regress([numbers('a', a), numbers('b', b)], line, { n_estimators: 4 }));
    const beyond = [numbers('a', [4, 6, -5]), numbers('b', [0, 1, -6])];
    const answered = predict(nearlyExact, beyond, 3) as RegressionResult;
    const ensemble = predict(
      { ...nearlyExact, meanOfDistribution: undefined },
      beyond,
      3,
    ) as RegressionResult;
    const [low, high] = answered.quantiles([0.1, 0.9]);
    answered.mean().forEach((mean, row) => {
      const off = Math.abs(mean - ensemble.mean()[row]!);
      assert.ok(off < 1e-4, `${off} beside the ensemble`);
      assert.ok(high![row]! - low![row]! > 0.1, `a band of ${high![row]! - low![row]!}`);
    });
  });
});
