import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import fc from 'fast-check';

import { openSeries, parseSeriesSettings, type SeriesReading, type SeriesStep } from '../../doors/series';
import { backfill, DAY, HOUR, live, MINUTE, open, START, trainRows } from './support';

const OPTIONS = {
  column: 'load',
  ahead: '1h..3h',
  windows: '3h',
  knownAhead: 'shift, outside',
  late: '0',
  timezone: 'UTC',
};
const at = (hours: number): number => START + hours * HOUR;
const load = (hour: number): SeriesReading => ({ time: at(hour), load: 10 + Math.sin(hour) });
const then = (rows: SeriesStep['rows'], name: string) => rows.map(({ row }) => row[`${name} then`]);

/** Readings of two machines with what was known ahead of each hour, as a table of the past has them. */
function hours(count: number, noise: (i: number) => number): SeriesReading[] {
  return Array.from({ length: 2 * count }, (_, i) => {
    const hour = i >> 1;
    const shift = ['early', 'late', 'night'][Math.floor(noise(hour) * 3)]!;
    return {
      machine: `m${i % 2}`,
      time: at(hour) + (i % 2) * MINUTE,
      load: 20 * noise(i),
      shift,
      outside: noise(hour + 1),
    };
  });
}

const planOf = (readings: readonly SeriesReading[]): SeriesReading[] =>
  readings.map(({ machine, time, shift, outside }) => ({ machine, time, shift, outside }));

