import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { openSeries, parseSeriesSettings, type Series, type SeriesOptions } from '../../doors/series';
import { DAY, live, MINUTE, START, trainRows } from './support';

const MB = 1024 * 1024;
const OPTIONS: SeriesOptions = {
  column: 's0',
  ahead: '10m',
  windows: '10m',
  timezone: 'UTC',
  train: 'never',
};
/** Rows of these sensors take 0.4 KB on disk. */
const SENSORS = 12;

const readings = (from: number, to: number): Record<string, number>[] =>
  Array.from({ length: to - from }, (_, i) => {
    const reading: Record<string, number> = { time: START + (from + i) * MINUTE };
    for (let sensor = 0; sensor < SENSORS; sensor++) {
      reading[`s${sensor}`] = Math.sin((from + i) * (sensor + 1));
    }
    return reading;
  });

describe('the journal of a series over many sessions', function () {
  this.timeout(120_000);
  let folder = '';
  beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), 'series-'))));
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = (keep: number): Promise<Series> =>
    openSeries(parseSeriesSettings({ ...OPTIONS, keep }), { folder, now: () => START + 1000 * DAY });
  const journals = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  const size = (): number =>
    journals().reduce((sum, name) => sum + statSync(path.join(folder, name)).size, 0);

  it('is compacted though each adds less than what is there, and what it holds stays the same', async () => {
    let whole: Series | undefined;
    let most = 0;
    try {
      whole = await openSeries(parseSeriesSettings({ ...OPTIONS, keep: 50 }));
      for (let session = 0; session < 8; session++) {
        const part = readings(session * 1500, (session + 1) * 1500);
        const series = await open(50);
        await live(series, part);
        await live(whole, part);
        await series.close();
        most = Math.max(most, size());
      }
      assert.ok(most < 10 * MB, `${most} bytes`);
      const series = await open(50);
      assert.deepEqual(await trainRows(series), await trainRows(whole));
      assert.equal(series.progress.readings, 12_000);
      await series.flush();
      assert.ok(size() < 6 * MB, `${size()} bytes`);
      await series.close();
    } finally {
      await whole?.close();
    }
  });

  it('is compacted where much less is to be kept from now on, and else left as it is', async () => {
    const series = await open(20_000);
    await live(series, readings(0, 8000));
    await series.close();
    assert.ok(size() > 6 * MB, `${size()} bytes are more than what never is compacted`);
    const [name] = journals();
    for (let session = 0; session < 3; session++) {
      const again = await open(20_000);
      await again.push(readings(8000 + session, 8001 + session)[0]!);
      await again.close();
    }
    assert.deepEqual(journals(), [name], 'all of it is needed');
    const few = await open(10);
    await few.close();
    assert.notDeepEqual(journals(), [name]);
    assert.ok(size() < MB / 2, `${size()} bytes`);
    const reopened = await open(10);
    assert.equal(reopened.progress.readings, 8003);
    assert.ok(
      reopened.progress.kept < 50,
      'those that are kept, and those that a late reading may still change',
    );
    await reopened.close();
  });
});
