import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { openSeries, parseSeriesSettings, type Series, type SeriesReading } from '../../doors/series';
import { backfill, DAY, HOUR, live, MINUTE, open, START, trainRows } from './support';

const NOW = START + 1000 * DAY;

describe('readings of a series that begin oddly', () => {
  describe('without a time', () => {
    it('are an error where the others have one, and make nothing late', async () => {
      const { series } = await open({ column: 'x', train: 'never' });
      for (let i = 0; i < 20; i++) {
        await series.push({ time: START + i * MINUTE, x: i });
      }
      for (const reading of [{ time: null, x: 20 }, { time: '', x: 20 }, { x: 20 }]) {
        await assert.rejects(series.push(reading), { code: 'time.invalid', message: /no time/u });
      }
      const { rows } = await series.push({ time: START + 20 * MINUTE, x: 20 });
      assert.equal(rows.length, 1);
      assert.deepEqual([series.progress.late, series.progress.readings], [0, 21]);
    });

    it('are still an error after a restart', async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'series-'));
      try {
        const settings = parseSeriesSettings({ column: 'x', train: 'never', timezone: 'UTC' });
        const first = await openSeries(settings, { folder });
        await first.push({ time: START, x: 1 });
        await first.close();
        const second = await openSeries(settings, { folder });
        await assert.rejects(second.push({ time: null, x: 2 }), { code: 'time.invalid' });
        await second.close();
      } finally {
        fs.rmSync(folder, { recursive: true });
      }
    });

    it('count as of now where no other has one, or where the clock of the others is ours', async () => {
      const none = await open({ column: 'x', train: 'never' });
      await none.series.push({ time: null, x: 1 });
      const { rows } = await none.series.push({ time: null, x: 2 });
      assert.equal(rows.length, 1);
      const ours = await open({ column: 'x', train: 'never' });
      await live(
        ours.series,
        Array.from({ length: 10 }, (_, i) => ({ time: NOW - (10 - i) * MINUTE, x: i })),
      );
      const event = await ours.series.push({ alarm: true });
      assert.equal(event.rows[0]?.series.time, NOW);
    });

    it('go on as far apart as they arrive where the clock is set back, also over a restart, until it has caught up', async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'series-'));
      const notes: string[] = [];
      let now = NOW;
      const settings = parseSeriesSettings({ column: 'x', ahead: '5m', windows: '5m', train: 'never' });
      const opened = () =>
        openSeries(settings, {
          folder,
          now: () => now,
          notify: ({ kind, text }) => notes.push(`${kind}: ${text}`),
        });
      const times: number[] = [];
      const pushed = async (series: Series, count: number) => {
        for (let i = 0; i < count; i++) {
          const { rows } = await series.push({ x: Math.sin(times.length) });
          assert.equal(rows.length, 1);
          times.push(rows[0]!.series.time);
          now += MINUTE;
        }
      };
      try {
        const first = await opened();
        await pushed(first, 20);
        now -= HOUR;
        await pushed(first, 20);
        await first.close();
        assert.match(notes.join(), /^clock: The clock of this computer was set back: .* reset the key\.$/);
        const second = await opened();
        await pushed(second, 600);
        assert.deepEqual([second.progress.late, second.progress.readings], [0, 640]);
        await second.close();
      } finally {
        fs.rmSync(folder, { recursive: true });
      }
      const apart = times.slice(1).map((time, i) => (time - times[i]!) / MINUTE);
      assert.ok(
        apart.every((minutes) => minutes > 0.85 && minutes <= 1),
        String(apart),
      );
      assert.equal(times.at(-1), now - MINUTE);
      assert.deepEqual(
        notes.map((note) => note.split(':')[0]),
        ['clock', 'clock'],
      );
    });

    it('are all kept, also those of one millisecond, live and in a table', async () => {
      const { series, notes } = await open({ outcome: 'none' });
      const readings = Array.from({ length: 1000 }, (_, i) => ({ i }));
      const { rows } = await live(series, readings);
      assert.deepEqual(
        rows.map(({ row }) => row.i),
        readings.map(({ i }) => i),
      );
      const { duplicates } = series.progress;
      assert.deepEqual([duplicates, notes.length], [0, 0]);
      const table = await open({ outcome: 'none' });
      const past = await backfill(table.series, readings);
      assert.equal(past.rows.length, 1000);
      assert.equal(past.rows.at(-1)!.series.time, NOW);
      assert.deepEqual(
        table.notes.map(({ kind }) => kind),
        ['no time'],
      );
    });

    it('of several keys in one table are of the same moment, and nothing is told', async () => {
      const { series, notes } = await open({ key: 'k', outcome: 'none' });
      const { rows } = await backfill(series, [
        { k: 'a', x: 1 },
        { k: 'b', x: 2 },
      ]);
      assert.deepEqual(
        rows.map((row) => row.series.time),
        [NOW, NOW],
      );
      assert.equal(notes.length, 0);
    });

    it('in a table where others have one are an error that names the row; empty rows are left out', async () => {
      const { series } = await open({ column: 'x', train: 'never' });
      const table = (...more: SeriesReading[]): SeriesReading[] => [
        { time: START, x: 1 },
        { time: START + MINUTE, x: 2 },
        ...more,
      ];
      await assert.rejects(backfill(series, table({ time: '', x: 3 })), {
        code: 'time.invalid',
        message: /Column "time", row 3/u,
      });
      await assert.rejects(backfill(series, table({ x: 3 })), { code: 'time.invalid', message: /row 3/u });
      assert.equal((await backfill(series, table({ time: '', x: '' }))).rows.length, 2);
    });
  });

  describe('as a plan with columns of its own', () => {
    const past = Array.from({ length: 72 }, (_, i) => ({ time: START - (71 - i) * HOUR, load: i % 24 }));
    const plan = Array.from({ length: 30 }, (_, i) => ({
      time: START + (i + 1) * HOUR,
      price: i,
      currency: 'EUR',
      zone: null,
    }));
    const options = { column: 'load', ahead: '24h', train: 'never', knownAhead: 'price' };

    for (const [how, send] of [
      [
        'as a table',
        (readings: SeriesReading[], s: Awaited<ReturnType<typeof open>>) => backfill(s.series, readings),
      ],
      [
        'one by one',
        (readings: SeriesReading[], s: Awaited<ReturnType<typeof open>>) => live(s.series, readings),
      ],
    ] as const) {
      it(`is a plan, ${how}: it moves no clock, and its other columns are none`, async () => {
        const opened = await open(options, () => START);
        await backfill(opened.series, past);
        const { rows } = await send(plan, opened);
        assert.equal(rows.length, 0);
        const { planned, future, columns } = opened.series.progress;
        assert.deepEqual(
          { planned, future, columns },
          { planned: 30, future: 0, columns: ['load', 'price'] },
        );
        const next = await opened.series.push({ time: START + MINUTE, load: 5 });
        assert.equal(next.rows[0]?.row['price then'], 23 + 1 / 60);
      });
    }

    it('is a reading where it has what is to be predicted, or is of the past', async () => {
      const { series } = await open(options, () => START);
      await backfill(series, past);
      await series.push({ time: START + MINUTE, price: 1, load: 2 });
      await series.push({ time: START + MINUTE - 1, price: 1, currency: 'EUR' });
      const { planned, readings } = series.progress;
      assert.deepEqual([planned, readings], [0, 74]);
    });

    it('holds for all keys where it names none, and a reading without its key is an error', async () => {
      const { series } = await open({ ...options, key: 'k' }, () => START);
      await backfill(
        series,
        past.map((reading) => ({ ...reading, k: 'a' })),
      );
      await live(series, plan);
      assert.equal(series.progress.planned, 30);
      await assert.rejects(series.push({ time: START, price: 1, currency: 'EUR' }), {
        code: 'columns.missing',
      });
    });
  });

  describe('with a word', () => {
    const numbers = (from: number, to: number): SeriesReading[] =>
      Array.from({ length: to - from }, (_, i) => ({
        time: START + (from + i) * MINUTE,
        t: 60 + (from + i) / 10,
      }));

    it('that means missing are numbers from the first number on', async () => {
      const { series, notes } = await open({ column: 't', ahead: '5m', train: '20 rows' });
      await series.push({ time: START, t: 'unavailable' });
      const { trainSet } = await live(series, numbers(1, 60));
      const rows = await trainSet!.rows();
      assert.equal(trainSet!.relative_to, 't');
      assert.ok(rows.every((row) => typeof row[trainSet!.target] === 'number' && typeof row.t === 'number'));
      assert.deepEqual(
        notes.map(({ kind }) => kind),
        ['text'],
      );
      assert.match(notes[0]!.text, /"t" began with text \("unavailable"\)/u);
      const { rows: then } = await series.push({ time: START + HOUR, t: 'unavailable' });
      assert.equal(then[0]!.row.t, 65.9, 'missing, and no error');
    });

    it('of another kind are numbers after ten of them, with what they held', async () => {
      const { series } = await open({ column: 't', ahead: '5m', train: 'never', calendar: 'off' });
      await series.push({ time: START, t: 'starting', mode: 'on' });
      await live(series, numbers(1, 40));
      const rows = await trainRows(series);
      assert.ok(rows.length > 20);
      assert.ok(rows.every((row) => typeof row['t in 5m'] === 'number'));
      const last = rows.at(-1)!;
      assert.ok(Math.abs(Number(last['t mean 5m'])) > 0, 'windows reach back beyond the turn');
      assert.equal(last.mode, 'on');
      assert.deepEqual(series.progress.columns, ['mode', 't']);
    });

    it('of a table are numbers as well', async () => {
      const { series } = await open({ column: 't', ahead: '5m' });
      const { trainSet } = await backfill(series, [{ time: START, t: 'unknown' }, ...numbers(1, 60)]);
      const rows = await trainSet!.rows();
      assert.ok(rows.every((row) => typeof row[trainSet!.target] === 'number'));
    });

    it('stay text where words and numbers take turns', async () => {
      const { series, notes } = await open({ column: 'x', train: 'never' });
      const { rows } = await live(
        series,
        Array.from({ length: 40 }, (_, i) => ({
          time: START + i * MINUTE,
          x: i,
          mode: i % 5 === 0 ? 'eco' : i % 5,
        })),
      );
      assert.equal(rows.at(-1)!.row.mode, '4');
      assert.equal(notes.length, 0);
    });

    it('are numbers after a restart too', async () => {
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'series-'));
      try {
        const settings = parseSeriesSettings({ column: 't', ahead: '5m', train: 'never', timezone: 'UTC' });
        const whole = await openSeries(settings);
        const first = await openSeries(settings, { folder });
        for (const reading of [{ time: START, t: 'unavailable', u: 1 }, ...numbers(1, 30)]) {
          await first.push(reading);
          await whole.push(reading);
        }
        await first.close();
        const second = await openSeries(settings, { folder });
        await live(second, numbers(30, 60));
        await live(whole, numbers(30, 60));
        assert.deepEqual(await trainRows(second), await trainRows(whole));
        await second.close();
      } finally {
        fs.rmSync(folder, { recursive: true });
      }
    });
  });
});