describe('what is known ahead', () => {
  it('is in a row as it will be then: of text the last that is told, of numbers by a line', async () => {
    const { series, notes } = await open({ ...OPTIONS, train: 'never' });
    await backfill(series, [
      { time: at(0), shift: 'early', outside: 4 },
      { time: at(2), outside: 8 },
      { time: at(4), shift: 'late', outside: 0 },
      { time: at(40), shift: 'early', outside: 1 },
    ]);
    const { rows } = await live(series, [load(0), load(1), load(2)]);
    assert.deepEqual(then(rows, 'shift'), [
      ...['early', 'early', 'early'],
      ...['early', 'early', 'late'],
      ...['early', 'late', 'late'],
    ]);
    assert.deepEqual(then(rows, 'outside').slice(0, 7), [6, 8, 4, 8, 4, 0, 4]);
    // Over more than a day a line says nothing.
    assert.equal(then(rows, 'outside')[8], null);
    assert.equal('shift' in rows[0]!.row && rows[0]!.row.shift !== null, false);
    assert.equal(series.progress.planned, 4);
    assert.equal(series.progress.readings, 3);
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['unknown ahead'],
    );
  });

  it('is missing where nothing told it, counted and told once, and never what holds now', async () => {
    const { series, notes } = await open({ ...OPTIONS, train: 'never' });
    await series.push({ time: at(3), shift: 'night' }, { arrival: at(-1) });
    const { rows } = await live(
      series,
      [0, 1, 2].map((hour) => ({ ...load(hour), shift: 'early', outside: 5 })),
    );
    const night = [null, null, 'night', null, 'night', null, 'night', null, null];
    assert.deepEqual(then(rows, 'shift'), night);
    assert.deepEqual(new Set(then(rows, 'outside')), new Set([null]));
    assert.deepEqual([rows[0]!.row.shift, rows[0]!.row.outside], ['early', 5]);
    assert.equal(series.progress.unknownAhead, 9);
    assert.equal(notes.filter(({ text }) => /No plan says what "shift" will be at/u.test(text)).length, 1);
  });

  it('is the same in rows, outcomes and train sets as it comes and from a table, bit for bit (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 130, maxLength: 130 }),
        fc.integer({ min: 5, max: 40 }),
        fc.boolean(),
        async (noise, before, asTables) => {
          const readings = hours(60, (i) => noise[i]!);
          const options = { ...OPTIONS, key: 'machine', train: 'never' };
          const one = await open(options);
          const other = await open(options);
          const plan = planOf(readings);
          const came: SeriesStep['rows'] = [];
          const outcomes = [];
          let told = 0;
          for (const [i, reading] of readings.entries()) {
            // Some hours before their time at least; tables tell some of them again.
            const next = plan.slice(asTables ? Math.max(0, told - 4) : told, i + 2 * before);
            if (told < Math.min(plan.length, i + 8)) {
              if (asTables) {
                await backfill(one.series, next);
              } else {
                for (const row of next) {
                  await one.series.push(row, { arrival: Number(reading.time) - 2 * MINUTE });
                }
              }
              told = i + 2 * before;
            }
            const step = await one.series.push(reading, { arrival: Number(reading.time) });
            came.push(...step.rows);
            outcomes.push(...step.outcomes);
          }
          const table = await backfill(other.series, [...readings].reverse());
          assert.ok(came.some(({ row }) => row['outside then'] !== null));
          assert.deepEqual(came, table.rows);
          assert.deepEqual(outcomes, table.outcomes);
          assert.deepEqual(await trainRows(one.series), await trainRows(other.series));
        },
      ),
      { numRuns: 12 },
    );
  });

  it('stays for a row as it was known to it, where a plan changes and where it came otherwise', async () => {
    const { series } = await open({ ...OPTIONS, ahead: '2h', train: 'never' });
    const plan = (value: number, shift: string) =>
      backfill(
        series,
        [0, 10, 20].map((hour) => ({ time: at(hour), outside: value, shift })),
      );
    await plan(1, 'early');
    const first = await live(series, [load(0), load(1)]);
    await plan(2, 'late');
    const second = await live(
      series,
      [2, 3, 4, 5, 6].map((hour) => ({ ...load(hour), outside: 77, shift: 'night' })),
    );
    assert.deepEqual(then(first.rows, 'outside'), [1, 1]);
    assert.deepEqual(then(second.rows, 'outside'), [2, 2, 2, 2, 2]);
    const rows = await trainRows(series);
    assert.deepEqual(
      rows.map((row) => [row['outside then'], row['shift then']]),
      [
        [1, 'early'],
        [1, 'early'],
        [2, 'late'],
        [2, 'late'],
        [2, 'late'],
      ],
    );
  });

  it('may be of one machine or of all, and its own plan comes first', async () => {
    const { series } = await open({ ...OPTIONS, key: 'machine', ahead: '1h', train: 'never' });
    await backfill(
      series,
      [0, 9].map((hour) => ({ time: at(hour), shift: 'early', outside: 1 })),
    );
    await series.push({ machine: 'b', time: at(0), shift: 'night' }, { arrival: at(-1) });
    await series.push({ machine: 'b', time: at(9), shift: 'night' }, { arrival: at(-1) });
    const { rows } = await live(series, [
      { ...load(0), machine: 'a' },
      { ...load(0), machine: 'b' },
    ]);
    assert.deepEqual(then(rows, 'shift'), ['early', 'night']);
    assert.deepEqual(then(rows, 'outside'), [1, 1]);
    assert.equal(series.progress.keys, 2);
    await assert.rejects(series.push({ shift: 'late' }), { code: 'columns.missing' });
  });

  it('of a key is forgotten by a reset of that key', async () => {
    const { series } = await open({ ...OPTIONS, key: 'machine', ahead: '1h', train: 'never' });
    for (const machine of ['a', 'b']) {
      await series.push({ machine, time: at(0), shift: 'night' }, { arrival: at(-1) });
      await series.push({ machine, time: at(9), shift: 'night' }, { arrival: at(-1) });
    }
    await series.reset('b');
    const { rows } = await live(series, [
      { ...load(0), machine: 'a' },
      { ...load(0), machine: 'b' },
    ]);
    assert.deepEqual(then(rows, 'shift'), ['night', null]);
  });

  it('comes with the table of the past: in its rows, and in those after its last reading', async () => {
    const { series } = await open({ ...OPTIONS, train: 'never' }, () => at(5));
    const past = [0, 1, 2, 3].map((hour) => ({
      ...load(hour),
      shift: hour < 2 ? 'early' : 'late',
      outside: hour,
    }));
    // Of which one hour was not metered: it is a reading all the same.
    const table = [...past, { time: at(2.5), shift: 'late', outside: 2.5, load: null }];
    const future = [4, 5, 90].map((hour) => ({ time: at(hour), load: '', shift: 'night', outside: hour }));
    const { rows } = await backfill(series, [...future, ...table]);
    assert.equal(series.progress.readings, 5);
    assert.equal(series.progress.future, 0);
    assert.deepEqual(then(rows, 'shift').slice(0, 3), ['early', 'late', 'late']);
    assert.deepEqual(then(rows, 'outside').slice(-3), [4, 5, null]);
    const { rows: next } = await live(series, [load(4)]);
    assert.deepEqual(then(next, 'shift'), ['night', 'night', 'night']);
  });

  it('is a reading where its time has come: sensors that speak alone stay sensors', async () => {
    let clock = at(0);
    const { series } = await open({ ...OPTIONS, train: 'never' }, () => clock);
    for (let hour = 0; hour < 8; hour++) {
      clock = at(hour);
      await series.push(load(hour));
      await series.push({ time: at(hour) + MINUTE, outside: hour });
      clock += 2 * MINUTE;
      await series.push({ shift: 'early' });
    }
    assert.equal(series.progress.planned, 0);
    const { rows } = await live(series, [load(8)]);
    assert.deepEqual([rows[0]!.row.outside, rows[0]!.row.shift], [7, 'early']);
  });

  it('is held within bounds, and forgotten once it is past', async () => {
    const columns = Array.from({ length: 50 }, (_, i) => `c${i}`);
    const { series } = await open({ ...OPTIONS, knownAhead: columns.join(','), train: 'never', ahead: '1h' });
    const plan = (from: number, to: number, value: number) =>
      backfill(
        series,
        Array.from({ length: to - from }, (_, i) => ({
          time: at(from + i),
          ...Object.fromEntries(columns.map((name) => [name, value])),
        })),
      );
    for (let hour = 0; hour < 600; hour++) {
      await plan(hour, hour + 20, hour);
      await live(series, [load(hour)]);
    }
    await assert.rejects(plan(600, 10_600, 1), {
      code: 'limit.exceeded',
      message: /known ahead would be \d+ values, more than 500000/u,
    });
    const { rows } = await live(series, [load(600)]);
    assert.deepEqual(then(rows, 'c7'), [599]);
    await series.reset();
    assert.deepEqual(then((await live(series, [load(601)])).rows, 'c7'), [undefined]);
  });

  it('is there after kill -9 as it was written, and what rows knew of it', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'series-ahead-'));
    const settings = { ...OPTIONS, train: 'never' };
    const plans = [0, 1, 2].map((n) =>
      [0, 5, 12].map((hour) => ({ time: at(hour), shift: `s${n}`, outside: n + hour })),
    );
    const code = `
      const { openSeries, parseSeriesSettings } = require(${JSON.stringify(path.resolve('dist/src/series'))});
      void (async () => {
        const series = await openSeries(parseSeriesSettings(${JSON.stringify(settings)}), {
          folder: ${JSON.stringify(folder)}, now: () => ${START + 1000 * DAY},
        });
        const plans = ${JSON.stringify(plans)};
        for (let hour = 0; hour < 6; hour++) {
          await series.backfill(hour % 2 === 0 ? plans[hour / 2] : []);
          await series.push({ time: ${START} + hour * ${HOUR}, load: 10 + Math.sin(hour) });
          await series.flush();
        }
        process.stdout.write('written');
        setInterval(() => undefined, 1000);
      })();`;
    try {
      const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'exit');
      const whole = await open(settings);
      for (let hour = 0; hour < 6; hour++) {
        if (hour % 2 === 0) {
          await backfill(whole.series, plans[hour / 2]!);
        }
        await whole.series.push(load(hour));
      }
      const reopen = () =>
        openSeries(parseSeriesSettings(settings), { folder, now: () => START + 1000 * DAY });
      for (let round = 0; round < 2; round++) {
        const series = await reopen();
        const readings = [load(6 + round), load(7 + round)].slice(0, round + 1);
        assert.equal(series.progress.planned, whole.series.progress.planned);
        const wanted = await live(whole.series, readings);
        assert.deepEqual(await live(series, readings), wanted);
        assert.ok(then(wanted.rows, 'shift').includes('s2'));
        assert.deepEqual(await trainRows(series), await trainRows(whole.series));
        await series.reset('none');
        await series.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('names columns that are neither the outcome, the key nor the time', () => {
    const parsed = (more: object) => parseSeriesSettings({ ...OPTIONS, ...more });
    assert.deepEqual(parsed({ knownAhead: ' shift ,, outside,shift' }).knownAhead, ['shift', 'outside']);
    assert.deepEqual(parsed({ knownAhead: ['a, b'] }).knownAhead, ['a, b']);
    assert.deepEqual(parsed({ outcome: 'none' }).knownAhead, []);
    for (const [more, message] of [
      [{ knownAhead: 'shift, load' }, /Known ahead: "load" is the column of the outcome/u],
      [{ knownAhead: 'when', time: 'when' }, /Known ahead: "when" is the column of the key or the time/u],
      [{ knownAhead: Array.from({ length: 51 }, (_, i) => `c${i}`) }, /51 columns are more than 50/u],
    ] as const) {
      assert.throws(() => parsed(more), { code: 'config.invalid', message });
    }
  });
});
