import assert from 'node:assert/strict';

import {
  type ClassificationResult,
  type FeatureColumn,
  LearnerError,
  loadModel,
  predict,
  type RegressionResult,
  saveModel,
  type TrainInput,
  trainModel,
} from '../../../dist/src/learner';
import { Random } from '../../doors/learner';
import { classify, dates, normals, numbers, regress, text } from './tables';

function probas(input: TrainInput, features: FeatureColumn[], rows: number): ClassificationResult {
  return predict(trainModel(input), features, rows) as ClassificationResult;
}

function checkProbas(result: ClassificationResult): void {
  const count = result.classes.length;
  assert.equal(result.probas.length, result.rows * count);
  for (let row = 0; row < result.rows; row++) {
    const sum = result.probas.subarray(row * count, (row + 1) * count).reduce((a, b) => a + b, 0);
    assert.ok(Math.abs(sum - 1) < 1e-9, `row ${row} sums to ${sum}`);
  }
}

function checkRegression(result: RegressionResult): void {
  const levels = [0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99];
  const quantiles = result.quantiles(levels);
  const { borders, logits } = result.full();
  const all = [result.mean(), result.median(), result.mode(), ...quantiles, borders];
  for (const values of all) {
    assert.ok(values.every(Number.isFinite));
  }
  for (let row = 0; row < result.rows; row++) {
    for (let q = 1; q < levels.length; q++) {
      assert.ok(quantiles[q]![row]! >= quantiles[q - 1]![row]!);
    }
  }
  for (let b = 1; b < borders.length; b++) {
    assert.ok(borders[b]! > borders[b - 1]!);
  }
  const buckets = borders.length - 1;
  assert.equal(logits.length, result.rows * buckets);
  for (let row = 0; row < result.rows; row++) {
    let sum = 0;
    for (let b = 0; b < buckets; b++) {
      sum += Math.exp(logits[row * buckets + b]!);
    }
    assert.ok(Math.abs(sum - 1) < 1e-9, `row ${row} sums to ${sum}`);
  }
}

const x = normals(300, 1);
const noise = normals(300, 2);

/** Folds enough for what is not about accuracy. */
const few = { n_estimators: 3 };

