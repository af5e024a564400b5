import assert from 'node:assert/strict';

import fc from 'fast-check';

import type { RegressionResult } from '../../../dist/src/learner';
import { predictionJson } from '../../doors/service';

const parse = (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString());

function regression(values: number[]): RegressionResult {
  const list = Float64Array.from(values);
  return {
    task: 'regression',
    rows: values.length,
    mean: () => list,
    median: () => list,
    mode: () => list,
    quantiles: (levels) => levels.map((level) => list.map((value) => value + level)),
    full: () => ({
      borders: Float64Array.of(0, 1, 2),
      logits: Float64Array.from(values.flatMap((value) => [value, -Infinity])),
    }),
  };
}

describe('predictionJson', () => {
  it('writes every number so that it reads back the same', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ noNaN: true, noDefaultInfinity: true })), (values) => {
        const read = parse(predictionJson(regression(values), 'mean', [])) as number[];
        assert.deepEqual(
          read,
          values.map((value) => value + 0),
        );
      }),
    );
  });

  it('writes probabilities row by row, and labels in their own type', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.oneof(fc.string(), fc.integer(), fc.boolean()), { minLength: 1, maxLength: 5 }),
        fc.nat(20),
        (classes, rows) => {
          const probas = Float64Array.from({ length: rows * classes.length }, (_, i) => ((i * 7) % 10) / 10);
          const result = { task: 'classification' as const, rows, classes, probas };
          const matrix = parse(predictionJson(result, 'probas', [])) as number[][];
          assert.deepEqual(matrix.flat(), [...probas]);
          assert.ok(matrix.length === rows && matrix.every((row) => row.length === classes.length));
          const labels = parse(predictionJson(result, 'preds', []));
          assert.deepEqual(
            labels,
            matrix.map((row) => classes[row.indexOf(Math.max(...row))]),
          );
        },
      ),
    );
  });

  it('writes quantiles as [quantile][row], main as full without its bars, and −∞ among logits as -100', () => {
    assert.deepEqual(parse(predictionJson(regression([1, 2]), 'quantiles', [0.25, 0.5])), [
      [1.25, 2.25],
      [1.5, 2.5],
    ]);
    const full = parse(predictionJson(regression([1, 2]), 'full', [0.5])) as Record<string, unknown>;
    assert.deepEqual(full.borders, [0, 1, 2]);
    assert.deepEqual(full.logits, [
      [1, -100],
      [2, -100],
    ]);
    const { mean, median, mode, quantiles } = full;
    const main = parse(predictionJson(regression([1, 2]), 'main', [0.5]));
    assert.deepEqual(main, { mean, median, mode, quantiles });
  });

  it('writes whole numbers as floats, but never a label', () => {
    const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();
    assert.equal(
      text(predictionJson(regression([1, -0, 1.5, 1e21, 123456789012345680000, 1e-7]), 'mean', [])),
      '[1.0,0.0,1.5,1e+21,123456789012345680000.0,1e-7]',
    );
    const result = {
      task: 'classification' as const,
      rows: 1,
      classes: [7, 8],
      probas: Float64Array.of(0, 1),
    };
    assert.equal(text(predictionJson(result, 'probas', [])), '[[0.0,1.0]]');
    assert.equal(text(predictionJson(result, 'preds', [])), '[8]');
  });

  it('writes predictions longer than one string should be', () => {
    const values = Array.from({ length: 300_000 }, (_, i) => i / 7);
    assert.deepEqual(parse(predictionJson(regression(values), 'median', [])), values);
  });

  it('refuses an output type of the other task', () => {
    assert.throws(() => predictionJson(regression([1]), 'probas', []), /output_type probas/);
  });
});
