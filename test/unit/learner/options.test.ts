import assert from 'node:assert/strict';

import {
  type ClassificationResult,
  LearnerError,
  learnResiduals,
  predict,
  type PreparedFit,
  type RegressionResult,
  type ResidualTask,
  saveModel,
  trainFolds,
  trainModel,
  type TrainOptions,
} from '../../../dist/src/learner';
import { chooseWeights, prepare, Random, trainFold } from '../../doors/learner';
import { classify, normals, numbers, regress, text } from './tables';

/** As an executor does it. */
const residuals = (prepared: PreparedFit, task: ResidualTask) =>
  Promise.resolve(learnResiduals(structuredClone(prepared), structuredClone(task)));

const rows = 240;
const x = normals(rows, 11);
const z = normals(rows, 12);
const noise = normals(rows, 13);
const group = Array.from(z, (value) => (value > 0.5 ? 'red' : value < -0.5 ? 'blue' : 'green'));
const labels = Array.from(x, (value, i) =>
  value + (group[i] === 'red' ? 1 : 0) + noise[i]! > 1 ? 'yes' : 'no',
);
const features = [numbers('x', x), text('group', group), numbers('useless', normals(rows, 14))];

const fit = (options: TrainOptions = {}) => trainModel(classify(features, labels, options));
const probasOf = (options: TrainOptions) =>
  (predict(fit(options), features, rows) as ClassificationResult).probas;
