import assert from 'node:assert/strict';

import fc from 'fast-check';

import type { SeriesReading } from '../../doors/series';
import { backfill, DAY, HOUR, live, MINUTE, open, SECOND, START, trainRows } from './support';

const OPTIONS = { key: 'machine', column: 'temperature', ahead: '10m', windows: '10m, 1h', late: '5m' };

/** Readings of machines in the order of time, each at its own pace, with states, missing cells and pauses. */
function machines(seed: number, count: number): SeriesReading[] {
  let state = seed + 1;
  const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  const readings: SeriesReading[] = [];
  for (const machine of ['a', 'b', 'c']) {
    let time = START + Math.floor(random() * 60) * SECOND;
    for (let i = 0; i < count; i++) {
      time += Math.floor(20 + random() * 100) * SECOND + (random() < 0.02 ? 2 * HOUR : 0);
      readings.push({
        time,
        machine,
        temperature: 60 + 10 * Math.sin(i / 20) + random(),
        ...(random() < 0.9 && { vibration: random() * 3 }),
        mode: random() < 0.1 ? 'idle' : 'run',
      });
    }
  }
  return readings.sort((a, b) => Number(a.time) - Number(b.time));
}

function shuffledWithin(readings: SeriesReading[], late: number, random: () => number): SeriesReading[] {
  return readings
    .map((reading) => ({ reading, at: Number(reading.time) + random() * late }))
    .sort((a, b) => a.at - b.at)
    .map(({ reading }) => reading);
}

