import assert from 'node:assert/strict';

import { flatten } from '../../doors/messages';

describe('An object that is a value with times beside it', () => {
  const T = Date.UTC(2026, 10, 25, 10);
  const options = { names: [], onList: () => undefined, onBad: () => undefined };

  it('gives the time that is believed most, under its own name', () => {
    const found = flatten({ value: 21, last_seen: T + 60_000, ts: T }, 'oven', options);
    assert.deepEqual(found, { oven: 21, 'oven.ts': T });
  });
});

describe('An object that refers to others in several places', () => {
  const options = { names: [], onList: () => undefined, onBad: () => undefined };

  it('has no columns of itself within itself', () => {
    const row: Record<string, unknown> = { x: 1, inner: { y: 2 } };
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      row[name] = row;
    }
    (row.inner as Record<string, unknown>).outer = row;
    assert.deepEqual(flatten(row, '', options), { x: 1, 'inner.y': 2 });
    const shared = { z: 3 };
    assert.deepEqual(flatten({ a: shared, b: shared }, '', options), { 'a.z': 3, 'b.z': 3 });
  });

  it('is refused where that makes more values than any table has', () => {
    let one: Record<string, unknown> = { x: 1 };
    for (let level = 0; level < 10; level++) {
      one = { a: one, b: one, c: one, d: one };
    }
    assert.throws(() => flatten(one, '', options), { code: 'limit.exceeded' });
  });
});