describe('learner options', () => {
  it('n_estimators is the number of folds, from 1 to 10', () => {
    for (const [wished, got] of [
      [1, 1],
      [10, 10],
      [40, 10],
    ] as const) {
      assert.equal(prepare(classify(features, labels, { n_estimators: wished })).folds, got);
    }
    assert.equal(fit({ n_estimators: 4 }).report.estimators, 4);
    assert.notDeepEqual(probasOf({ n_estimators: 2 }), probasOf({ n_estimators: 3 }));
  });

  it('random_state changes the prediction a little', () => {
    const [one, same, other] = [1, 1, 2].map((random_state) => probasOf({ random_state, n_estimators: 2 }));
    assert.deepEqual(one, same);
    assert.notDeepEqual(one, other);
    const apart = one!.reduce((sum, p, i) => sum + Math.abs(p - other![i]!), 0) / one!.length;
    assert.ok(apart > 1e-6 && apart < 0.15, String(apart));
  });

  it('softmax_temperature sharpens below and flattens above', () => {
    const fitted = [0.3, 1, 3].map((temperature) =>
      probasOf({ softmax_temperature: temperature, n_estimators: 2 }),
    );
    const [sharp, plain, flat] = fitted.map((probas) =>
      probas.reduce((sum, p) => sum + Math.abs(p - 0.5), 0),
    );
    assert.ok(sharp! > plain! && plain! > flat!);
    const model = fit({ n_estimators: 2 });
    const asked = (temperature: number) =>
      (predict(model, features, rows, { temperature }) as ClassificationResult).probas;
    assert.deepEqual((predict(model, features, rows) as ClassificationResult).probas, fitted[1]);
    for (const [i, temperature] of [0.3, 1, 3].entries()) {
      const probas = asked(temperature);
      assert.deepEqual(probas, fitted[i], 'as at the fit');
      for (let row = 0; row < rows; row++) {
        assert.ok(Math.abs(probas[row * 2]! + probas[row * 2 + 1]! - 1) < 1e-12);
      }
    }
  });

  it('average_before_softmax averages scores, which are the same for one estimator', () => {
    const both = (n: number) =>
      [false, true].map((average_before_softmax) => probasOf({ average_before_softmax, n_estimators: n }));
    const [one, same] = both(1) as [Float64Array, Float64Array];
    one.forEach((p, i) => assert.ok(Math.abs(p - same[i]!) < 1e-12));
    const [several, other] = both(3) as [Float64Array, Float64Array];
    assert.notDeepEqual(several, other);
  });

  it('balance_probabilities raises the rarer class', () => {
    const yes = (options: TrainOptions) => probasOf(options).reduce((sum, p, i) => sum + (i % 2 ? p : 0), 0);
    assert.ok(labels.filter((label) => label === 'yes').length < rows / 2);
    assert.ok(yes({ balance_probabilities: true, n_estimators: 2 }) > yes({ n_estimators: 2 }));
  });

  it('categorical_features_indices makes categories of numbers', () => {
    const code = Array.from(x, (_, i) => (i * 7) % 20);
    const odd = code.map((value) => value % 2);
    const table = [numbers('code', code)];
    const asCategory = trainModel(
      classify(table, odd, { categorical_features_indices: [0], n_estimators: 2 }),
    );
    assert.equal(asCategory.encoders[0]!.type, 'numberCategory');
    const result = predict(asCategory, [numbers('code', [4, 5, 99])], 3) as ClassificationResult;
    assert.ok(result.probas[1]! < 0.1 && result.probas[3]! > 0.9 && Number.isFinite(result.probas[5]!));
    const asNumber = trainModel(classify(table, odd, { n_estimators: 2 }));
    const other = predict(asNumber, [numbers('code', [4, 5, 99])], 3) as ClassificationResult;
    assert.notDeepEqual(result.probas, other.probas);
  });

  it('inference_config.SUBSAMPLE_SAMPLES bounds the rows of each estimator', () => {
    const n_estimators = 2;
    const model = fit({
      n_estimators,
      inference_config: { SUBSAMPLE_SAMPLES: 60, POLYNOMIAL_FEATURES: 'no' },
    });
    assert.ok(model.report.work.units < fit({ n_estimators }).report.work.units);
    assert.deepEqual(model.report.options.used, {
      n_estimators,
      inference_config: { SUBSAMPLE_SAMPLES: 60 },
    });
    assert.deepEqual(model.report.options.ignored, ['inference_config.POLYNOMIAL_FEATURES']);
  });

  it('inference_config.SUBSAMPLE_SAMPLES as a list holds for each estimator in turn', () => {
    const list = (SUBSAMPLE_SAMPLES: unknown, more: TrainOptions = {}) =>
      fit({ inference_config: { SUBSAMPLE_SAMPLES }, ...more });
    assert.equal(list([60, 0.5, 100]).report.estimators, 3);
    const [short, long] = [list([40, 40], { n_estimators: 2 }), list([40, 150], { n_estimators: 2 })];
    assert.deepEqual(short.members[0]!.parts.length > 0, true);
    assert.ok(short.report.work.units < long.report.work.units);
    assert.notDeepEqual(predict(short, features, rows), predict(long, features, rows));
    const same = list([40], { n_estimators: 2 });
    assert.deepEqual(predict(same, features, rows), predict(short, features, rows));
  });

  it('inference_config.SUBSAMPLE_SAMPLES names the very rows of each estimator', () => {
    // Each half of the rows shows its class in another column.
    const sides = Array.from(x, (value) => value > 0);
    const half = (odd: number) =>
      numbers(
        `half ${odd}`,
        x.map((value, i) => (i % 2 === odd ? value : NaN)),
      );
    const every = (odd: number) => Array.from({ length: rows / 2 }, (_, i) => 2 * i + odd);
    const yes = (lists: number[][]) => {
      const options = { n_estimators: 2, inference_config: { SUBSAMPLE_SAMPLES: lists } };
      const model = trainModel(classify([half(0), half(1)], sides, options));
      const { probas } = predict(
        model,
        [numbers('half 0', [2]), numbers('half 1', [NaN])],
        1,
      ) as ClassificationResult;
      return probas[1]!;
    };
    const [even, odd, both] = [yes([every(0)]), yes([every(1)]), yes([every(0), every(1)])];
    assert.ok(even > 0.9 && odd < 0.7 && both > odd && both < even, `${even} ${odd} ${both}`);
    assert.throws(() => yes([[rows]]), /names row 240 .from 0.; there are 240 rows/);
    const wrong: unknown[] = [[], [[]], [-1], 'all', [[1.5]], { 0: 1 }];
    for (const SUBSAMPLE_SAMPLES of wrong) {
      assert.throws(() => fit({ inference_config: { SUBSAMPLE_SAMPLES } }), LearnerError);
    }
  });

  it('thinking adds estimators, but to a number that was asked for', () => {
    const folds = (options: TrainOptions) => prepare(classify(features, labels, options)).folds;
    assert.equal(folds({}), 10);
    assert.equal(folds({ thinking: { effort: 'medium' } }), 15);
    assert.equal(folds({ thinking: { effort: 'high' } }), 20);
    assert.equal(folds({ n_estimators: 2, thinking: { effort: 'high' } }), 2);
    const ordinary = fit();
    const model = fit({ thinking: { effort: 'high', timeoutSecs: 60, metric: 'accuracy' } });
    assert.deepEqual([ordinary.report.estimators, model.report.estimators], [10, 20]);
    assert.ok(model.report.work.units > 1.5 * ordinary.report.work.units);
    assert.ok(model.report.work.units <= model.report.work.budget);
    assert.equal(model.report.work.limited, false);
    assert.throws(() => fit({ thinking: { effort: 'huge' as 'high' } }), LearnerError);
  });

  it('thinking divides no group among more parts than there are groups', () => {
    const names = Array.from(x, (_, i) => `machine ${i % 4}`);
    const table = [...features, text('machine', names)];
    const options: TrainOptions = { inference_config: { GROUP: 'machine' }, thinking: { effort: 'high' } };
    assert.equal(prepare(classify(table, labels, options)).folds, 4);
  });

  it('thinking adds as many estimators as its timeout has work for, and says so', () => {
    const count = 4000;
    const many = Array.from({ length: 12 }, (_, i) => numbers(`x${i}`, normals(count, 30 + i)));
    const y = normals(count, 50).map((value, i) => value + (many[0] as { values: Float64Array }).values[i]!);
    const thinking = (timeoutSecs: number | undefined) =>
      prepare(regress(many, y, { thinking: { effort: 'high', timeoutSecs } })).plan;
    const [none, some, all] = [0.01, 0.5, undefined].map(thinking);
    assert.equal(all!.folds, 10);
    assert.ok(some!.folds > 5 && some!.folds < 10, String(some!.folds));
    assert.match(some!.reasons.join(' '), /timeout is enough for \d of the 5 estimators/);
    // The ordinary estimators have what they have without thinking.
    const ordinary = prepare(regress(many, y)).plan;
    assert.deepEqual({ ...none!, reasons: [] }, ordinary);
    assert.deepEqual(some!.boosts, ordinary.boosts);
  });

  it('thinking is judged by the metric that was asked for', () => {
    const random = new Random(3);
    const codes = Float64Array.from({ length: 400 }, () => random.below(2));
    // The first is right more often, but surest of its errors; the second errs more and is calibrated.
    const side = (code: number) => (code === 1 ? 1 : -1);
    const sure = codes.map((code) => side(code) * (random.uniform() < 0.86 ? 0.8 : -12));
    const modest = codes.map((code) => side(code) * (random.uniform() < 0.78 ? 1.3 : -1.3));
    const input = { scores: [sure, modest], width: 1, target: codes, regression: false };
    const byAccuracy = chooseWeights(input, 2, 'accuracy');
    const byLoss = chooseWeights(input, 2, 'log_loss');
    assert.ok(byAccuracy[0]! > byAccuracy[1]!, String(byAccuracy));
    assert.ok(byLoss[1]! > byLoss[0]!, String(byLoss));
    const report = fit({ thinking: { effort: 'medium', metric: 'nonsense' }, n_estimators: 2 }).report;
    assert.deepEqual(report.options.ignored, ['thinking.metric']);
  });

  it('grows larger trees to the end where classes have hardly any noise, and spares the time elsewhere', () => {
    const grown = (codes: string[]) => {
      const prepared = prepare(classify(features, codes, { n_estimators: 2 }));
      return trainFold(prepared, 0).lowNoise;
    };
    assert.equal(grown(labels), undefined, 'labels with noise');
    const clean = grown(Array.from(x, (value) => (value > 0.2 ? 'yes' : 'no')));
    assert.ok(clean && clean.curve[clean.curve.length - 1]! < 0.3 * clean.curve[0]!);
  });

  it('lists what does not apply, and refuses what is wrong', () => {
    const given = {
      device: ['cpu'],
      fit_mode: 'x',
      n_estimators: 2,
      memory_saving_mode: null,
      softmax_temperature: 2,
    };
    const model = trainModel(regress(features, noise, given));
    assert.deepEqual(model.report.options, {
      used: { n_estimators: 2 },
      ignored: ['device', 'fit_mode', 'softmax_temperature'],
    });
    const wrong: Record<string, unknown>[] = [
      { n_estimators: 0 },
      { n_estimators: 'four' },
      { softmax_temperature: 0 },
      { random_state: 1.5 },
      { categorical_features_indices: [3] },
      { balance_probabilities: 'yes' },
    ];
    for (const options of wrong) {
      assert.throws(() => fit(options), LearnerError, JSON.stringify(options));
    }
  });

  for (const input of [
    classify(features, labels, { n_estimators: 3 }),
    regress(features, x, { n_estimators: 3 }),
  ]) {
    it(`trains folds anywhere and in any order with the same bits (${input.target.task})`, async () => {
      const model = await trainModel(input, {
        folds: (prepared) => {
          const numbers = [2, 0, 1, prepared.folds];
          const folds = trainFolds(structuredClone(prepared), () => numbers.shift()!);
          return Promise.resolve([...folds].map((fold) => structuredClone(fold)));
        },
        residuals,
      });
      assert.deepEqual(Buffer.from(saveModel(model)), Buffer.from(saveModel(trainModel(input))));
    });
  }

  it('does not change a tree when a feature is changed monotonically', () => {
    const trees = (values: Float64Array) => {
      const [boosted] = trainFold(prepare(classify([numbers('x', values), features[1]!], labels)), 0).boosted;
      return boosted!.trees;
    };
    assert.deepEqual(trees(x), trees(x.map((value) => value ** 3 * 1000)));
  });

  it('reports scores against the baseline, importance, and that the budget bit', () => {
    const { report } = fit();
    assert.ok(report.scores.log_loss! < report.baseline.log_loss! - 0.05);
    assert.ok(report.scores.accuracy! > report.baseline.accuracy! && report.scores.roc_auc! > 0.75);
    assert.equal(report.importance[0]!.feature, 'x');
    assert.ok(report.importance[0]!.permutation > report.importance[2]!.permutation);
    assert.ok(Math.abs(report.importance.reduce((sum, one) => sum + one.gain, 0) - 1) < 1e-9);
    assert.equal(report.work.limited, false);
    const limited = fit({ workBudget: 200_000 });
    assert.ok(limited.report.work.limited && limited.report.work.reasons.length > 0);
  });

  it('tells thirty classes apart', () => {
    const codes = Array.from(x, (_, i) => i % 30);
    const where = codes.map((code, i) => code + noise[i]! / 20);
    const result = predict(
      trainModel(classify([numbers('where', where)], codes, { n_estimators: 3 })),
      [numbers('where', [3, 17, 29])],
      3,
    );
    const { probas, classes } = result as ClassificationResult;
    [3, 17, 29].forEach((label, row) => {
      const one = probas.subarray(row * 30, (row + 1) * 30);
      assert.equal(classes[one.indexOf(Math.max(...one))], label);
    });
  });

  it('covers about four fifths by the 80 % interval', () => {
    const y = x.map((value, i) => 2 * value + Math.abs(value) * noise[i]!);
    const model = trainModel(regress([numbers('x', x)], y));
    const fresh = normals(2000, 21);
    const spread = normals(2000, 22);
    const [low, high] = (predict(model, [numbers('x', fresh)], 2000) as RegressionResult).quantiles([
      0.1, 0.9,
    ]);
    const inside = fresh.filter((value, i) => {
      const actual = 2 * value + Math.abs(value) * spread[i]!;
      return actual >= low![i]! && actual <= high![i]!;
    }).length;
    assert.ok(inside / 2000 > 0.72 && inside / 2000 < 0.88, String(inside / 2000));
  });
});
