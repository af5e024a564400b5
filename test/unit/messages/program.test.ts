import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { connect, series, type SeriesProgramOptions } from '../../../dist/src';

const T = Date.UTC(2026, 10, 25, 10);
const ISO = new Date(T).toISOString();
const MINUTE = 60_000;

describe('messages in a program', () => {
  const open = (options: SeriesProgramOptions = {}) => series({ outcome: 'none', send: 'all', ...options });

  for (const [name, reading] of [
    ['timestamp_ms', T],
    ['_time', ISO],
    ['dateTime', ISO],
    ['received_at', ISO],
    ['created_at', T * 1000],
    ['Date/Time', ISO],
    ['Zeitpunkt', ISO],
    ['日時', ISO],
  ] as const) {
    it(`have their time under ${name}`, async () => {
      const { rows } = await (await open()).push({ [name]: reading, temperature: 21 });
      assert.equal(rows[0]!.series.time, T);
      assert.equal(rows[0]!.row.temperature, 21);
      assert.equal(name in rows[0]!.row, false);
    });
  }

  it('have a date in digits, as numbers and as text, one by one and in a table', async () => {
    const tens = (time: number): string => new Date(time).toISOString().replace(/\D/g, '');
    const DAY = 1440 * MINUTE;
    const midnight = T - (T % DAY);
    for (const [digits, step] of [
      [8, DAY],
      [10, 60 * MINUTE],
      [12, MINUTE],
      [14, MINUTE],
    ] as const) {
      const times = [0, 1, 2].map((i) => midnight + i * step - 4 * DAY);
      const texts = times.map((time) => tens(time).slice(0, digits));
      for (const cells of [texts, texts.map(Number)]) {
        for (const [name, options] of [
          ['time', {}],
          ['time', { shape: 'plain' }],
          ['Datum', {}],
          ['MESS_DATUM', {}],
          ['when', { time: 'when' }],
        ] as const) {
          const table = cells.map((cell, load) => ({ [name]: cell, load }));
          const one = await open({ ...options, timezone: 'Asia/Tokyo' });
          for (const reading of table) {
            await one.push(reading);
          }
          const all = await open({ ...options, timezone: 'UTC' });
          const { rows } = await all.backfill({ table });
          const found = rows.map(({ series: { time } }) => time);
          assert.deepEqual(found, times, `${name}: ${cells[0]}`);
          const { rows: next } = await one.push({ ...table[2], load: 9 });
          assert.equal(next[0]?.series.time ?? times[2]! - 540 * MINUTE, times[2]! - 540 * MINUTE);
          const text = `${name},load\n${cells.map((cell, i) => `${cell},${i}`).join('\n')}\n`;
          const file = await (await open({ ...options, timezone: 'UTC' })).backfill({ table: text });
          assert.deepEqual(
            file.rows.map(({ series: { time } }) => time),
            times,
            `${name}: ${text}`,
          );
        }
      }
    }
  });

  it('have the days of a spreadsheet under the name of a date', async () => {
    const days = [45_292, 45_292 + 1 / 24, 45_292 + 2 / 24];
    const first = Date.UTC(2024, 0, 1);
    for (const [name, time] of [
      ['Datum', undefined],
      ['date', undefined],
      ['Zeitpunkt', 'Zeitpunkt'],
    ] as const) {
      const house = await open({ time, timezone: 'Europe/Berlin' });
      const { rows } = await house.backfill({ table: days.map((day, load) => ({ [name]: day, load })) });
      const times = rows.map(({ series: { time } }) => time - first);
      assert.deepEqual(
        times,
        [-60, 0, 60].map((minutes) => minutes * MINUTE),
      );
    }
  });

  it('have seconds from 0 on where they are simulated; what may be of a spreadsheet is told', async () => {
    const told = async (begin: number): Promise<string> => {
      const notes: string[] = [];
      const one = await open({ onNote: ({ text }) => notes.push(text) });
      for (const i of [0, 1, 2]) {
        const { rows } = await one.push({ time: begin + i * 60, load: i });
        assert.equal(rows[0]!.series.time, (begin + i * 60) * 1000);
      }
      return notes.join('\n');
    };
    assert.equal(await told(0), '');
    assert.equal(await told(29_940), '');
    const text = await told(45_292);
    assert.match(text, /^Column "time": 45292 is read as seconds since 1970 \(1970-01-01 12:34:52\)/);
    assert.match(
      text,
      /a spreadsheet \(2024-01-01 00:00:00\), name the column "date", or send it as text\.$/,
    );
  });

  it('have seconds since 1970 where these are of now, though they could be a date in digits', async () => {
    const now = Date.now;
    try {
      // 2034-01-27; as digits, the first of January of 2022.
      Date.now = () => 2_022_010_100_000;
      const { rows } = await (await open()).push({ time: 2_022_010_100, load: 1 });
      assert.equal(rows[0]!.series.time, 2_022_010_100_000);
    } finally {
      Date.now = now;
    }
  });

  it('are opened where a cell is JSON in text, and recognised by their shape', async () => {
    const { rows } = await (await open()).push({ value: '{"t":21}', offset: 3 });
    assert.deepEqual([rows[0]!.row['value.t'], rows[0]!.row.offset], [21, 3]);
    const uplink = {
      end_device_ids: { device_id: 'pump-1' },
      uplink_message: { decoded_payload: { temperature: 61.5 }, received_at: ISO },
    };
    const known = await (await open()).push(uplink);
    const { series: address, row } = known.rows[0]!;
    assert.deepEqual([address.key, address.time, row.temperature], ['pump-1', T, 61.5]);
  });

  it('tell key and column by their topic', async () => {
    const ovens = await open({ keyType: 'topic', key: 'plant/+/#' });
    const { rows } = await ovens.push('21.5 °C', { topic: 'plant/oven 1/temperature', time: T });
    const { series: address, row } = rows[0]!;
    assert.deepEqual([address.key, address.time, row.temperature], ['oven 1', T, 21.5]);
    await assert.rejects(open({ keyType: 'topic', key: 'plant/#' }), { code: 'config.invalid' });
  });

  it('may hold several readings, a history or a plan', async () => {
    const gateway = { 'Pump A': [{ ts: T, values: { t: 1 } }], 'Pump B': [{ ts: T, values: { t: 2 } }] };
    const several = await (await open()).push(gateway);
    assert.deepEqual(
      several.rows.map(({ series: { key }, row }) => [key, row.t]),
      [
        ['Pump A', 1],
        ['Pump B', 2],
      ],
    );
    const history = ['61', '62', '63'].flatMap((state, i) => [
      { entity_id: 'sensor.t', state, last_changed: new Date(T + i * MINUTE).toISOString() },
      { entity_id: 'sensor.h', state: '40', last_changed: new Date(T + i * MINUTE).toISOString() },
    ]);
    for (const take of ['push', 'backfill'] as const) {
      const house = await open();
      const { rows } = await (take === 'push' ? house.push(history) : house.backfill({ table: history }));
      assert.deepEqual(
        rows.map(({ row }) => [row['sensor.t'], row['sensor.h']]),
        [
          [61, 40],
          [62, 40],
          [63, 40],
        ],
      );
    }
    const priced = await open({ outcome: 'column', column: 'load', ahead: '1h', knownAhead: 'total' });
    const hour = Math.ceil(Date.now() / 3_600_000) * 3_600_000;
    await priced.push({
      today: [1, 2].map((i) => ({ total: i, startsAt: new Date(hour + i * 3_600_000).toISOString() })),
      tomorrow: [],
    });
    assert.equal(priced.progress.planned, 2);
  });

  it('are nested rows in a table of the past', async () => {
    const table = [0, 1].map((i) => ({ received_at: T + i * MINUTE, ENERGY: { Power: 3 + i } }));
    const { rows } = await (await open()).backfill({ table });
    assert.deepEqual(
      rows.map(({ series: { time }, row }) => [time, row['ENERGY.Power']]),
      [
        [T, 3],
        [T + MINUTE, 4],
      ],
    );
  });

  it('are rows of text whose date and time of day stand in two columns', async () => {
    for (const [names, date, clock] of [
      ['Date;Time', '2026-11-25', '10:05:00'],
      ['time;date', '2026-11-25', '10:05'],
      ['Datum;Uhrzeit', '25.11.2026', '10.05'],
      ['Datum;Uhrzeit', '20261125', '10:05'],
    ] as const) {
      const isDateFirst = names.startsWith('D');
      const times = (minute: string): string[] => {
        const time = clock.replace('05', minute);
        return isDateFirst ? [date, time] : [time, date];
      };
      const table = [`${names};load;temp`, ...['05', '06', '07'].map((m) => [...times(m), 3, 4].join(';'))];
      const { rows } = await (await open({ timezone: 'UTC' })).backfill({ table: table.join('\n') });
      assert.deepEqual(
        rows.map(({ series: { time } }) => time),
        [5, 6, 7].map((minutes) => T + minutes * MINUTE),
        names,
      );
      assert.equal(rows[0]!.row['temp'], 4);
      assert.ok(!Object.keys(rows[0]!.row).some((column) => names.split(';').includes(column)), names);
    }
  });

  it('are rows of which many have the time of another, which is told', async () => {
    const told = async (
      rows: Record<string, unknown>[],
      options: SeriesProgramOptions = {},
    ): Promise<string> => {
      const notes: string[] = [];
      const one = await open({ timezone: 'UTC', ...options, onNote: ({ text }) => notes.push(text) });
      await one.backfill({ table: rows });
      return notes.join('\n');
    };
    const hours = Array.from({ length: 48 }, (_, i) => T + i * 60 * MINUTE);
    const pumps = hours.flatMap((ts, i) => ['a', 'b'].map((pump, k) => ({ ts, pump, load: i + k })));
    assert.match(
      await told(pumps),
      /^48 of 96 rows of the table have the time of another row, with other values .* field Key; /,
    );
    assert.equal(await told(pumps, { key: 'pump' }), '');
    const days = hours.map((time, load) => ({ date: new Date(time).toISOString().slice(0, 10), load }));
    assert.match(
      await told(days),
      /^45 of 48 rows .*; if the time of day stands in a column of its own, join it/,
    );
    // Copies, other columns, and an hour of summer time that comes again.
    assert.equal(await told([...pumps, ...pumps], { key: 'pump' }), '');
    assert.equal(
      await told(
        hours.flatMap((ts, i) => [
          { ts, load: i },
          { ts, heat: i },
        ]),
      ),
      '',
    );
    assert.equal(await told([{ ts: T, load: 7 }, ...hours.map((ts, load) => ({ ts, load }))]), '');
  });

  it('are rows of the csv node whose date in digits stands beside a time of day', async () => {
    const table = ['10:05', '10:06'].map((Uhrzeit, load) => ({ Datum: 20_261_125, Uhrzeit, load }));
    const { rows } = await (await open({ timezone: 'UTC' })).backfill({ table });
    assert.deepEqual(
      rows.map(({ series: { time } }) => time),
      [5, 6].map((minutes) => T + minutes * MINUTE),
    );
  });

  it('are rows whose date and hour stand in two columns, as files of KNMI have them', async () => {
    const rowsOf = async (table: unknown, timezone: string): Promise<[number, object][]> => {
      const { rows } = await (await open({ timezone })).backfill({ table });
      return rows.map(({ series: { time }, row }) => [time, row]);
    };
    const hour = 60 * MINUTE;
    const start = Date.UTC(2026, 10, 25, 23);
    const times = [0, 1, 2].map((i) => start + i * hour);
    const file = ['# BRON: KNMI', '# STN,YYYYMMDD,   HH,   FH'];
    for (const [i, [day, of]] of [
      ['20261125', 23],
      ['20261125', 24],
      ['20261126', 1],
    ].entries()) {
      file.push(`  240,${day},   ${of},   ${i * 7}`);
    }
    const read = await rowsOf(file.join('\n'), 'Asia/Tokyo');
    assert.deepEqual(
      read.map(([time]) => time),
      times,
    );
    assert.deepEqual(
      Object.keys(read[0]![1]).filter((name) => /YYYY|HH/.test(name)),
      [],
    );
    const local = [23, 24].map((Hour, load) => ({ date: '2026-11-25', Hour, load }));
    assert.deepEqual(
      (await rowsOf(local, 'Asia/Tokyo')).map(([time]) => time),
      [start - 9 * hour, start - 8 * hour],
    );
    // The answer of KNMI in JSON, whose date is a time that none of its rows has.
    const json = [23, 24].map((hour, T) => ({
      ...{ station_code: 240, date: '2026-11-25T00:00:00.000Z', hour, T },
    }));
    assert.deepEqual(
      (await rowsOf(json, 'Asia/Tokyo')).map(([time]) => time),
      [start, start + hour],
    );
    // A heart rate in an hour's place, and a date that has its time already.
    const others = [
      { date: '2026-11-25', hour: 72, load: 1 },
      { date: '2026-11-26T05:00:00Z', hour: 6, load: 2 },
    ];
    assert.deepEqual(
      (await rowsOf(others, 'UTC')).map(([time]) => time),
      [Date.UTC(2026, 10, 25), Date.UTC(2026, 10, 26, 5)],
    );
  });

  it('are rows whose year, month, day and hour stand in columns of their own', async () => {
    const rowsOf = async (table: unknown): Promise<[number, object][]> => {
      const { rows } = await (await open({ timezone: 'UTC' })).backfill({ table });
      return rows.map(({ series: { time }, row }) => [time, row]);
    };
    // The stations of Beijing at UCI.
    const beijing = ['No,year,month,day,hour,pm2.5,TEMP', '1,2013,3,1,23,4,-0.7', '2,2013,3,2,0,8,-1.1'];
    const start = Date.UTC(2013, 2, 1, 23);
    const read = await rowsOf(beijing.join('\n'));
    assert.deepEqual(
      read.map(([time]) => time),
      [start, start + 60 * MINUTE],
    );
    assert.deepEqual(
      Object.keys(read[0]![1]).filter((name) => /^(?:year|day|hour)$/.test(name)),
      ['hour'],
      'the hour of the calendar alone',
    );
    const solar = [0, 30].map((Minute, GHI) => ({ Year: 2013, Month: 3, Day: 1, Hour: 23, Minute, GHI }));
    assert.deepEqual(
      (await rowsOf(solar)).map(([time]) => time),
      [start, start + 30 * MINUTE],
    );
    const power = ['YEAR,MO,DY,HR,T2M', '2013,3,1,23,1.5', '2013,3,2,00,1.25'];
    assert.deepEqual(
      (await rowsOf(power.join('\n'))).map(([time]) => time),
      [start, start + 60 * MINUTE],
    );
    const days = [1, 2].map((day, rain) => ({ year: 2013, month: 3, day, rain }));
    assert.deepEqual(
      (await rowsOf(days)).map(([time]) => time),
      [Date.UTC(2013, 2, 1), Date.UTC(2013, 2, 2)],
    );
    // A year of building, and a month and a day that are counts.
    const others = [1, 2].map((load) => ({
      time: start + load * MINUTE,
      year: 1999,
      month: 40,
      day: 3,
      load,
    }));
    assert.deepEqual(
      (await rowsOf(others)).map(([time]) => time),
      [start + MINUTE, start + 2 * MINUTE],
    );
  });

  it('are objects of columns where that is said, and tell what is left out', async () => {
    const plain = await open({ shape: 'plain' });
    const { rows } = await plain.push({ time: T, timestamp_ms: T, x: 1 });
    assert.equal(rows[0]!.row.timestamp_ms, T);
    await assert.rejects((await open()).push(7), { code: 'validation.failed' });
    await assert.rejects((await open()).push([7, 8]), { code: 'validation.failed', message: /option names/ });
    await assert.rejects((await open()).push(Buffer.from([0, 7])), { code: 'table.invalid' });
    const notes: string[] = [];
    const told = await open({ names: ['a'], onNote: ({ kind }) => notes.push(kind) });
    await told.push({ time: T, list: [1, 2] });
    await told.push({ time: T + 1, list: [1, 2] });
    assert.deepEqual(notes, ['list']);
  });
});

describe('nested rows in a program', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-nested-'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  it('are learned from and predicted with columns named by their paths; cells that are lists are refused', async () => {
    const tabular = await connect({ dataDir: folder });
    try {
      const table = Array.from({ length: 60 }, (_, i) => ({ ENERGY: { Power: i }, cost: i / 2 }));
      const options = { n_estimators: 2 };
      const model = await tabular.train({ table, target: 'cost', options });
      assert.deepEqual(
        model.columns.map(({ name }) => name),
        ['ENERGY.Power'],
      );
      const answer = await tabular.predict({ table: { ENERGY: { Power: 30 } }, model });
      assert.ok(Math.abs((answer.table as { prediction: number }).prediction - 15) < 5);
      const id = { bytes: Buffer.from('id') };
      const known = await tabular.predict({ table: [{ _id: id, ENERGY: { Power: 30 } }], model });
      assert.deepEqual((known.table as { _id: unknown }[])[0]?._id, id);
      const lists = [{ ENERGY: { Power: [1, 2] }, cost: 1 }];
      await assert.rejects(tabular.predict({ table: lists, model }), {
        code: 'table.invalid',
        message: /Column "ENERGY.Power" has lists/,
      });
    } finally {
      await tabular.close();
    }
  });
});
