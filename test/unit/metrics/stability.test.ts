import { strict as assert } from 'node:assert';

import { stabilityIndex } from '../../doors/metrics';

describe('stabilityIndex', () => {
  it('is the sum of (actual − expected) · ln(actual / expected) over the bins', () => {
    // 10,000 rows: what is added to a bin so that none is empty changes nothing that shows.
    const index = stabilityIndex([0.5, 0.5], [7500, 2500]);
    const exact = 0.25 * Math.log(0.75 / 0.5) - 0.25 * Math.log(0.25 / 0.5);
    assert.ok(Math.abs(index - exact) < 1e-3, `${index} against ${exact}`);
  });

  it('is 0 for equal shares, however many rows, and finite for empty bins', () => {
    assert.ok(Math.abs(stabilityIndex([10, 30, 0], [100, 300, 0])) < 1e-12);
    assert.ok(Number.isFinite(stabilityIndex([1, 0], [0, 200])));
    assert.ok(stabilityIndex([1, 0], [0, 200]) > 3);
    assert.equal(stabilityIndex([1, 0], [0, 0]), 0);
  });
});
