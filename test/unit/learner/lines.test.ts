import assert from 'node:assert/strict';

import {
  explain,
  loadModel,
  type Model,
  predict,
  type RegressionResult,
  saveModel,
  trainModel,
} from '../../../dist/src/learner';
import { Random, weightsOfErrors } from '../../doors/learner';
import { normals, numbers, regress } from './tables';

const ROWS = 300;
const t = Float64Array.from({ length: ROWS }, (_, row) => row);
const wave = normals(ROWS, 1);
const noise = normals(ROWS, 2);
const beyond = [299, 330, 360, 400];

/** What the model says of t beyond the train set, with the other column at 0. */
function ask(model: Model, at: number[]) {
  const features = [numbers('t', at), numbers('wave', new Float64Array(at.length))];
  const result = predict(model, features, at.length) as RegressionResult;
  const [low, high] = result.quantiles([0.1, 0.9]);
  return { features, result, mean: result.mean(), width: high!.map((value, i) => value - low![i]!) };
}

describe('learner: lines', () => {
  const target = t.map((value, row) => 50 + 2 * value + 30 * Math.sin(2 * wave[row]!) + 5 * noise[row]!);
  const model = trainModel(regress([numbers('t', t), numbers('wave', wave)], target));

  it('follow a trend beyond the train set, where the band gets wider', () => {
    const { mean, width } = ask(model, [150, ...beyond]);
    beyond.forEach((value, i) => {
      const truth = 50 + 2 * value;
      assert.ok(Math.abs(mean[i + 1]! - truth) < 15, `${mean[i + 1]} at ${value}`);
    });
    assert.ok(width[1]! < 1.5 * width[0]!, 'at the end of the train set');
    assert.ok(width[4]! > width[3]! && width[3]! > width[2]! && width[2]! > width[1]!, String(width));
    assert.ok(width[4]! > 2 * width[0]!);
  });

  it('leave bands as they are where values beyond the train set matter to nobody', () => {
    const flat = trainModel(regress([numbers('t', t), numbers('wave', wave)], noise));
    const { width } = ask(flat, [150, 400]);
    assert.ok(width[1]! < 1.3 * width[0]!, String(width));
  });

  it('take values that are missing or infinite, and are the same from a file', () => {
    const at = [NaN, Infinity, -Infinity, 1e300, 400];
    const { mean, width } = ask(model, at);
    assert.ok([...mean, ...width].every(Number.isFinite));
    assert.deepEqual(ask(loadModel(saveModel(model)), at).mean, mean);
  });

  it('tell why, to the last digit, between and beyond the values of the train set', () => {
    const { features, result, mean } = ask(model, [10.4, 400]);
    const { bases, effects } = explain(model, features, result);
    mean.forEach((value, row) => {
      assert.ok(Math.abs(bases[row]! + effects[row * 2]! + effects[row * 2 + 1]! - value) < 1e-9);
    });
    assert.ok(effects[2]! > 400 && Math.abs(effects[3]!) < 20, String(effects));
    const near = ask(model, [10.4, 10.2]);
    const of = explain(model, near.features, near.result).effects;
    assert.ok(Math.abs(of[0]! + of[1]! - of[2]! - of[3]! - (near.mean[0]! - near.mean[1]!)) < 1e-9);
    assert.notEqual(of[0], of[2]);
  });

  it('count in the importance of columns', () => {
    const [first, second] = model.report.importance;
    assert.equal(first!.feature, 't');
    assert.ok(first!.permutation > second!.permutation && first!.gain > second!.gain && second!.gain > 0);
  });
});

describe('learner: weights of errors', () => {
  const random = new Random(5);
  const shared = Array.from({ length: 200 }, () => 10 * random.uniform() - 5);
  const errors = [0.3, 0.5, 2].map((own) =>
    Float64Array.from(shared, (value) => value + own * (random.uniform() - 0.5)),
  );
  const start = Float64Array.of(0.2, 0.3, 0.5);

  /** What is to be lowest, by its definition. */
  function cost(weights: ArrayLike<number>, strength: number): number {
    const squares = (mix: ArrayLike<number>) =>
      shared.reduce((sum, _, row) => {
        const error = errors.reduce((mixed, one, c) => mixed + mix[c]! * one[row]!, 0);
        return sum + error * error;
      }, 0);
    const unit = Math.min(squares([1, 0, 0]), squares([0, 1, 0]), squares([0, 0, 1])) / shared.length;
    const away = start.reduce((sum, one, c) => sum + (weights[c]! - one) ** 2, 0);
    return squares(weights) + strength * unit * away;
  }

  it('are the lowest that there are, however much all errors have in common', () => {
    for (const strength of [0, 3, 300]) {
      const found = weightsOfErrors({ errors, start, strength, movable: [true, true, true] });
      assert.ok(Math.abs(found.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9);
      const lowest = cost(found, strength);
      for (let a = 0; a <= 50; a++) {
        for (let b = 0; a + b <= 50; b++) {
          assert.ok(lowest <= cost([a / 50, b / 50, 1 - (a + b) / 50], strength) + 1e-6);
        }
      }
    }
  });

  it('stay nearer to what they were where a few rows make most of the errors', () => {
    const wild = errors.map((one, c) => one.map((error, row) => (row < 2 ? [100, 120, 140][c]! : error)));
    const find = (strength: number) =>
      weightsOfErrors({ errors: wild, start, strength, movable: [true, true, true] });
    assert.equal(find(0)[2], 0);
    // By as many rows as there are, 10 rows of a prior would leave it at 0 too.
    assert.ok(find(10)[2]! > 0.1, String(find(10)));
  });

  it('stay what they were where they may not move', () => {
    const found = weightsOfErrors({ errors, start, strength: 0, movable: [true, true, false] });
    assert.equal(found[2], 0.5);
    assert.ok(found[0]! > 0.3);
  });
});
