import assert from 'node:assert/strict';

import { live, MINUTE, open, SECOND, START } from './support';

describe('bad readings of a series', () => {
  it('from the future are taken as they come, told once, and make nothing late', async () => {
    let now = START;
    const { series, notes } = await open({ column: 'x', train: 'never' }, () => now);
    for (let i = 0; i < 60; i++) {
      now = START + i * MINUTE;
      const time = i === 30 || i === 40 ? Date.UTC(2099, 0, 1) : now;
      const { rows } = await series.push({ time, x: i });
      assert.equal(rows[0]?.series.time, now);
    }
    const { future, late } = series.progress;
    assert.deepEqual({ future, late }, { future: 2, late: 0 });
    assert.equal(notes.length, 1);
    assert.match(notes[0]!.text, /2099/u);
  });

  it('from the future do not break a replay of the past, nor a simulation that runs ahead', async () => {
    const { series } = await open({ column: 'x', train: 'never' });
    for (let i = 0; i < 60; i++) {
      const time = i === 30 ? Date.UTC(2099, 0, 1) : START + i * MINUTE;
      assert.equal((await series.push({ time, x: i })).rows.length, 1, `reading ${i}`);
    }
    assert.equal(series.progress.late, 0);
    const simulated = await open({ column: 'x', train: 'never' }, () => START);
    const { rows } = await live(
      simulated.series,
      Array.from({ length: 3000 }, (_, i) => ({ time: START + i * MINUTE, x: i })),
    );
    assert.equal(rows.length, 3000);
    assert.equal(simulated.series.progress.future, 0);
  });

  it('that come too late are counted and told once for each key', async () => {
    const { series, notes } = await open({ key: 'k', column: 'x', late: '2m', train: 'never' });
    for (let i = 0; i < 20; i++) {
      await series.push({ k: 'a', time: START + i * MINUTE, x: i });
    }
    for (const minutes of [18, 17, 16, 5]) {
      const { rows } = await series.push({ k: 'a', time: START + minutes * MINUTE + SECOND, x: 1 });
      assert.equal(rows.length, 0);
    }
    assert.equal(
      (await series.push({ k: 'b', time: START, x: 1 })).rows.length,
      1,
      'keys have their own time',
    );
    assert.equal(series.progress.late, 2);
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['late'],
    );
  });

  it('of a clock that jumps back are counted and told once; a reset of the key lets it begin anew', async () => {
    const { series, notes } = await open({ key: 'k', column: 'x', train: 'never' });
    const push = (k: string, i: number) => series.push({ k, time: START + i * MINUTE, x: i });
    let rows = 0;
    for (let i = 0; i < 200; i++) {
      rows += (await push('back', i < 100 ? 500 + i : i)).rows.length;
      rows += (await push('on', 500 + i)).rows.length;
    }
    assert.equal(rows, 300);
    assert.equal(series.progress.late, 100);
    assert.equal(notes.length, 1);
    assert.match(notes[0]!.text, /"back".*reset the key/u);
    await series.reset('back');
    assert.equal((await push('back', 200)).rows.length, 1);
    assert.equal(series.progress.keys, 2);
  });

  it('with a value that turns to text are refused, or counted as missing', async () => {
    const strict = await open({ column: 'x', train: 'never' });
    await strict.series.push({ time: START, x: 1, y: 'on' });
    await assert.rejects(strict.series.push({ time: START + MINUTE, x: 'ERR', y: 'on' }), {
      code: 'table.invalid',
      message: /Column "x": "ERR" is text.*numbers/u,
    });
    assert.equal(strict.series.progress.readings, 1);
    const lenient = await open({
      column: 'x',
      train: 'never',
      unreadable: 'missing',
      missingWords: ['offline'],
    });
    const { rows } = await live(lenient.series, [
      { time: START, x: '1.5', y: 'on' },
      { time: START + MINUTE, x: 'ERR', y: 7 },
      { time: START + 2 * MINUTE, x: ' offline', y: 'NA' },
      { time: START + 3 * MINUTE, x: NaN, y: '' },
    ]);
    assert.deepEqual(
      rows.map(({ row }) => [row.x, row.y]),
      [
        [1.5, 'on'],
        [1.5, '7'],
        [1.5, '7'],
        [1.5, '7'],
      ],
    );
    assert.equal(lenient.series.progress.cellsMissing, 1);
    assert.equal(lenient.notes.length, 1);
  });

  it('with nested values, without a key or with the name of a prototype are told or taken as they are', async () => {
    const { series } = await open({ key: 'k', column: 'x', train: 'never' });
    await assert.rejects(series.push({ k: 'a', time: START, x: { deep: 1 } }), {
      code: 'table.invalid',
      message: /Column "x".*an object.*flatten/u,
    });
    await assert.rejects(series.push({ time: START, x: 1 }), { code: 'columns.missing', message: /"k"/u });
    const reading = JSON.parse('{"k": "constructor", "__proto__": 3, "toString": 4, "x": 1}') as object;
    const { rows } = await series.push({ ...reading, time: START, toString: 4 });
    assert.deepEqual(
      Object.entries(rows[0]!.row).find(([name]) => name === 'toString'),
      ['toString', 4],
    );
    assert.equal(Object.getPrototypeOf(rows[0]!.row), Object.prototype);
  });

  it('without a key beside others with one are told once', async () => {
    const { series, notes } = await open({ column: 'x', ahead: '1m' });
    await series.push({ time: START, x: 1 });
    await series.push({ time: START + MINUTE, x: 1 });
    assert.equal(notes.length, 0);
    for (let i = 2; i < 6; i++) {
      await series.push({ time: START + i * MINUTE, x: 1 }, { key: `m${i % 2}` });
    }
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['keys'],
    );
    assert.match(notes[0]!.text, /Besides "m0" there are readings without a key.*msg\.reset/u);
  });

  it('of a table that had no time are told of when it comes again with one', async () => {
    const { series, notes } = await open({ column: 'x', ahead: '1d', train: 'never' });
    const days = (name: string): Record<string, unknown>[] =>
      Array.from({ length: 9 }, (_, i) => ({ [name]: `2020-01-0${i + 1}`, x: i }));
    await series.backfill(days('day').map((row) => ({ ...row, day: 'd' })));
    await series.backfill(days('time'));
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['no time', 'no time'],
    );
    assert.match(notes[1]!.text, /had none, so its rows count as readings of when it came.*msg\.reset/u);
    const live = await open({ column: 'x', ahead: '1d', train: 'never' });
    await live.series.backfill(days('time'));
    assert.deepEqual(live.notes, []);
  });

  it('of a column that vanishes leave it missing after its window', async () => {
    const { series } = await open({ column: 'x', windows: '10m, 1h', train: 'never' });
    const { rows } = await live(
      series,
      Array.from({ length: 120 }, (_, i) => ({ time: START + i * MINUTE, x: i, ...(i < 30 && { y: i }) })),
    );
    assert.equal(rows[60]!.row.y, 29);
    assert.equal(rows[119]!.row.y, null);
    assert.equal(rows[119]!.row['y mean 1h'], null);
  });

  it('of a table name their row, and nothing of the table is taken', async () => {
    const { series } = await open({ column: 'x' });
    const table = [
      { time: START, x: 1 },
      { time: START + MINUTE, x: [2] },
    ];
    await assert.rejects(series.backfill(table), {
      code: 'table.invalid',
      message: /Column "x", row 2/u,
    });
    await assert.rejects(series.backfill([{ time: 'x', x: 1 }]), {
      code: 'time.invalid',
      message: /Column "time", row 1/u,
    });
    // A reading is read by itself, and the node has no column types.
    await assert.rejects(series.push({ time: '10/03/2004 18:00', x: 1 }), {
      code: 'time.invalid',
      message:
        'Column "time": "10/03/2004 18:00" can mean 2004-03-10 or 2004-10-03. Send it with the year first, such as 2026-01-31 12:00, or as milliseconds since 1970.',
    });
    const { keys, readings } = series.progress;
    assert.deepEqual({ keys, readings }, { keys: 0, readings: 0 });
  });

  it('of ten thousand keys, or of columns without end, are limit.exceeded, and the first thousand keys go on', async () => {
    const { series } = await open({ key: 'k', column: 'x', train: 'never' });
    for (let i = 0; i < 1000; i++) {
      await series.push({ k: i, time: START, x: 1 });
    }
    for (let i = 1000; i < 10_000; i++) {
      await assert.rejects(series.push({ k: i, time: START, [`c${i}`]: 1 }), {
        code: 'limit.exceeded',
        message: /1000 keys/u,
      });
    }
    assert.equal((await series.push({ k: 999, time: START + SECOND, x: 2 })).rows[0]!.row.x, 2);
    assert.deepEqual(series.progress.columns, ['x'], 'what is refused leaves no column behind');
    const table = [1, 2, 3].map((i) => ({ k: `table ${i}`, time: START, x: 1 }));
    await assert.rejects(series.backfill(table), { code: 'limit.exceeded' });
    assert.equal(series.progress.readings, 1001, 'nothing of the table is taken');
    await series.reset('7');
    await series.push({ k: 'one more', time: START, x: 1 });
    assert.equal(series.progress.keys, 1000);
    const wide = await open({ column: 'x' });
    await assert.rejects(
      live(
        wide.series,
        Array.from({ length: 501 }, (_, i) => ({ time: START + i * SECOND, [`x${i}`]: 1 })),
      ),
      { code: 'limit.exceeded', message: /500 columns/u },
    );
  });

  it('that are refused leave none of their columns behind', async () => {
    const { series } = await open({ column: 'x', train: 'never' });
    const columns = Object.fromEntries(Array.from({ length: 501 }, (_, i) => [`c${i}`, i]));
    await assert.rejects(series.push({ time: START, ...columns }), { code: 'limit.exceeded' });
    await assert.rejects(series.push({ time: START, odd: 1, x: {} }), { code: 'table.invalid' });
    const others = Object.fromEntries(Array.from({ length: 499 }, (_, i) => [`d${i}`, i]));
    await series.push({ time: START, x: 1, ...others });
    const { rows } = await series.push({ time: START + SECOND, x: 1 });
    assert.equal('d498' in rows[0]!.row, true);
    assert.equal('odd' in rows[0]!.row || 'c0' in rows[0]!.row, false);
  });

  it('that are refused for a cell after a new column leave that column behind neither', async () => {
    const { series } = await open({ column: 'x', train: 'never' });
    await series.push({ time: START, x: 1 });
    await assert.rejects(series.push({ time: START + SECOND, load: 'ERR', x: 'ERR' }), {
      code: 'table.invalid',
    });
    assert.deepEqual(series.progress.columns, ['x']);
    const { rows } = await series.push({ time: START + 2 * SECOND, load: 5, x: 2 });
    assert.equal(rows[0]!.row.load, 5, 'a number: the text before was never taken');
  });

  it('of a table that is refused decide nothing about its columns', async () => {
    const { series } = await open({ column: 'x', train: 'never', unreadable: 'error' });
    await series.push({ time: START, x: 1, mode: 'on' });
    const table = [
      { time: START + SECOND, x: 1, mode: 'off', load: 'ERR' },
      { time: START + MINUTE, x: [2] },
    ];
    await assert.rejects(series.backfill(table), { code: 'table.invalid' });
    assert.deepEqual(series.progress.columns, ['x', 'mode']);
    const { rows } = await series.push({ time: START + 2 * MINUTE, x: 2, mode: 'idle', load: 5 });
    assert.deepEqual([rows[0]!.row.mode, rows[0]!.row.load], ['idle', 5]);
  });

  it('of a kind that their column does not hold are told once, however many texts there are', async () => {
    const { series, notes } = await open({ column: 'x', train: 'never', unreadable: 'missing' });
    await live(
      series,
      Array.from({ length: 50 }, (_, i) => ({ time: START + i * SECOND, x: i === 0 ? 1 : `ERR ${i}` })),
    );
    assert.equal(series.progress.cellsMissing, 49);
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['unreadable'],
    );
  });

  it('are forgotten by a reset with the kinds of their columns, and those of a key with its warnings', async () => {
    const { series, notes } = await open({ key: 'k', column: 'x', late: '1s', train: 'never' });
    const late = async (): Promise<void> => {
      await series.push({ k: 'a', time: START + MINUTE, x: 1, load: 'ERR' });
      await series.push({ k: 'a', time: START, x: 1 });
    };
    await late();
    await series.reset('a');
    await late();
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['late', 'late'],
    );
    await series.reset();
    assert.deepEqual(series.progress.columns, []);
    const { rows } = await series.push({ k: 'a', time: START, x: 1, load: 5 });
    assert.equal(rows[0]!.row.load, 5);
  });

  it('with ever new texts in a column are missing there, told once', async () => {
    const { series, notes } = await open({ column: 'x', train: 'never' });
    const { rows } = await live(
      series,
      Array.from({ length: 1200 }, (_, i) => ({ time: START + i * SECOND, x: i, id: `id ${i}` })),
    );
    assert.equal(rows[999]!.row.id, 'id 999');
    assert.equal(rows[1199]!.row.id, 'id 999');
    await series.push({ time: START + 1200 * SECOND, x: 1, log: 'a'.repeat(1001) });
    const later = await series.push({ time: START + 1201 * SECOND, x: 1, log: 'short' });
    assert.equal(later.rows[0]!.row.log, 'short', 'a long text is no state either');
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['text', 'text'],
    );
  });

  it('sent again as a table change nothing, and an older table comes before what is there', async () => {
    const readings = Array.from({ length: 300 }, (_, i) => ({
      time: START + i * 10 * MINUTE,
      x: Math.sin(i),
    }));
    const options = { column: 'x', ahead: '1h', windows: '1h' };
    const whole = await open(options);
    const twice = await open(options);
    const rows = async (from: number, to: number, { series }: typeof whole) => {
      const { trainSet } = await series.backfill(readings.slice(from, to));
      return trainSet?.rows();
    };
    const wanted = await rows(0, 300, whole);
    await rows(0, 300, twice);
    assert.deepEqual(await rows(0, 300, twice), wanted);
    const parts = await open(options);
    await live(parts.series, readings.slice(282));
    assert.deepEqual(await rows(0, 282, parts), wanted);
  });
});
