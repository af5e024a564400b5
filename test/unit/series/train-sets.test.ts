import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  openSeries,
  parseSeriesSettings,
  Schedule,
  type Series,
  type SeriesOptions,
  type SeriesReading,
} from '../../doors/series';
import { removedAtEnd } from '../../helpers/temporary';
import { backfill, DAY, HOUR, live, MINUTE, open, START } from './support';

const readings = (count: number, step = MINUTE): SeriesReading[] =>
  Array.from({ length: count }, (_, i) => ({ time: START + i * step, x: Math.sin(i / 9), on: i % 50 < 5 }));

/** Why train sets left while these came one by one. */
async function reasonsOf(series: Series, all: SeriesReading[]): Promise<string[]> {
  const reasons: string[] = [];
  for (const reading of all) {
    const { trainSet } = await series.push(reading);
    reasons.push(...(trainSet === undefined ? [] : [trainSet.train.reason]));
  }
  return reasons;
}

describe('train sets of a series', () => {
  it('go first, then the row: until then no row leaves', async () => {
    const { series } = await open({ column: 'x', ahead: '10m' });
    let silent = 0;
    for (const reading of readings(400)) {
      const { rows, trainSet } = await series.push(reading);
      if (trainSet !== undefined) {
        assert.equal(rows.length, 1);
        assert.equal(trainSet.train.reason, 'first');
        assert.equal(trainSet.train.rows, 200);
        assert.equal((await trainSet.rows()).length, 200);
        const { kept, needed, started, trainSets } = series.progress;
        assert.deepEqual(
          { kept, needed, started, trainSets },
          { kept: 200, needed: 200, started: true, trainSets: 1 },
        );
        assert.equal(silent, 209, '200 outcomes, the first after ten minutes');
        return;
      }
      assert.equal(rows.length, 0);
      silent++;
    }
    assert.fail('no train set');
  });

  it('tell a fit what it needs', async () => {
    const { series } = await open({ column: 'x', ahead: '10m', windows: '10m, 1h, 1d', key: 'machine' });
    const table = readings(300).flatMap((reading) =>
      ['a', 'b', 'c', 'd', 'e'].map((machine) => ({ ...reading, machine })),
    );
    const { trainSet, rows } = await backfill(series, table);
    assert.equal(rows.length, 1500);
    const { target, ignore, order, embargo, relative_to, group, folds, replace, train } = trainSet!;
    assert.deepEqual(
      { target, ignore, order, relative_to, group, folds, replace, train },
      {
        target: 'x in 10m',
        ignore: ['machine'],
        order: 'time',
        relative_to: 'x',
        group: 'machine',
        folds: 'blocks',
        replace: 'better',
        train: {
          ...{ reason: 'first', rows: 1450, from: START, to: START + 289 * MINUTE },
          keys: ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key, to: START + 289 * MINUTE })),
        },
      },
    );
    assert.equal(embargo, 5 * 9, 'rows that begin before the outcome of a row is known');
    // A day is of no use to rows that span five hours.
    const set = await trainSet!.rows();
    assert.ok(!Object.keys(set[0]!).some((name) => name.endsWith(' 1d') || name === 'weekday'));
    assert.deepEqual(set, await trainSet!.rows(), 'the same whenever it is asked');
    const few = await open({ column: 'x', key: 'machine', relative: false });
    const two = await backfill(
      few.series,
      table.filter(({ machine }) => machine < 'c'),
    );
    assert.deepEqual(
      [two.trainSet!.group, two.trainSet!.folds, two.trainSet!.ignore, two.trainSet!.relative_to],
      [undefined, undefined, [], undefined],
    );
  });

  it('hold out blocks of time where most rows are of machines that go on, whole machines where they come and go', async () => {
    const foldsOf = async (lives: readonly (readonly [from: number, to: number])[]): Promise<unknown> => {
      const { series } = await open({ column: 'x', ahead: '10m', key: 'machine' });
      const table = readings(400).flatMap((reading, i) =>
        lives.flatMap(([from, to], machine) =>
          i >= from && i < to ? [{ ...reading, machine: `m${machine}` }] : [],
        ),
      );
      return (await backfill(series, table)).trainSet!.folds;
    };
    const lives = Array.from({ length: 8 }, (_, i) => [50 * i, 50 * i + 60] as const);
    assert.equal(await foldsOf(lives), 'groups', 'each its own life, one after the other');
    assert.equal(await foldsOf(lives.map(([from]) => [from, 380])), 'blocks', 'none has ended, one was late');
    const all = [0, 400] as const;
    assert.equal(await foldsOf([all, ...lives]), 'blocks', 'nearly all rows of the end, and half of all');
    assert.equal(await foldsOf([[0, 200], [0, 250], [0, 300], [0, 300], all, all]), 'groups');
  });

  it('have columns of days once rows span days enough', async () => {
    const options = { column: 'x', ahead: '1h', windows: '1h, 1d' };
    const namesOf = async (value: (i: number) => number): Promise<string[]> => {
      const { series } = await open(options);
      const table = readings(17 * 48, 30 * MINUTE).map((reading, i) => ({ ...reading, x: value(i) }));
      const { trainSet } = await backfill(series, table);
      return Object.keys((await trainSet!.rows())[0]!);
    };
    const names = await namesOf((i) => Math.sin((i * Math.PI) / 24));
    const days = ['x a day before', 'x change a day before', 'x a week before', 'x change a week before'];
    for (const name of ['x mean 1d', 'hour', 'weekday', ...days]) {
      assert.ok(names.includes(name), name);
    }
    assert.ok(!names.includes('month'), 'a month of a first year is a point in time');
    const slow = await namesOf((i) => Math.sin(i / 100));
    assert.ok(!slow.includes('x a day before'), 'yesterday says less than now');
  });

  it('leave out the first week of each key, which knows no week before, once it is a third at most', async () => {
    const table = (days: number, from: number, machine: string) =>
      Array.from({ length: 24 * days }, (_, i) => ({
        time: START + from * DAY + i * HOUR,
        machine,
        x: (i * i) % 24,
      }));
    const spanOf = async (readings: readonly { time: number }[]): Promise<Record<string, unknown>[]> => {
      const { series } = await open({ column: 'x', key: 'machine', ahead: '1h' });
      return (await backfill(series, readings)).trainSet!.rows();
    };
    assert.equal((await spanOf(table(20, 0, 'a'))).length, 20 * 24 - 1, 'too many to leave out');
    const rows = await spanOf([...table(40, 0, 'a'), ...table(20, 20, 'b')]);
    assert.equal(rows.filter(({ machine }) => machine === 'a').length, 33 * 24);
    assert.equal(rows.filter(({ machine }) => machine === 'b').length, 13 * 24);
    const daily = table(60 * 24, 0, 'a').filter((_, i) => i % 24 === 0);
    const { series } = await open({ column: 'x', key: 'machine', ahead: '1d' });
    const few = await (await backfill(series, daily.slice(0, 60))).trainSet!.rows();
    assert.equal(few.length, 59, 'of few rows each one counts');
  });

  it('keep some of many aheads of each reading, the newest rows, and rows in order of time', async () => {
    const { series } = await open({ column: 'x', ahead: '1h..24h', windows: '6h', keep: 600 });
    const { trainSet, outcomes } = await backfill(series, readings(400, HOUR));
    const set = await trainSet!.rows();
    assert.equal(outcomes.length, 24 * 400 - (24 * 25) / 2);
    assert.ok(set.length >= 600 && set.length <= 600 + 4 * 48, `${set.length}`);
    assert.equal(new Set(set.map(({ ahead }) => ahead)).size, 24, 'all aheads are learned');
    const hours = (trainSet!.train.to - trainSet!.train.from) / HOUR;
    assert.ok(hours > 130 && hours < 230, `${hours} hours`);
    assert.equal(trainSet!.target, 'x ahead');
  });

  it('of a rare event wait for twenty of it', async () => {
    const { series } = await open({ column: 'on', outcome: 'event', value: 'true', ahead: '2m', late: '0' });
    const all = Array.from({ length: 2000 }, (_, i) => ({
      time: START + i * MINUTE,
      on: i % 100 === 0,
      y: i,
    }));
    let count = 0;
    for (const reading of all) {
      count++;
      const { trainSet } = await series.push(reading);
      if (trainSet !== undefined) {
        const yes = (await trainSet.rows()).filter((row) => row['on = true within 2m'] === 'yes').length;
        assert.equal(yes, 20);
        assert.ok(count > 900 && count < 1100, `${count}`);
        assert.equal(series.progress.rarer, 20);
        return;
      }
    }
    assert.fail('no train set');
  });

  it('of an event wait for three of it, however long one lasts, unless they go by rows', async () => {
    const event = { column: 'on', outcome: 'event', value: 'true', ahead: '5m', late: '0' } as const;
    // Of two machines: each is on for an hour and a half from its minute 200 on; one of them again, from 600 on.
    const isOn = (i: number, machine: string) =>
      (i % 400 >= 200 && i % 400 < 290 && i < 400) || (machine === 'b' && i >= 600);
    const all = Array.from({ length: 700 }, (_, i) =>
      ['a', 'b'].map((machine) => ({ time: START + i * MINUTE, on: isOn(i, machine), y: i, machine })),
    ).flat();
    const first = async (options: SeriesOptions): Promise<[minute: number, events: number | undefined]> => {
      const { series, notes } = await open({ ...event, key: 'machine', ...options });
      for (const reading of all) {
        if ((await series.push(reading)).trainSet !== undefined) {
          assert.deepEqual(
            notes.map(({ kind }) => kind),
            options.train === undefined ? [] : ['few events'],
          );
          return [(reading.time - START) / MINUTE, series.progress.events];
        }
      }
      return [NaN, series.progress.events];
    };
    // Rows from the minute 595 on see the third, and are told of it five minutes later; those of all five are there at 605.
    assert.deepEqual(await first({}), [605, 3]);
    const [minute, events] = await first({ train: '300 rows' });
    assert.ok(minute < 200 && events === 0, `${minute}, ${events}`);
    const { series, notes } = await open({ ...event, key: 'machine' });
    const { trainSet } = await backfill(series, all.filter(({ machine }) => machine === 'b').slice(0, 500));
    assert.equal(trainSet!.train.reason, 'first', 'a table is all there is');
    assert.match(notes[0]!.text, /has only 1 event\. With fewer than 3/u);
    await series.reset('b');
    assert.equal(series.progress.events, 0);
  });

  it('leaves with a table, but not with each answer of a query for what is new', async () => {
    for (const shape of ['auto', 'plain'] as const) {
      const { series } = await open({ column: 'x', ahead: '1m', windows: '5m', shape });
      const rows = (from: number, to: number): SeriesReading[] =>
        Array.from({ length: to - from }, (_, i) => ({ time: START + (from + i) * MINUTE, x: Math.sin(i) }));
      const reasons: (string | undefined)[] = [];
      for (const [from, to] of [
        [0, 400],
        [400, 405],
        [405, 500],
      ] as const) {
        reasons.push((await backfill(series, rows(from, to))).trainSet?.train.reason);
      }
      assert.deepEqual(reasons, ['first', shape === 'auto' ? undefined : 'rows', 'rows']);
    }
  });

  it('come on asking and for a decay, but not within an hour for a decay', async () => {
    let now = START + 1000 * DAY;
    const { series } = await open({ column: 'x', train: 'never' }, () => now);
    await assert.rejects(series.train('asked'), { code: 'table.empty', message: /no row has an outcome/u });
    assert.equal(await series.train('decay'), undefined);
    await live(series, readings(60));
    assert.equal((await series.train('asked'))?.train.reason, 'asked');
    assert.equal(await series.train('decay'), undefined);
    now += HOUR;
    assert.equal(await series.train('decay'), undefined, 'no outcome came since');
    const [first, ...more] = await reasonsOf(series, readings(80).slice(60));
    assert.deepEqual([first, more], ['decay', []], 'with the first outcome after the hour, once');
    await live(series, readings(90).slice(80));
    assert.equal(await series.train('decay'), undefined, 'a storm of decays is one train set an hour');
    assert.equal(await series.train('decay'), undefined);
    now += HOUR - 1;
    assert.deepEqual(await reasonsOf(series, readings(100).slice(90)), []);
    now += 1;
    assert.deepEqual(await reasonsOf(series, readings(110).slice(100)), ['decay']);
    now += DAY;
    assert.deepEqual(await reasonsOf(series, readings(120).slice(110)), [], 'it was answered');
  });

  it('for a decay that came too soon, also after a restart', async () => {
    const folder = removedAtEnd(mkdtempSync(path.join(tmpdir(), 'tabular-decay-')));
    let now = START + 1000 * DAY;
    const opened = () =>
      openSeries(parseSeriesSettings({ column: 'x', train: 'never' }), { folder, now: () => now });
    const before = await opened();
    await live(before, readings(60));
    assert.equal((await before.train('asked'))?.train.reason, 'asked');
    await before.flush();
    assert.equal(await before.train('decay'), undefined);
    assert.equal(before.progress.decayWaits, true);
    await before.close();
    const after = await opened();
    assert.equal(after.progress.decayWaits, true);
    now += HOUR;
    assert.deepEqual(await reasonsOf(after, readings(80).slice(60)), ['decay']);
    assert.equal(after.progress.decayWaits, false);
    await after.close();
  });

  it('for a decay, where they go by rows, once a tenth of these is new', async () => {
    const { series } = await open({ column: 'x', train: '100 rows' }, () => START + 1000 * DAY);
    await live(series, readings(130));
    const { outcomes, trainSets } = series.progress;
    assert.deepEqual([outcomes > 105, trainSets], [true, 1]);
    assert.equal((await series.train('decay'))?.train.reason, 'decay');
    assert.equal(await series.train('decay'), undefined);
    assert.deepEqual(await reasonsOf(series, readings(139).slice(130)), []);
    assert.equal(await series.train('decay'), undefined);
    assert.deepEqual(await reasonsOf(series, readings(145).slice(139)), ['decay']);
  });
});

