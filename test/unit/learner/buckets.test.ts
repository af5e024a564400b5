import assert from 'node:assert/strict';

import { predict, type RegressionResult, trainModel } from '../../../dist/src/learner';
import { bucketLogits } from '../../doors/learner';
import { normals, numbers } from './tables';

/** The buckets of a model of one column, and the mean log loss of their density on rows that it has not seen. */
function density(rows: number, noise: number): { borders: Float64Array; loss: number } {
  const all = rows + 500;
  const x = normals(all, 1);
  const truth = normals(all, 2).map((error, row) => 3 * x[row]! + noise * error);
  const model = trainModel({
    features: [numbers('x', x.slice(0, rows))],
    target: { task: 'regression', values: truth.slice(0, rows) },
    options: { n_estimators: 2 },
  });
  const result = predict(model, [numbers('x', x.slice(rows))], 500) as RegressionResult;
  const { borders, logits } = result.full();
  const buckets = borders.length - 1;
  let loss = 0;
  for (let row = 0; row < 500; row++) {
    let bucket = 0;
    while (bucket < buckets - 1 && truth[rows + row]! >= borders[bucket + 1]!) {
      bucket++;
    }
    const inside = Math.max(1e-6, Math.exp(logits[row * buckets + bucket]!));
    loss -= Math.log(inside / (borders[bucket + 1]! - borders[bucket]!)) / 500;
  }
  return { borders, loss };
}

/** The mean log loss of the density that the rows come from. */
const best = (noise: number): number => 0.5 * Math.log(2 * Math.PI * Math.E * noise * noise);

describe('learner: buckets of the full distribution', () => {
  it('are wide enough that their density is worth something', () => {
    const { borders, loss } = density(300, 1);
    const widths = Array.from(borders.subarray(1), (border, i) => border - borders[i]!);
    assert.ok(Math.min(...widths) > 0.1, `narrowest ${Math.min(...widths)}`);
    assert.ok(loss < best(1) + 0.2, `${loss} for ${best(1)}`);
  });

  it('are possible within the range seen, and keep their mean', () => {
    const atoms = { atoms: Float64Array.of(3.2, 3.6, 4.1, 4.4), weights: Float64Array.of(1, 2, 2, 1) };
    const borders = Float64Array.from({ length: 11 }, (_, i) => i);
    const floor = {
      weight: 0.01,
      shares: Float64Array.of(5, 3, 1, 1, 1, 1, 1, 1, 1, 5).map((one) => one / 20),
    };
    const sharesOf = (own?: typeof floor) => {
      const logits = new Float64Array(10);
      bucketLogits(atoms, borders, logits, 0, own);
      return logits.map((logit) => Math.exp(logit));
    };
    const mean = (shares: Float64Array) => shares.reduce((sum, share, b) => sum + share * (b + 0.5), 0);
    const [without, mixed] = [sharesOf(), sharesOf(floor)];
    assert.equal(without.filter((share) => share === 0).length, 8);
    assert.ok(Math.min(...mixed) > 1e-4, String(mixed));
    assert.ok(Math.abs(mixed.reduce((a, b) => a + b) - 1) < 1e-12);
    assert.ok(Math.abs(mean(mixed) - mean(without)) < 1e-12);
  });

  it('are possible where no row of the train set was, by as many rows as there were', () => {
    const x = normals(100, 1);
    const noise = normals(100, 2);
    const model = trainModel({
      features: [numbers('x', x)],
      target: { task: 'regression', values: x.map((one, row) => 3 * one + noise[row]!) },
      options: { n_estimators: 2 },
    });
    const { logits } = (predict(model, [numbers('x', [0])], 1) as RegressionResult).full();
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    assert.ok(Math.abs(total - 1) < 1e-9, String(total));
    assert.ok(Math.min(...logits) > Math.log(1e-8), String(Math.min(...logits)));
    assert.equal(model.floor?.weight, 2 / 102);
  });

  it('stay narrow where there is little noise', () => {
    const { loss } = density(300, 0.02);
    assert.ok(loss < best(0.02) + 1, `${loss} for ${best(0.02)}`);
  });
});
