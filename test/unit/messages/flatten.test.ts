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