describe('the schedule of train sets', () => {
  const facts = (outcomes: number, now: number, rarer?: number, events?: number) => ({
    kept: Math.min(outcomes, 1000),
    outcomes,
    rarer,
    events,
    now,
  });

  it('of its own: first at 200, grown by a fifth, daily with 50, never twice in an hour', () => {
    const schedule = new Schedule({ kind: 'auto' });
    assert.equal(schedule.due(facts(199, 0)), undefined);
    assert.equal(schedule.due(facts(500, 0, 19)), undefined);
    assert.equal(schedule.due(facts(500, 0, 50, 2)), undefined);
    assert.equal(schedule.due(facts(200, 0, 20)), 'first');
    assert.equal(schedule.due(facts(200, 0, 20, 3)), 'first');
    schedule.went(facts(200, 0));
    assert.equal(schedule.due(facts(900, HOUR - 1)), undefined);
    assert.equal(schedule.due(facts(240, HOUR)), 'rows');
    assert.equal(schedule.due(facts(239, DAY - 1)), undefined);
    assert.equal(schedule.due(facts(239, DAY)), undefined, 'fewer than 50 are new');
    schedule.went(facts(5000, DAY));
    assert.equal(schedule.due(facts(5199, DAY + HOUR)), undefined, 'a fifth of the 1,000 rows kept');
    assert.equal(schedule.due(facts(5050, 2 * DAY)), 'schedule');
  });

  it('by time and by rows', () => {
    const daily = new Schedule({ kind: 'interval', ms: DAY });
    daily.went(facts(200, 0));
    assert.equal(daily.due(facts(900, DAY - 1)), undefined);
    assert.equal(daily.due(facts(200, DAY)), undefined, 'nothing new');
    assert.equal(daily.due(facts(201, DAY)), 'schedule');
    const rows = new Schedule({ kind: 'rows', rows: 50 });
    assert.equal(rows.due(facts(50, 0)), 'first');
    rows.went(facts(50, 0));
    assert.equal(rows.due(facts(100, 1)), 'rows');
    assert.equal(new Schedule({ kind: 'never' }).due(facts(1e6, DAY)), undefined);
  });
});