describe('learner', () => {
  it('learns a class from a number, a category and their interaction', () => {
    const side = Array.from(noise, (value) => (value > 0 ? 'left' : 'right'));
    const labels = Array.from(x, (value, i) => (value > 0 === (side[i] === 'left') ? 'yes' : 'no'));
    const input = classify([numbers('x', x), text('side', side)], labels);
    const result = probas(
      input,
      [text('side', ['left', 'right', 'left']), numbers('x', [1.5, 1.5, -1.5])],
      3,
    );
    checkProbas(result);
    const yes = result.classes.indexOf('yes');
    assert.ok(result.probas[yes]! > 0.8);
    assert.ok(result.probas[2 + yes]! < 0.2);
    assert.ok(result.probas[4 + yes]! < 0.2);
  });

  it('learns a number with its spread', () => {
    const y = x.map((value, i) => 3 * value + (value > 0 ? 1 : 0.05) * noise[i]!);
    const model = trainModel(regress([numbers('x', x)], y));
    const result = predict(model, [numbers('x', [-1, 1])], 2) as RegressionResult;
    checkRegression(result);
    const [low, high] = result.quantiles([0.1, 0.9]) as [Float64Array, Float64Array];
    assert.ok(Math.abs(result.mean()[0]! + 3) < 0.5 && Math.abs(result.mean()[1]! - 3) < 0.8);
    assert.ok(high[1]! - low[1]! > 2 * (high[0]! - low[0]!), 'the interval is wider where the noise is');
    assert.ok(model.report.scores.r2! > 0.9);
  });

  it('learns from missing values which way they lead', () => {
    const withMissing = x.map((value, i) => (i % 3 === 0 ? NaN : value));
    const labels = Array.from(withMissing, (value) => (Number.isNaN(value) || value > 1 ? 1 : 0));
    const result = probas(classify([numbers('x', withMissing)], labels), [numbers('x', [NaN, -0.5, 2])], 3);
    assert.ok(result.probas[1]! > 0.9 && result.probas[3]! < 0.1 && result.probas[5]! > 0.8);
  });

  it('learns from words in text and from the hour of a date', () => {
    const reviews = Array.from(
      x,
      (value, i) => `item ${i} ${value > 0 ? 'great stuff' : 'sadly broken'} no ${i % 7}`,
    );
    const labels = Array.from(x, (value) => value > 0);
    const unseen = text('review', ['A GREAT day', 'arrived broken']);
    const words = probas(classify([text('review', reviews)], labels, few), [unseen], 2);
    assert.ok(words.probas[1]! > 0.8 && words.probas[3]! < 0.2);
    const hours = Array.from(x, (_, i) => Date.UTC(2024, 0, 1 + (i % 50), i % 24));
    const night = hours.map((ms) => (new Date(ms).getUTCHours() < 6 ? 'night' : 'day'));
    const days = probas(
      classify([dates('at', hours)], night, few),
      [dates('at', [Date.UTC(2030, 5, 6, 3)])],
      1,
    );
    assert.ok(days.probas[1]! > 0.8);
  });

  it('gives the same bytes for the same seed, and others for another', () => {
    const labels = Array.from(x, (value, i) => (value + noise[i]! > 0 ? 'a' : 'b'));
    const bytes = (seed: number) =>
      Buffer.from(saveModel(trainModel(classify([numbers('x', x)], labels, { ...few, random_state: seed }))));
    assert.deepEqual(bytes(3), bytes(3));
    assert.notDeepEqual(bytes(3), bytes(4));
  });

  it('predicts after load as before save, and refuses damaged bytes', () => {
    const y = x.map((value, i) => value * value + noise[i]! / 4);
    const model = trainModel(regress([numbers('x', x), text('t', ['u', ...Array<undefined>(299)])], y, few));
    const bytes = saveModel(model);
    const features = [numbers('x', [0, 1, NaN]), text('t', ['u', 'v', undefined])];
    const before = predict(model, features, 3) as RegressionResult;
    const after = predict(loadModel(bytes), features, 3) as RegressionResult;
    assert.deepEqual(after.mean(), before.mean());
    assert.deepEqual(after.quantiles([0.2, 0.7]), before.quantiles([0.2, 0.7]));
    assert.deepEqual(after.full(), before.full());
    bytes[bytes.length - 5]! ^= 1;
    assert.throws(() => loadModel(bytes), LearnerError);
    assert.throws(() => loadModel(new Uint8Array(40)), LearnerError);
  });

  describe('odd tables', () => {
    const target = Array.from(x.subarray(0, 40));
    const odd: Record<string, FeatureColumn[]> = {
      'no columns': [],
      'constant column': [numbers('c', Array<number>(40).fill(7))],
      'all missing': [
        numbers('m', Array<number>(40).fill(NaN)),
        text('t', Array<undefined>(40).fill(undefined)),
      ],
      'infinite numbers': [
        numbers(
          'x',
          target.map((v) => (v > 1 ? Infinity : v < -1 ? -Infinity : v)),
        ),
      ],
      'every text different': [
        text(
          'id',
          target.map((_, i) => `row ${i} ☃`),
        ),
      ],
      'odd dates': [
        dates(
          'd',
          target.map((_, i) => (i % 3 ? i * 8.64e14 : Infinity)),
        ),
      ],
      'huge numbers': [
        numbers(
          'x',
          target.map((v) => v * 1e308),
        ),
      ],
    };
    for (const [name, features] of Object.entries(odd)) {
      it(`works with ${name}`, () => {
        checkProbas(
          probas(
            classify(
              features,
              target.map((v) => v > 0),
              few,
            ),
            features,
            40,
          ),
        );
        checkRegression(
          predict(trainModel(regress(features, target, few)), features, 40) as RegressionResult,
        );
      });
    }

    for (const rows of [1, 2, 3, 5, 12, 19]) {
      it(`works with ${rows} rows`, () => {
        const features = [
          numbers('x', x.subarray(0, rows)),
          text('t', Array.from(x.subarray(0, rows), String)),
        ];
        checkProbas(
          probas(
            classify(
              features,
              Array.from({ length: rows }, (_, i) => i % 3),
              few,
            ),
            features,
            rows,
          ),
        );
        checkRegression(
          predict(
            trainModel(regress(features, x.subarray(0, rows), few)),
            features,
            rows,
          ) as RegressionResult,
        );
      });
    }

    it('works with 70,000 distinct categories, more than 16 bits tell apart, seen and unseen', () => {
      const count = 70_000;
      const random = new Random(4);
      const values = Float64Array.from({ length: count }, () => random.uniform());
      const ids = (from: number) => Array.from({ length: count }, (_, i) => `id-${(i + from).toString(36)}`);
      const dictionary = ids(0);
      const codes = Int32Array.from({ length: count }, (_, i) => i);
      const labels = Array.from(values, (value) => value > 0.5);
      const options = { n_estimators: 1, workBudget: 3e8 };
      const model = trainModel(
        classify([numbers('x', values), { name: 'id', kind: 'text', codes, dictionary }], labels, options),
      );
      assert.ok(saveModel(model).length < 1e6, 'the model does not grow with the categories');
      const test: FeatureColumn[] = [
        numbers('x', [0.1, 0.9, 0.1, 0.9]),
        text('id', [dictionary[7], dictionary[8], 'never seen', undefined]),
      ];
      const result = predict(model, test, 4) as ClassificationResult;
      checkProbas(result);
      [0, 1, 0, 1].forEach((label, row) => assert.ok(result.probas[row * 2 + label]! > 0.9));
    });

    it('works with one class and with a constant target', () => {
      const result = probas(
        classify([numbers('x', x)], Array<string>(300).fill('only'), few),
        [numbers('x', [0])],
        1,
      );
      assert.deepEqual([...result.probas], [1]);
      const constant = trainModel(regress([numbers('x', x)], Array<number>(300).fill(-2.5), few));
      const fixed = predict(constant, [numbers('x', [0])], 1) as RegressionResult;
      checkRegression(fixed);
      assert.deepEqual([fixed.mean()[0], fixed.median()[0], fixed.mode()[0]], [-2.5, -2.5, -2.5]);
    });

    it('gives duplicated rows the frequencies of their classes', () => {
      // Five rows, sixty times each; of row i, i in five say yes.
      const which = Array.from({ length: 300 }, (_, i) => i % 5);
      const labels = which.map((row, i) => (Math.floor(i / 5) % 5 < row ? 'yes' : 'no'));
      const features = [numbers('x', which), text('t', which.map(String))];
      const asked = [0, 1, 2, 3, 4];
      const test = [numbers('x', asked), text('t', asked.map(String))];
      const { probas: p } = probas(classify(features, labels), test, 5);
      for (const row of asked) {
        assert.ok(Math.abs(p[row * 2 + 1]! - row / 5) < 0.1, `row ${row}: ${p[row * 2 + 1]}`);
      }
    });

    it('says which row of the target has no value', () => {
      const values = Float64Array.of(1, NaN, 3);
      assert.throws(() => trainModel(regress([numbers('x', [1, 2, 3])], values)), /no value in row 2/);
      const input = classify([numbers('x', [1, 2, 3])], ['a', 'b', 'a']);
      (input.target as { codes: Int32Array }).codes[2] = -1;
      assert.throws(() => trainModel(input), /no value in row 3/);
      assert.throws(() => trainModel(classify([], [])), /no rows/);
    });

    it('names a missing column, ignores an extra one, and reads numbers in text', () => {
      const model = trainModel(regress([numbers('x', x)], x, few));
      assert.throws(() => predict(model, [numbers('y', [1])], 1), /Column "x" is missing/);
      assert.throws(() => predict(model, [text('x', ['1', 'one'])], 2), /row 2/);
      const asText = predict(
        model,
        [text('x', ['1', undefined]), numbers('z', [0, 0])],
        2,
      ) as RegressionResult;
      const asNumber = predict(model, [numbers('x', [1, NaN])], 2) as RegressionResult;
      assert.deepEqual(asText.mean(), asNumber.mean());
    });
  });
});
