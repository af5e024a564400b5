import assert from 'node:assert/strict';

import { predict, type RegressionResult, trainModel } from '../../../dist/src/learner';
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

  it('stay narrow where there is little noise', () => {
    const { loss } = density(300, 0.02);
    assert.ok(loss < best(0.02) + 1, `${loss} for ${best(0.02)}`);
  });
});
