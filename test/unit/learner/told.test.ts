import assert from 'node:assert/strict';

import { predict, type RegressionResult, trainModel } from '../../../dist/src/learner';
import { type prepare, Random, toldProbabilities } from '../../doors/learner';
import { classify, numbers, regress } from './tables';

describe('What a fit tells of its loss', () => {
  it('has weights and a calibration that have not seen the row', () => {
    // Two candidates, each right about one half of the rows and wrong about the other: what the other half says is wrong.
    const count = 40;
    const codes = Int32Array.from({ length: count }, (_, row) => row % 2);
    const part = Uint8Array.from(codes, (_, row) => (row < count / 2 ? 0 : 1));
    const scored = (right: number) =>
      Float64Array.from(codes, (code, row) => ((code === 1) === (part[row] === right) ? 3 : -3));
    const prepared = {
      task: 'classification',
      classes: ['no', 'yes'],
      codes,
      part,
      plan: { parts: 2 },
      settings: {},
    } as unknown as ReturnType<typeof prepare>;
    const weighed = {
      candidates: [
        { name: 'boosted', parts: [], work: 0 },
        { name: 'linear', parts: [], work: 0 },
      ],
      rows: codes.map((_, row) => row),
      scores: [scored(0), scored(1)],
      scoresApart: () => [scored(0), scored(1)],
      width: 1,
    } as unknown as Parameters<typeof toldProbabilities>[1];
    const priors = Float64Array.of(0.5, 0.5);
    const calibration = {
      ...{ temperature: 1, noise: 0, priors },
      ...{ averageScores: false, softmaxTemperature: 1, balance: false },
    };
    const even = new Float64Array(2 * count).fill(0.5);
    const probas = toldProbabilities(prepared, weighed, calibration, even);
    for (const [row, code] of codes.entries()) {
      assert.ok(probas[2 * row + code]! < 0.1, `row ${row}: ${probas[2 * row + code]}`);
      assert.ok(Math.abs(probas[2 * row]! + probas[2 * row + 1]! - 1) < 1e-12);
    }
  });

  it('tells of labels by chance that a constant is as good', () => {
    let worse = 0;
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    for (const seed of seeds) {
      const random = new Random(seed);
      const columns = Array.from({ length: 4 }, (_, c) =>
        numbers(
          `x${c}`,
          Array.from({ length: 80 }, () => random.uniform()),
        ),
      );
      const labels = Array.from({ length: 80 }, () => random.below(2));
      const { scores, baseline } = trainModel(classify(columns, labels, { random_state: 1 })).report;
      worse += (scores.log_loss! / baseline.log_loss! - 1) / seeds.length;
    }
    // By weights and a calibration that have seen the labels it is 0.5 % better.
    assert.ok(worse > 0, `worse than a constant by ${worse}`);
  });

  it('tells of numbers by chance that a constant is as good', () => {
    let worse = 0;
    const seeds = [1, 2, 3, 4, 5, 6, 7, 8];
    for (const seed of seeds) {
      const random = new Random(seed);
      const drawn = () => Float64Array.from({ length: 80 }, () => random.uniform());
      const columns = Array.from({ length: 4 }, (_, c) => numbers(`x${c}`, drawn()));
      const { scores, baseline } = trainModel(regress(columns, drawn(), { random_state: 1 })).report;
      worse += (scores.rmse! / baseline.rmse! - 1) / seeds.length;
    }
    // By weights, iterations and penalties that have seen the numbers it is 1.1 % better.
    assert.ok(worse > 0, `worse than a constant by ${worse}`);
  });

  it('has kernels that have not seen the row, and are of the same kind as the one of the model', () => {
    let ratio = 0;
    const seeds = [1, 2, 3, 4];
    for (const seed of seeds) {
      const random = new Random(seed);
      const columns = Array.from({ length: 6 }, () =>
        Float64Array.from({ length: 440 }, () => random.uniform() * 4 - 2),
      );
      const target = columns[0]!.map((value, row) => value * columns[1]![row]!);
      const of = (from: number, to?: number) =>
        columns.map((column, c) => numbers(`x${c}`, column.slice(from, to)));
      const model = trainModel(regress(of(0, 140), target.slice(0, 140), { random_state: 1 }));
      const later = (predict(model, of(140), 300) as RegressionResult).mean();
      const squares = later.reduce((sum, value, row) => sum + (value - target[140 + row]!) ** 2, 0);
      ratio += Math.log(model.report.scores.rmse! / Math.sqrt(squares / 300)) / seeds.length;
    }
    // Kernels that begin from nothing tell twice the loss: some end in another minimum.
    assert.ok(Math.exp(ratio) < 1.7, `told over later: ${Math.exp(ratio)}`);
  });

  it('is of the mean that is predicted, and has a range that holds what comes later, where there is no noise', () => {
    let ratio = 0;
    const seeds = [9, 10, 11];
    for (const seed of seeds) {
      const random = new Random(seed);
      const columns = Array.from({ length: 3 }, () =>
        Float64Array.from({ length: 440 }, () => random.uniform() * 4 - 2),
      );
      const target = columns[0]!.map((value, row) => value + 2 * columns[1]![row]!);
      const of = (from: number, to?: number) =>
        columns.map((column, c) => numbers(`x${c}`, column.slice(from, to)));
      const model = trainModel(regress(of(0, 140), target.slice(0, 140), { random_state: 1 }));
      const later = (predict(model, of(140), 300) as RegressionResult).mean();
      const squares = later.reduce((sum, value, row) => sum + (value - target[140 + row]!) ** 2, 0);
      const { rmse, loss_low: low, loss_high: high } = model.report.scores;
      const rmseLater = Math.sqrt(squares / 300);
      assert.ok(rmseLater < 0.8 * rmse!, `told ${rmse}, later ${rmseLater}`);
      assert.ok(low! < rmseLater && rmseLater < high!, `${low} to ${high}, later ${rmseLater}`);
      ratio += Math.log(rmseLater / rmse!) / seeds.length;
    }
    // Scores without what residuals around a row have in common tell three times what comes later.
    assert.ok(Math.exp(ratio) > 0.5, `later over told: ${Math.exp(ratio)}`);
  });
});
