import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { openSeries, parseSeriesSettings, type Series, type SeriesReading } from '../../doors/series';
import { backfill, DAY, HOUR, live, MINUTE, open, START, trainRows } from './support';

const YEAR = 8760;

/** Hours of a house, from one hour of the year up to another. */
function hours(from: number, to: number): SeriesReading[] {
  return Array.from({ length: to - from }, (_, i) => {
    const hour = from + i;
    const outside = 10 + 8 * Math.sin((2 * Math.PI * hour) / YEAR) + 4 * Math.sin((2 * Math.PI * hour) / 24);
    return {
      time: START + hour * HOUR,
      kwh: 3 + Math.sin((2 * Math.PI * hour) / 24) - outside / 10,
      outside,
    };
  });
}

const NEXT_DAY = { column: 'kwh', ahead: '1h..24h' };
const ids = (list: { series: { id: string } }[]): string[] => list.map(({ series }) => series.id);

describe('rows of past readings', function () {
  this.timeout(120_000);

  it('of a year of hours are the newest 24 where those are asked for, with the train set of all', async () => {
    const { series } = await open({ ...NEXT_DAY, send: 'newest' });
    const { rows, outcomes, trainSet } = await backfill(series, hours(0, YEAR));
    assert.equal(rows.length, 24);
    assert.ok(rows.every((row) => row.series.time === START + (YEAR - 1) * HOUR));
    assert.deepEqual(
      rows.map(({ series }) => series.ahead),
      Array.from({ length: 24 }, (_, i) => (i + 1) * HOUR),
    );
    assert.deepEqual(outcomes, []);
    assert.ok(trainSet!.train.rows >= 20_000);
    assert.equal(series.progress.rows, 24);
    assert.equal(series.progress.outcomes > 200_000, true, 'all outcomes are known');
  });

  it('of a quarter of hours are all 52,560 where they are asked for, made part by part', async () => {
    const QUARTER = YEAR / 4;
    const { series } = await open({ ...NEXT_DAY, keep: 1_000_000, train: 'never' });
    const { rows, outcomes } = await series.backfill(hours(0, QUARTER), { most: 1_000_000 });
    assert.equal(rows.length, QUARTER * 24);
    assert.equal(rows.total, QUARTER * 24);
    const last = rows.slice(rows.length - 24, rows.length);
    assert.ok(last.every((row) => row.series.time === START + (QUARTER - 1) * HOUR));
    assert.equal(rows.slice(rows.length - 1, Infinity).length, 1);
    assert.ok(rows.width >= Object.keys(last[0]!.row).length);
    assert.equal(outcomes.length, QUARTER * 24 - (24 * 25) / 2);
    const { row, truth } = outcomes.slice(0, 1)[0]!;
    assert.equal(row['kwh ahead'], truth);
  });

  it('are the newest ones where fewer are to be held, and say how many there were', async () => {
    const { series } = await open({ ...NEXT_DAY, train: 'never' });
    const { rows, outcomes } = await series.backfill(hours(0, 500), { most: 1000 });
    const whole = await backfill((await open({ ...NEXT_DAY, train: 'never' })).series, hours(0, 500));
    assert.deepEqual([rows.length, rows.total, outcomes.length], [1000, 12_000, 1000]);
    assert.deepEqual(rows.slice(0, 1000), whole.rows.slice(-1000));
    assert.deepEqual(outcomes.slice(0, 1000), whole.outcomes.slice(-1000));
  });

  it('are the same packed as live, with columns that came midway and outcomes of rows before the table', async () => {
    const readings = hours(0, 300).map((reading, i) => ({
      ...reading,
      ...(i > 150 && { wind: i % 7, mode: i % 2 === 0 ? 'day' : 'night' }),
    }));
    const settings = { ...NEXT_DAY, train: 'never' };
    const one = await live((await open(settings)).series, readings);
    const { series } = await open(settings);
    const before = await live(series, readings.slice(0, 100));
    const table = await backfill(series, readings.slice(100));
    assert.deepEqual(before.rows.concat(table.rows), one.rows);
    assert.deepEqual(before.outcomes.concat(table.outcomes), one.outcomes);
  });

  it('bring outcomes of rows that left alone, live, later and after a restart', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-past-rows-'));
    try {
      const settings = parseSeriesSettings({ ...NEXT_DAY, timezone: 'UTC', train: 'never', send: 'newest' });
      const reopened = (): Promise<Series> =>
        openSeries(settings, { folder, now: () => START + 1000 * DAY, notify: () => undefined });
      let series = await reopened();
      const early = await live(series, hours(0, 30));
      const table = await backfill(series, hours(30, 100));
      const sent = new Set(ids(early.rows.concat(table.rows)));
      assert.equal(table.rows.length, 24);
      await series.close();
      series = await reopened();
      const later = await live(series, hours(100, 130));
      ids(later.rows).forEach((id) => sent.add(id));
      const known = [...early.outcomes, ...table.outcomes, ...later.outcomes];
      assert.ok(known.every(({ series: { id } }) => sent.has(id)));
      assert.equal(new Set(ids(known)).size, known.length, 'none comes twice');
      const due = [...early.rows, ...table.rows, ...later.rows].filter(
        ({ series: { time, ahead } }) => time + ahead! <= START + 129 * HOUR,
      );
      assert.deepEqual(ids(known).sort(), ids(due).sort());
      await series.close();
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  it('that overlap with what is there bring no outcome twice, and the newest row once more', async () => {
    const { series } = await open({ ...NEXT_DAY, train: 'never', send: 'newest' });
    const early = await live(series, hours(50, 100));
    const older = await backfill(series, hours(0, 80));
    assert.deepEqual(ids(older.rows), ids(early.rows.slice(-24)));
    assert.deepEqual(older.outcomes, []);
    const later = await live(series, hours(100, 110));
    const sent = new Set(ids(early.rows.concat(later.rows)));
    const known = ids([...early.outcomes, ...later.outcomes]);
    assert.ok(known.every((id) => sent.has(id)));
    assert.equal(new Set(known).size, known.length);
    const whole = await live((await open({ ...NEXT_DAY, train: 'never' })).series, hours(0, 110));
    assert.deepEqual(later.rows, whole.rows.slice(-240), 'what came later knows of the table');
  });

  it('are one of each key of the table, and with an interval the last one that is a row', async () => {
    const { series } = await open({
      ...{ key: 'machine', column: 'kwh', ahead: '1h', every: '3h', send: 'newest', train: 'never' },
    });
    await live(series, [{ time: START, kwh: 1, machine: 'other' }]);
    const { rows } = await backfill(
      series,
      ['a', 'b'].flatMap((machine, k) => hours(0, 50 + k).map((reading) => ({ ...reading, machine }))),
    );
    assert.deepEqual(
      rows.map(({ series: { key, time } }) => [key, (time - START) / HOUR]),
      [
        ['a', 48],
        ['b', 48],
      ],
    );
  });

  it('whose outcome a message brings give it to output 2 only if they left', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-past-rows-'));
    try {
      const settings = parseSeriesSettings({ outcome: 'message', timezone: 'UTC', send: 'newest' });
      const reopened = (): Promise<Series> => openSeries(settings, { folder, now: () => START + 1000 * DAY });
      let series = await reopened();
      const { rows } = await backfill(series, hours(0, 50));
      assert.deepEqual(ids(rows), [`${START + 49 * HOUR}`]);
      await series.close();
      series = await reopened();
      const stayed = await series.outcome({ time: START + 10 * HOUR, value: 1 });
      assert.deepEqual([stayed.outcomes.length, series.progress.kept], [0, 1], 'it is learned from');
      const left = await series.outcome({ time: START + 49 * HOUR + MINUTE, value: 2 });
      assert.deepEqual(ids(left.outcomes), ids(rows));
      await series.close();
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });

  it('replace those of their own times alone, where a table has gaps', async () => {
    const { series } = await open({ column: 'heat', ahead: '3m', windows: '3m', train: 'never' });
    const readings = (numbers: number[], load: number) =>
      numbers.map((number) => ({ time: START + number * MINUTE, number, load, heat: Math.sin(number) }));
    const upTo = (count: number) => Array.from({ length: count }, (_, i) => i);
    await live(series, readings(upTo(100), 1));
    const before = await trainRows(series);
    const told = upTo(102).filter(
      (number) => number >= 98 || (number >= 20 && number <= 40 && number % 2 === 0),
    );
    await backfill(series, readings(told, 2));
    const after = await trainRows(series);
    assert.deepEqual(
      after.map(({ number }) => number),
      [...before.map(({ number }) => number), 97, 98],
    );
    assert.deepEqual(
      after.filter(({ load }) => load === 2).map(({ number }) => number),
      [...told.filter((number) => number <= 38), 98],
    );
  });
});