describe('rows of a series', () => {
  it('are the same bit for bit as they come and from a table, and so are outcomes', async () => {
    for (const options of [
      OPTIONS,
      { ...OPTIONS, ahead: '1h, 2h', windows: '', late: '', every: '2m' },
      { ...OPTIONS, outcome: 'event' as const, operator: '>', value: 68 },
      { ...OPTIONS, column: 'mode' },
    ]) {
      const readings = machines(1, 400);
      const one = await open({ ...options, train: 'never' });
      const byOne = await live(one.series, readings);
      const other = await open(options);
      const table = [...readings].sort((a, b) => String(a.machine).localeCompare(String(b.machine)));
      const asTable = await backfill(other.series, table);
      assert.ok(byOne.rows.length > 500 && byOne.outcomes.length > 300);
      assert.deepEqual(asTable.rows, byOne.rows);
      assert.deepEqual(asTable.outcomes, byOne.outcomes);
      assert.deepEqual(await asTable.trainSet!.rows(), await trainRows(one.series));
    }
  });

  it('tell differences without the noise of binary fractions, but for nodes of an earlier version', async () => {
    const readings = [20.1, 19.4, 18.28].map((load, i) => ({ time: START + i * 10 * MINUTE, load }));
    const changes = async (shape: 'auto' | 'plain') => {
      const { series } = await open({ column: 'load', ahead: '10m', windows: '20m', train: 'never', shape });
      return (await live(series, readings)).rows.at(-1)!.row;
    };
    const {
      'load change 20m': change,
      'load highest 20m': highest,
      'load mean 20m': mean,
    } = await changes('auto');
    assert.deepEqual([change, highest, mean], [-1.82, 1.82, 1.47]);
    assert.equal((await changes('plain'))['load change 20m'], 18.28 - 20.1);
  });

  it('make the same train set in any order of arrival within late, with repeats, and a clock an hour ahead', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(1e6), async (seed) => {
        let state = seed + 1;
        const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
        const readings = machines(seed, 60).map((reading) =>
          reading.machine === 'c' ? { ...reading, time: Number(reading.time) + HOUR } : reading,
        );
        const sorted = await open(OPTIONS);
        await live(sorted.series, readings);
        const arriving = shuffledWithin(readings, 5 * MINUTE, random);
        const repeated = arriving.flatMap((reading) => (random() < 0.05 ? [reading, reading] : [reading]));
        const shuffled = await open(OPTIONS);
        const steps = await live(shuffled.series, repeated);
        assert.equal(shuffled.series.progress.late, 0);
        assert.deepEqual(await trainRows(shuffled.series), await trainRows(sorted.series));
        for (const { series, row } of steps.outcomes) {
          assert.equal(row.machine, series.key);
        }
      }),
      { numRuns: 15 },
    );
  });

  it('do not change with what comes after them', async () => {
    const readings = machines(3, 200);
    const half = readings.length / 2;
    const changed = readings.map((reading, i) =>
      i < half ? reading : { ...reading, temperature: -500, mode: 'broken', new: i },
    );
    const [one, other] = [
      await open({ ...OPTIONS, train: 'never' }),
      await open({ ...OPTIONS, train: 'never' }),
    ];
    const before = (await live(one.series, readings)).rows.slice(0, half);
    const after = (await live(other.series, changed)).rows.slice(0, half);
    assert.equal(before.length, half);
    assert.deepEqual(after, before);
  });

  it('have columns with names one can read, and the calendar of the time predicted for', async () => {
    const { series } = await open({
      column: 'load',
      ahead: '1h, 1d',
      windows: '1h, 1d',
      train: 'never',
      timezone: 'Europe/Berlin',
    });
    const readings = Array.from({ length: 9 * 48 }, (_, i) => ({
      ts: new Date(START + i * 30 * MINUTE).toISOString(),
      load: i % 48,
      open: i % 96 < 48,
    }));
    const { rows } = await live(series, readings);
    const [hour, day] = rows.slice(-2);
    assert.deepEqual(Object.keys(hour!.row), [
      'load',
      'load change 1h',
      'load mean 1h',
      'load spread 1h',
      'load change 1d',
      'load mean 1d',
      'load spread 1d',
      'load lowest 1d',
      'load highest 1d',
      'open',
      'open for',
      'open changes 1d',
      'seconds since the reading before',
      'ahead',
      'hour',
      'weekday',
      'month',
      'load a day before',
      'load change a day before',
      'load a week before',
      'load change a week before',
      'load usual now',
      'load usual change',
    ]);
    const at = START + (9 * 48 - 1) * 30 * MINUTE;
    assert.deepEqual(hour!.series, { key: null, time: at, ahead: HOUR, id: `${at}+${HOUR}` });
    assert.equal(day!.series.ahead, DAY);
    const { load, open: isOpen, ahead } = hour!.row;
    assert.deepEqual([load, isOpen, ahead], [47, true, HOUR]);
    // Tuesday 23:30 in London is Wednesday 0:30 in Berlin, an hour later 1:30.
    assert.deepEqual([hour!.row.hour, hour!.row.weekday, hour!.row.month], [1.5, 3, 3]);
    assert.equal(hour!.row['load a day before'], 1 - 47);
    assert.equal(hour!.row['load a week before'], 1 - 47);
    assert.equal(day!.row['load a day before'], 0, 'the same time a day before a day ahead is now');
    assert.equal(hour!.row['seconds since the reading before'], 1800);
  });

  it('know what is usual at that time of the week, of two weeks at least', async () => {
    const { series } = await open({ column: 'load', ahead: '6h', windows: '1h', train: 'never' });
    const { rows } = await live(
      series,
      Array.from({ length: 36 * 24 }, (_, i) => ({
        time: START + i * HOUR,
        load: Math.floor(i / 168) * 10 + (i % 24),
      })),
    );
    const usual = (i: number) => [rows[i]!.row['load usual now'], rows[i]!.row['load usual change']];
    assert.deepEqual(usual(13 * 24), [null, null]);
    assert.deepEqual(usual(14 * 24), [-15, 6]);
    assert.deepEqual(usual(35 * 24), [-25, 6], 'the mean of four weeks');
  });

  it('tell how the outcome changed a day and a week before, where readings are that old', async () => {
    const change = async (ahead: string, days: number): Promise<unknown[]> => {
      const { series } = await open({ column: 'load', ahead, windows: '1h', train: 'never' });
      const { rows } = await live(
        series,
        Array.from({ length: 24 * days }, (_, i) => ({ time: START + i * HOUR, load: i * i })),
      );
      const { row } = rows.at(-1)!;
      return [row['load change a day before'], row['load change a week before']];
    };
    const [last, square] = [24 * 40 - 1, (i: number) => i * i];
    const from = (back: number, ahead: number) => square(last - back + ahead) - square(last - back);
    assert.deepEqual(await change('6h', 40), [from(24, 6), from(168, 6)]);
    assert.deepEqual(await change('36h', 40), [from(48, 36), from(168, 36)], 'the fewest days that are past');
    assert.deepEqual(await change('6h', 1), [null, null]);
    assert.deepEqual(await change('30d', 40), [null, null], 'further back than readings are kept');
  });

  it('leave a holiday out of what is usual, and a lasting change in', async () => {
    const { series } = await open({ column: 'load', ahead: '6h', windows: '1h', train: 'never' });
    // The third Monday is a holiday; from the fifth week on all is higher.
    const day = (i: number) => Math.floor(i / 24);
    const load = (i: number) => (day(i) === 14 ? 10 : 100 + (i % 5)) + (day(i) >= 28 ? 50 : 0);
    const { rows } = await live(
      series,
      Array.from({ length: 44 * 24 }, (_, i) => ({ time: START + i * HOUR, load: load(i) })),
    );
    const usual = (week: number): number => {
      const { row } = rows[7 * 24 * week]!;
      return (row['load usual now'] as number) + (row.load as number);
    };
    const mean = (...weeks: number[]): number =>
      weeks.reduce((sum, week) => sum + load(7 * 24 * week), 0) / weeks.length;
    assert.ok(Math.abs(usual(4) - mean(0, 1, 3)) < 1e-9, `${usual(4)}`);
    assert.ok(Math.abs(usual(6) - mean(3, 4, 5)) < 1e-9, `${usual(6)}`);
  });

  it('keep local time and whole windows in the night of the change', async () => {
    const { series } = await open({
      column: 'x',
      ahead: '1h',
      windows: '2h',
      train: 'never',
      timezone: 'Europe/Berlin',
    });
    // On 29 March 2026 at 2:00 the clocks of Berlin go to 3:00.
    const from = Date.UTC(2026, 2, 28, 20);
    const { rows } = await live(
      series,
      Array.from({ length: 12 }, (_, i) => ({ time: from + i * HOUR, x: i })),
    );
    assert.deepEqual(
      rows.map(({ row }) => row.hour),
      [22, 23, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    assert.deepEqual(
      rows.slice(2).map(({ row }) => row['x change 2h']),
      new Array(10).fill(2),
    );
  });

  it('take times in every form, and local ones in their zone', async () => {
    const { series } = await open({ column: 'x', train: 'never', timezone: 'Europe/Berlin', time: 'when' });
    const forms: [unknown, number][] = [
      [1_772_409_600, Date.UTC(2026, 2, 2)],
      [1_772_409_600_500, Date.UTC(2026, 2, 2) + 500],
      ['2026-03-02T00:10:00Z', Date.UTC(2026, 2, 2, 0, 10)],
      ['2026-03-02 01:20', Date.UTC(2026, 2, 2, 0, 20)],
      ['02.03.2026 01:30', Date.UTC(2026, 2, 2, 0, 30)],
      ['2026-03-02T05:40:00+05:00', Date.UTC(2026, 2, 2, 0, 40)],
      [new Date(Date.UTC(2026, 2, 2, 0, 50)), Date.UTC(2026, 2, 2, 0, 50)],
    ];
    for (const [when, time] of forms) {
      const { rows } = await series.push({ when, x: 1 });
      assert.equal(rows[0]?.series.time, time, String(when));
    }
    for (const when of ['yesterday', '03/04/2026', Infinity, null, undefined, true]) {
      await assert.rejects(series.push({ when, x: 1 }), { code: 'time.invalid', message: /"when"/u });
    }
    assert.equal(series.progress.readings, forms.length);
  });

  it('know the last value of sensors that speak alone', async () => {
    const { series } = await open({ column: 'x', train: 'never', windows: '10m' });
    await series.push({ x: 5 }, { key: 'motor', time: START });
    await series.push({ y: 'on' }, { key: 'motor', time: START + MINUTE });
    const { rows } = await series.push({ z: 1 }, { key: 'motor', time: START + 2 * MINUTE });
    const { key, x, y, z } = rows[0]!.row;
    assert.deepEqual({ key, x, y, z }, { key: 'motor', x: 5, y: 'on', z: 1 });
    const later = await series.push({ z: 2 }, { key: 'motor', time: START + 11 * MINUTE });
    assert.deepEqual([later.rows[0]!.row.x, later.rows[0]!.row.y], [null, 'on'], 'x is 11 minutes old');
  });

  it('come once in each time that is set, at its first reading', async () => {
    const { series } = await open({ column: 'x', train: 'never', every: '1m' });
    const { rows } = await live(
      series,
      Array.from({ length: 60 }, (_, i) => ({ time: START + i * 7 * SECOND, x: i })),
    );
    assert.deepEqual(
      rows.map(({ series: { time } }) => (time - START) / SECOND),
      [0, 63, 126, 182, 245, 301, 364],
    );
  });

  it('of 600 readings that come in a second are those of readings in time', async () => {
    const readings = Array.from({ length: 600 }, (_, i) => ({
      time: START + i * 10 * SECOND,
      x: Math.sin(i),
    }));
    const [one, other] = [
      await open({ column: 'x', train: 'never' }),
      await open({ column: 'x', train: 'never' }),
    ];
    const inTime = await live(one.series, readings);
    const burst = await Promise.all(readings.map((reading) => other.series.push(reading)));
    assert.deepEqual(
      burst.flatMap(({ rows }) => rows),
      inTime.rows,
    );
    assert.deepEqual(
      burst.flatMap(({ outcomes }) => outcomes),
      inTime.outcomes,
    );
  });
});
