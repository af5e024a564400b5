import assert from 'node:assert/strict';

import fc from 'fast-check';

import type { SeriesReading } from '../../doors/series';
import { backfill, HOUR, live, MINUTE, open, SECOND, START, trainRows } from './support';

const every = (step: number, count: number, value: (i: number) => unknown, from = START): SeriesReading[] =>
  Array.from({ length: count }, (_, i) => ({ time: from + i * step, x: value(i) }));

describe('outcomes of a series', () => {
  it('that are the value of a column later come when it is known, with the row and its id', async () => {
    const { series } = await open({ column: 'x', ahead: '10m', late: '0' });
    const told: [number, unknown][] = [];
    for (const reading of every(MINUTE, 15, (i) => i * i)) {
      for (const { series: address, row, truth } of (await series.push(reading)).outcomes) {
        assert.equal(row['x in 10m'], truth);
        assert.equal(address.id, `${address.time}+${10 * MINUTE}`);
        assert.equal(address.time, Number(reading.time) - 10 * MINUTE, 'not before, not later');
        told.push([Number(row.x), truth]);
      }
    }
    assert.deepEqual(told, [
      [0, 100],
      [1, 121],
      [4, 144],
      [9, 169],
      [16, 196],
    ]);
  });

  it('between two readings lie on the line between them; of text, the last one holds', async () => {
    const times = [0, 7, 13, 25];
    const of = async (value: (i: number) => unknown): Promise<unknown[]> => {
      const { series } = await open({ column: 'x', ahead: '10m' });
      const readings = times.map((minute, i) => ({ time: START + minute * MINUTE, x: value(i) }));
      return (await live(series, readings)).outcomes.map(({ truth }) => truth);
    };
    // Those of minutes 10, 17 and 23.
    assert.deepEqual(await of((i) => i * 6), [9, 14, 17]);
    assert.deepEqual(await of((i) => `s${i}`), ['s1', 's2', 's2']);
  });

  it('are not told where no reading is near, in a silence or after it', async () => {
    const { series } = await open({ column: 'x', ahead: '10m' });
    const before = every(MINUTE, 30, (i) => i);
    const after = every(MINUTE, 30, (i) => i, START + 3 * HOUR);
    const { outcomes } = await live(series, [...before, ...after]);
    const minutes = outcomes.map(({ series: { time } }) => (time - START) / MINUTE);
    assert.deepEqual(
      minutes.filter((minute) => minute < 60),
      Array.from({ length: 25 }, (_, i) => i),
      'the last reading before the silence holds for half of ahead',
    );
    assert.equal(minutes.filter((minute) => minute >= 180).length, 20);
  });

  it('never come before their time, and each once, in any order of arrival (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 900 }), fc.integer({ min: -200, max: 200 })), {
          minLength: 5,
          maxLength: 60,
        }),
        fc.constantFrom('column' as const, 'event' as const),
        async (steps, outcome) => {
          const { series } = await open({
            column: 'x',
            outcome,
            operator: '>',
            value: 100,
            ahead: '10m, 30m',
            late: '20m',
          });
          let time = START;
          let newest = -Infinity;
          const ids = new Set<string>();
          for (const [seconds, x] of steps) {
            time += x % 5 === 0 ? -seconds * SECOND : seconds * SECOND;
            newest = Math.max(newest, time);
            const { outcomes } = await series.push({ time, x });
            for (const { series: address } of outcomes) {
              assert.ok(address.time + address.ahead! <= newest);
              assert.ok(!ids.has(address.id), address.id);
              ids.add(address.id);
            }
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('that are events are told when the time ahead is over, yes and no alike', async () => {
    const { series } = await open({
      column: 'x',
      outcome: 'event',
      operator: '>=',
      value: 80,
      ahead: '1h',
      late: '0',
    });
    let [yes, all] = [0, 0];
    for (const [i, reading] of every(MINUTE, 400, (at) => (at % 90 === 5 ? 80 : 20)).entries()) {
      const { outcomes } = await series.push(reading);
      assert.equal(outcomes.length, i < 60 ? 0 : 1, `reading ${i}`);
      for (const { series: address, truth, row } of outcomes) {
        const from = (address.time - START) / MINUTE;
        const next = Math.ceil((from + 1 - 5) / 90) * 90 + 5;
        assert.equal(truth, next <= from + 60 ? 'yes' : 'no', `minute ${from}`);
        assert.equal(row['x >= 80 within 1h'], truth);
        all++;
        yes += truth === 'yes' ? 1 : 0;
      }
      // The share of yes in what is known is never that of the quick ones.
      if (all > 180) {
        assert.ok(Math.abs(yes / all - 60 / 90) < 0.12, `${yes} of ${all}`);
      }
    }
  });

  it('that are events are not "no" while the machine is off', async () => {
    const { series } = await open({ column: 'x', outcome: 'event', operator: '>', value: 80, ahead: '1h' });
    const on = every(MINUTE, 90, () => 20);
    const again = every(MINUTE, 180, () => 20, START + 120 * MINUTE);
    const { outcomes } = await live(series, [...on, ...again]);
    const minutes = outcomes.map(({ series: { time } }) => (time - START) / MINUTE);
    // Off from minute 90 to 120: what has more than a fifth of its hour in there is not known.
    assert.ok(minutes.includes(40) && minutes.includes(125));
    assert.ok(!minutes.some((minute) => minute >= 50 && minute < 90), 'off for half of the hour');
  });

  it('that are events need no more readings than the machine sends', async () => {
    const { series } = await open({ column: 'x', outcome: 'event', operator: '>', value: 80, ahead: '1h' });
    const { outcomes } = await live(
      series,
      every(20 * MINUTE, 60, () => 1),
    );
    assert.ok(outcomes.length >= 50, `${outcomes.length} of 60`);
  });

  it('that are events of a state are covered by all readings of the machine', async () => {
    const { series } = await open({
      column: 'failed',
      outcome: 'event',
      operator: '=',
      value: 'true',
      ahead: '10m',
      late: '0',
    });
    const readings: SeriesReading[] = every(MINUTE, 60, (i) => i);
    readings.splice(31, 0, { time: START + 30 * MINUTE + SECOND, failed: true });
    const { outcomes } = await live(series, readings);
    const yes = outcomes.filter(({ truth }) => truth === 'yes').map(({ row }) => row.x);
    assert.deepEqual(yes, [21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
    assert.ok(outcomes.some(({ truth, row }) => truth === 'no' && row.x === 20));
  });

  it('are corrected in the train set by a late reading, and taken from the later of two at the same time', async () => {
    const options = { column: 'x', ahead: '10m', late: '5m', train: 'never', windows: '10m' };
    const late = await open(options);
    const readings = every(MINUTE, 40, (i) => i);
    const spike = { time: START + 20 * MINUTE, x: 1000 };
    await live(late.series, [
      ...readings.slice(0, 20),
      ...readings.slice(21, 24),
      spike,
      ...readings.slice(24),
    ]);
    const sorted = await open(options);
    await live(
      sorted.series,
      readings.map((reading, i) => (i === 20 ? spike : reading)),
    );
    assert.deepEqual(await trainRows(late.series), await trainRows(sorted.series));
    const twice = await open(options);
    await live(twice.series, [...readings.slice(0, 22), spike, ...readings.slice(22)]);
    assert.deepEqual(await trainRows(twice.series), await trainRows(sorted.series));
    assert.equal(twice.series.progress.duplicates, 1);
  });

  it('brought by messages join their row by id, or by key and time', async () => {
    const { series } = await open({ outcome: 'message', key: 'machine', train: 'never', ahead: '10m' });
    const { rows } = await live(
      series,
      every(MINUTE, 30, (i) => i).map((reading) => ({ ...reading, machine: 'a' })),
    );
    const [first] = rows;
    const byId = await series.outcome({ id: first!.series.id, value: 'good' });
    assert.equal(byId.outcomes[0]!.truth, 'good');
    assert.equal(byId.outcomes[0]!.row.x, 0);
    assert.equal(byId.outcomes[0]!.series.ahead, null);
    const byTime = await series.outcome({
      key: 'a',
      time: new Date(START + 10 * MINUTE + 30 * SECOND),
      value: 'bad',
    });
    assert.equal(byTime.outcomes[0]!.row.x, 10, 'the last row before');
    await assert.rejects(series.outcome({ id: first!.series.id, value: 'good' }), {
      code: 'outcome.unknown',
    });
    await assert.rejects(series.outcome({ key: 'b', time: START, value: 'good' }), {
      code: 'outcome.unknown',
    });
    await assert.rejects(series.outcome({ key: 'a', time: 'soon', value: 'good' }), { code: 'time.invalid' });
    await assert.rejects(series.outcome({ key: 'a', time: START, value: null }), {
      code: 'validation.failed',
    });
    assert.deepEqual(
      (await trainRows(series)).map(({ x, outcome }) => [x, outcome]),
      [
        [0, 'good'],
        [10, 'bad'],
      ],
    );
    const other = await open({ column: 'x' });
    await assert.rejects(other.series.outcome({ id: 'x', value: 1 }), { code: 'validation.failed' });
  });

  it('brought for no row decide nothing: not even whether outcomes are numbers', async () => {
    const { series } = await open({ outcome: 'message', train: 'never' });
    const { rows } = await live(
      series,
      every(MINUTE, 3, (i) => i),
    );
    await assert.rejects(series.outcome({ id: 'none', value: 'good' }), { code: 'outcome.unknown' });
    const { outcomes } = await series.outcome({ id: rows[0]!.series.id, value: 5 });
    assert.equal(outcomes[0]!.truth, 5);
    await assert.rejects(series.outcome({ id: rows[1]!.series.id, value: 'good' }), {
      code: 'validation.failed',
    });
    const { outcomes: second } = await series.outcome({ id: rows[1]!.series.id, value: 6 });
    assert.equal(second[0]!.truth, 6, 'what is refused leaves its row waiting');
  });

  it('brought by messages have at most a thousand labels: free text is refused, and its row still waits', async () => {
    const { series } = await open({ outcome: 'message', train: 'never' });
    const { rows } = await live(
      series,
      every(MINUTE, 1002, (i) => i),
    );
    for (let i = 0; i < 1000; i++) {
      await series.outcome({ id: rows[i]!.series.id, value: `note ${i}` });
    }
    const { id } = rows[1000]!.series;
    for (const value of ['note 1000', 'a'.repeat(1001)]) {
      await assert.rejects(series.outcome({ id, value }), { code: 'limit.exceeded' });
    }
    const { outcomes } = await series.outcome({ id, value: 'note 7' });
    assert.equal(outcomes[0]!.truth, 'note 7');
  });

  it('that are none leave the rows as they come', async () => {
    const { series } = await open({ outcome: 'none' });
    const { rows, outcomes, trainSet } = await backfill(
      series,
      every(MINUTE, 30, (i) => i),
    );
    assert.deepEqual([rows.length, outcomes.length, trainSet], [30, 0, undefined]);
    assert.equal((await series.push({ time: START + HOUR, x: 1 })).rows.length, 1);
    await assert.rejects(series.train('asked'), { code: 'table.empty' });
  });
});
