import assert from 'node:assert/strict';

import { assertAnswerSize, machineLimits, Refusal } from '../../doors/service';

describe('The size of an answer', () => {
  const limits = machineLimits(
    { limits: { prediction_max_cells: 1000, max_quantiles: 50 }, maxBytes: 1e9 },
    1e9,
  );
  const levels = (count: number): number[] => Array.from({ length: count }, (_, i) => (i + 1) / (count + 1));
  const regression = { classes: 0, quantiles: levels(9) };

  it('counts the numbers for each row, whatever is asked for', () => {
    for (const [asked, rows] of [
      [{ ...regression, outputType: 'mean' as const }, 1000],
      [{ ...regression, outputType: 'quantiles' as const }, 111],
      [{ ...regression, outputType: 'full' as const }, 111],
      [{ classes: 40, quantiles: [], outputType: 'probas' as const }, 25],
      [{ classes: 40, quantiles: [], outputType: 'preds' as const }, 1000],
    ] as const) {
      assertAnswerSize({ ...asked, rows }, limits);
      assert.throws(
        () => assertAnswerSize({ ...asked, rows: rows + 1 }, limits),
        (error: Refusal) => {
          assert.deepEqual([error.status, error.body.errorCode], [422, 'LIMIT_EXCEEDED']);
          assert.match(error.message, new RegExp(`Send at most ${rows} rows at a time`));
          return true;
        },
        asked.outputType,
      );
    }
  });

  it('takes a bounded number of quantiles', () => {
    const ask = (count: number): void =>
      assertAnswerSize({ classes: 0, quantiles: levels(count), outputType: 'quantiles', rows: 1 }, limits);
    ask(50);
    assert.throws(() => ask(51), /asks for 51 quantiles; this service takes at most 50/);
  });

  it('is bounded by the memory of the machine', () => {
    const cells = (memory: number): number =>
      machineLimits({ limits: {}, maxBytes: 1e9 }, memory).prediction_max_cells;
    assert.ok(cells(512e6) * 64 <= 512e6 / 8);
    assert.equal(cells(64e9), 10_000_000);
    assert.ok(20_000 * 20_000 > cells(64e9));
  });
});
