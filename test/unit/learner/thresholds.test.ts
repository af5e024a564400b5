import assert from 'node:assert/strict';

import fc from 'fast-check';

import {
  type ClassificationResult,
  LearnerError,
  loadModel,
  predict,
  saveModel,
  trainModel,
} from '../../../dist/src/learner';
import { Random } from '../../doors/learner';
import { type Costs, findThresholds } from '../../doors/metrics';
import { classify, normals, numbers } from './tables';

const COSTS: Costs = [
  [0, 1],
  [20, 2],
];

/** Figures of answering class `of` from a probability on, straight from the definitions. */
function figures(p: number[], codes: number[], of: number, at: number) {
  const answers = p.map((value) => (value >= at ? of : 1 - of));
  const count = (actual: number, answer: number) =>
    codes.filter((code, row) => code === actual && answers[row] === answer).length;
  const [hits, missed, false_] = [count(of, of), count(of, 1 - of), count(1 - of, of)];
  const cost = codes.reduce((sum, code, row) => sum + COSTS[code]![answers[row]!]!, 0) / codes.length;
  return {
    accuracy: (hits + count(1 - of, 1 - of)) / codes.length,
    f1: (2 * hits) / (2 * hits + missed + false_),
    costs: cost,
  };
}

describe('learner thresholds', () => {
  it('reach what they say, and none reaches more', () => {
    const row = fc.record({ p: fc.integer({ min: 1, max: 8 }), code: fc.constantFrom(0, 1) });
    fc.assert(
      fc.property(fc.array(row, { minLength: 2, maxLength: 30 }), (rows) => {
        const codes = rows.map(({ code }) => code);
        const found = findThresholds(
          Float64Array.from(rows.flatMap(({ p }) => [1 - p / 9, p / 9])),
          Int32Array.from(codes),
          ['no', 'yes'],
          COSTS,
        );
        const ones = codes.filter((code) => code === 1).length;
        if (ones === 0 || ones === codes.length) {
          assert.equal(found, undefined);
          return;
        }
        const of = ones <= codes.length - ones ? 1 : 0;
        assert.ok(found);
        assert.equal(found.label, ['no', 'yes'][of]);
        const own = rows.map(({ p }) => (of === 1 ? p / 9 : 1 - p / 9));
        const all = [0, ...own, 1.1].map((at) => figures(own, codes, of, at));
        for (const name of ['accuracy', 'f1', 'costs'] as const) {
          const { at, value } = found[name]!;
          const values = all.map((one) => one[name]);
          const best = name === 'costs' ? Math.min(...values) : Math.max(...values);
          assert.ok(Math.abs(value - best) < 1e-12, `${name}: ${value}, best ${best}`);
          assert.ok(Math.abs(figures(own, codes, of, at)[name] - value) < 1e-12, `${name} at ${at}`);
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  });

  const rows = 500;
  const random = new Random(3);
  const x = normals(rows, 1);
  const features = [numbers('x', x)];
  const labels = Array.from(x, (value) =>
    random.uniform() < 1 / (1 + Math.exp(3 - 2 * value)) ? 'fault' : 'ok',
  );
  const answer = (config: Record<string, unknown>) => {
    const model = trainModel(classify(features, labels, { inference_config: config }));
    return { model, result: predict(loadModel(saveModel(model)), features, rows) as ClassificationResult };
  };

  it('stay half where nobody asks, and are told of all the same', () => {
    const { model, result } = answer({});
    assert.equal(result.threshold, undefined);
    assert.equal(model.report.thresholds?.label, 'fault');
    assert.ok(model.report.thresholds.f1.at < 0.5, 'F1 of a rare class asks for less');
    assert.equal(model.report.thresholds.costs, undefined);
    assert.ok(model.report.thresholds.accuracy.value >= model.report.scores.accuracy!);
  });

  it('are kept with the model that was asked for one', () => {
    assert.deepEqual(answer({ THRESHOLD: 0.2 }).result.threshold, { of: 0, at: 0.2 });
    const { model, result } = answer({
      COSTS: [
        [0, 20],
        [1, 0],
      ],
      THRESHOLD: 'costs',
    });
    const { costs } = model.report.thresholds!;
    assert.deepEqual(result.threshold, { of: 0, at: costs!.at });
    assert.ok(costs!.at < 0.2, `a missed fault costs twenty times as much: ${costs!.at}`);
  });

  it('are refused where they make no sense', () => {
    for (const config of [
      { THRESHOLD: 'best' },
      { THRESHOLD: 1.5 },
      { THRESHOLD: 'costs' },
      { COSTS: [1, 2] },
      {
        COSTS: [
          [0, 1],
          [1, null],
        ],
      },
    ]) {
      assert.throws(() => answer(config), LearnerError, JSON.stringify(config));
    }
  });
});
