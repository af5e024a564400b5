import assert from 'node:assert/strict';

import { inUsualUnit } from '../../doors/runtime';

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

describe('a time as people tell it', () => {
  for (const [ms, unit, key, value, decimals] of [
    [0, 'second', 's', 0, 0],
    [89_000, 'second', 's', 89, 0],
    [90_000, 'minute', 'min', 1.5, 0],
    [90 * MINUTE, 'hour', 'h', 1.5, 1],
    [38 * 60 * MINUTE, 'hour', 'h', 38, 0],
    [2 * DAY, 'day', 'days', 2, 1],
    [21 * DAY, 'week', 'weeks', 3, 0],
    [730 * DAY, 'year', 'years', 2, 1],
  ] as const) {
    it(`is in ${unit}s of ${ms} ms`, () => {
      assert.deepEqual(inUsualUnit(ms), { unit, key, value, decimals });
    });
  }
});
