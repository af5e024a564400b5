import assert from 'node:assert/strict';

import { type Series } from '../doors/series';
import { DAY, MINUTE, open, START } from '../unit/series/support';

const KEYS = 1000;
const COLUMNS = 400;

/** Of a key, one number more in each column. */
function reading(key: number, time: number): Record<string, number> {
  const cells: Record<string, number> = { key, time };
  for (let column = 0; column < COLUMNS; column++) {
    cells[`c${column}`] = key + column;
  }
  return cells;
}

const memory = (): number => {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

describe('a series at its bounds', function () {
  this.timeout(300_000);

  it('holds five million numbers of a thousand keys, refuses more, and goes on once windows have passed', async () => {
    const before = memory();
    // No outcome comes, and so no row leaves: what is measured is what is held.
    const { series } = await open({ key: 'key', column: 'c0', ahead: '1d', windows: '1d' });
    const taken = await fill(series, START);
    assert.ok(taken * COLUMNS > 4_900_000 && taken * COLUMNS <= 5_000_000, `${taken} readings`);
    const held = memory();
    assert.ok(held - before < 400e6, `${(held - before) / 1e6} MB`);

    for (let key = 0; key < KEYS; key++) {
      await assert.rejects(series.push(reading(key, START + DAY)), { code: 'limit.exceeded' });
    }
    assert.equal(series.progress.readings, taken, 'what is refused is not counted');
    assert.ok(memory() - held < 50e6, `${(memory() - held) / 1e6} MB more`);

    for (let key = 0; key < KEYS; key++) {
      await series.push(reading(key, START + 10 * DAY));
    }
    assert.equal(series.progress.readings, taken + KEYS);
    assert.equal(series.progress.keys, KEYS);
  });
});

/** Pushes readings of all keys until one is refused. @returns how many were taken */
async function fill(series: Series, time: number): Promise<number> {
  for (let taken = 0; ; taken++) {
    try {
      await series.push(reading(taken % KEYS, time + Math.floor(taken / KEYS) * MINUTE));
    } catch (error) {
      assert.equal((error as { code: string }).code, 'limit.exceeded');
      return taken;
    }
  }
}
