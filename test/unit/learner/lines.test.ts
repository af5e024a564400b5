import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  explain,
  loadModel,
  type Model,
  predict,
  type RegressionResult,
  saveModel,
  trainModel,
} from '../../../dist/src/learner';
import {
  type ColumnSpec,
  expandTerms,
  packTerms,
  Random,
  termValue,
  unpackTerms,
  valueAlong,
  weightsOfErrors,
} from '../../doors/learner';
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

describe('learner: values far off', () => {
  const far = Float64Array.from({ length: ROWS }, (_, row) =>
    row % 30 === 7 ? 10 + (row % 7) : wave[row]! / 5,
  );
  const target = far.map((value, row) => 3 * value + noise[row]! / 50);
  const model = trainModel(regress([numbers('x', far)], target));

  it('count whole where held-out rows say so, up to twice those of the train set', () => {
    const highs = model.members.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'linear' ? Array.from(part.tables.lines?.highs ?? []) : [])),
    );
    assert.ok(
      highs.some((high) => high > 5),
      String(highs),
    );
    const ask = (at: number[]) => (predict(model, [numbers('x', at)], at.length) as RegressionResult).mean();
    assert.ok(Math.abs(ask([15])[0]! - 45) < 1, String(ask([15])));
    assert.deepEqual(ask([1e9]), ask([Infinity]));
  });

  it('widen the band, and tell why, where a line that takes them whole goes on', () => {
    const asked = [numbers('x', [0, 16, 20, 24])];
    const result = predict(model, asked, 4) as RegressionResult;
    const [low, high] = result.quantiles([0.1, 0.9]);
    const width = high!.map((value, row) => value - low![row]!);
    assert.ok(width[3]! > width[2]! && width[2]! > width[0]!, String(width));
    const { bases, effects } = explain(model, asked, result);
    result.mean().forEach((value, row) => assert.ok(Math.abs(bases[row]! + effects[row]! - value) < 1e-9));
    const again = predict(loadModel(saveModel(model)), asked, 4) as RegressionResult;
    assert.deepEqual(again.mean(), result.mean());
  });

  it('keep a sum of columns far outside, tell why, and are the same from a file', () => {
    const [a, b, c] = [3, 4, 5].map((seed) => normals(ROWS, seed).map((one) => 10 + one));
    const left = a!.map((one, row) => one - b![row]! - c![row]! + noise[row]! / 10);
    const summed = trainModel(regress([numbers('a', a!), numbers('b', b!), numbers('c', c!)], left));
    const at = (all: number[], first: number[], second: number[]) => [
      numbers('a', all),
      numbers('b', first),
      numbers('c', second),
    ];
    // 10 is the sum of both; 1e9 has its unit wrong.
    const asked = at([10, 150, 1e9], [10, 70, 10], [10, 90, 10]);
    const result = predict(summed, asked, 3) as RegressionResult;
    const mean = result.mean();
    assert.ok(Math.abs(mean[1]! - mean[0]!) < 2, String(mean));
    assert.ok(Math.abs(mean[2]!) < 10, String(mean));
    const { bases, effects } = explain(summed, asked, result);
    mean.forEach((value, row) => {
      const sum = effects.slice(row * 3, row * 3 + 3).reduce((total, effect) => total + effect, bases[row]!);
      assert.ok(Math.abs(sum - value) < 1e-9, `${sum} ${value}`);
    });
    const again = loadModel(saveModel(summed));
    assert.deepEqual((predict(again, asked, 3) as RegressionResult).mean(), mean);

    // A model fitted before clips each value.
    for (const part of again.members.flatMap(({ parts }) => parts)) {
      if (part.kind === 'linear') {
        delete part.tables.lines!.wholeIfNearer;
        delete part.tables.terms!.wholeIfNearer;
      }
    }
    const before = predict(loadModel(saveModel(again)), asked, 3) as RegressionResult;
    assert.ok(before.mean()[1]! < mean[1]! - 3, `${before.mean().join()} ${mean.join()}`);
    assert.equal(before.mean()[0], mean[0]);
    assert.equal(before.mean()[2], mean[2]);
  });

  it('say the same of any rule as its line does', () => {
    const value = fc.oneof(
      fc.double({ min: -50, max: 50, noNaN: true }),
      fc.constantFrom(NaN, Infinity, -Infinity),
    );
    const rule = fc.record({
      kind: fc.constantFrom('number' as const, 'whole' as const),
      mean: fc.double({ min: -5, max: 5, noNaN: true }),
      scale: fc.double({ min: 0.1, max: 4, noNaN: true }),
      low: fc.double({ min: -9, max: 0, noNaN: true }),
      high: fc.double({ min: 0, max: 9, noNaN: true }),
    });
    fc.assert(
      fc.property(rule, value, (drawn, asked) => {
        const own = { ...drawn };
        const terms = { columns: Uint16Array.of(0), rules: [own], weights: Float32Array.of(1) };
        assert.deepEqual(unpackTerms(packTerms(terms)), terms);
        const { lines } = expandTerms(terms, Float64Array.of(0), [{ bins: 3 } as ColumnSpec], [undefined]);
        const { kind, mean, scale, low, high } = own;
        const z = Number.isNaN(asked) ? 0 : (asked - mean) / scale;
        const most = kind === 'whole' ? 2 * Math.max(5, -low, high) : 5;
        const expected = Math.max(-most, Math.min(most, z));
        assert.equal(termValue(asked, own), expected);
        assert.equal(valueAlong(lines!, 0, asked), expected);
      }),
      { numRuns: 500, seed: 7 },
    );
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
