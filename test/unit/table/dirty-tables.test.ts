import assert from 'node:assert/strict';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { listCells, openTable, type ProfileOptions, type TableProfile } from '../../../dist/src/table';
import { collect, rejectsWith } from './helpers';

interface Cleaned {
  profile: TableProfile;
  types: Record<string, string>;
  cells: Record<string, unknown[]>;
  cleaned: Record<string, number>;
}

/** A table as fit reads it. */
async function clean(table: unknown, options: ProfileOptions = {}): Promise<Cleaned> {
  const source = await openTable(table);
  const profile = await profileTable(source, options);
  const cells: Record<string, unknown[]> = {};
  const cleaned: Record<string, number> = {};
  for (const batch of await collect(readBatches(source, profile.columns))) {
    profile.columns.forEach(({ name }, at) => {
      (cells[name] ??= []).push(...listCells(batch.columns[at]!));
      cleaned[name] = (cleaned[name] ?? 0) + (batch.cleaned?.[name] ?? 0);
    });
  }
  const types = Object.fromEntries(profile.columns.map(({ name, type }) => [name, type]));
  return { profile, types, cells, cleaned };
}

/** A sensor history as a home automation system exports it: the state is text, and says when it is none. */
function history(rows: number, odd: Record<number, string>): { last_changed: string; state: string }[] {
  return Array.from({ length: rows }, (_, row) => ({
    last_changed: new Date(Date.UTC(2024, 10, 21, row)).toISOString(),
    state: odd[row] ?? (20 + (row % 7) / 2).toFixed(1),
  }));
}

/** The readings of a meter, as a spreadsheet of the country saves them. */
function meter(country: 'DE' | 'US' | 'GB' | 'FR'): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const lines = Array.from({ length: 40 }, (_, day) => {
    const date = new Date(Date.UTC(2024, 0, 1 + day));
    const [d, m] = [two(date.getUTCDate()), two(date.getUTCMonth() + 1)];
    const kwh = (1234 + day * 10.5).toFixed(2);
    switch (country) {
      case 'DE':
        return `${d}.${m}.2024 06:00;${kwh.replace('.', ',')}`;
      case 'FR':
        return `${d}/${m}/2024 06:00;${kwh.replace('.', ',')}`;
      case 'GB':
        return `${d}/${m}/2024 06:00,${kwh}`;
      case 'US':
        return `${Number(m)}/${Number(d)}/2024 6:00 AM,${kwh}`;
    }
  });
  const head = country === 'DE' || country === 'FR' ? 'read;kwh' : 'read,kwh';
  return `${head}\n${lines.join('\n')}\n`;
}

describe('Spreadsheets of four countries', () => {
  for (const country of ['DE', 'US', 'GB', 'FR'] as const) {
    it(`${country}: dates and decimals are read without a setting`, async () => {
      const { types, cells, profile } = await clean(meter(country));
      assert.deepEqual(types, { read: 'date', kwh: 'number' });
      assert.deepEqual(profile.warnings, []);
      assert.deepEqual(cells.read!.slice(-1), [new Date('2024-02-09T06:00:00Z')]);
      assert.equal(cells.kwh![1], 1244.5);
    });
  }
});

/** A column in a file with ";", and what is read: its type, its second cell, and the warning. */
const WRITTEN: [
  name: string,
  cell: (i: number) => string,
  type: string,
  second: unknown,
  warning?: RegExp,
][] = [
  ['thousands in points', (i) => `1.${200 + i},5`, 'number', 1201.5],
  ['thousands in no-break spaces', (i) => `1\u00a0${200 + i},5`, 'number', 1201.5],
  ['thousands in narrow spaces', (i) => `-1\u202f${200 + i},5`, 'number', -1201.5],
  ['thousands in Swiss apostrophes', (i) => `1'${200 + i}.5`, 'number', 1201.5],
  ['thousands in commas', (i) => `1,234,${200 + i}.5`, 'number', 1234201.5],
  ['errors of formulas', (i) => (i === 3 ? '#DIV/0!' : i === 4 ? '#NV' : `${i},5`), 'number', 1.5],
  ['percent', (i) => `${i},5 %`, 'number', 1.5],
  ['a currency', (i) => `$${i}.50`, 'number', 1.5],
  ['a unit', (i) => `${i}.5 kWh`, 'number', 1.5],
  [
    'several units',
    (i) => `${i}.5 ${i === 4 ? 'MWh' : 'kWh'}`,
    'text',
    '1.5 kWh',
    /"v" is text that holds numbers with several units \("4.5 MWh", row 5\)/,
  ],
  ['years, months and days in Japanese', (i) => `2024年11月${i + 1}日`, 'date', new Date('2024-11-02')],
  ['Japanese with a time', (i) => `2024年1月2日 9時0${i}分`, 'date', new Date('2024-01-02T09:01Z')],
  ['Japanese with slashes', (i) => `2024/11/21 9:0${i}`, 'date', new Date('2024-11-21T09:01Z')],
  ['short German days with a time', (i) => `${i + 1}.1.24 7:05`, 'date', new Date('2024-01-02T07:05Z')],
  ['German months', (i) => `${i + 1}. März 2024`, 'date', new Date('2024-03-02')],
  ['English months', (i) => `${i + 1}-Jan-2024 9:05 PM`, 'date', new Date('2024-01-02T21:05Z')],
  ['French months', (i) => `${i + 1} févr. 2024`, 'date', new Date('2024-02-02')],
  ['versions', (i) => `1.2.${i + 10}`, 'text', '1.2.11'],
  ['things in numbers', (i) => `${i} Main Street`, 'text', '1 Main Street'],
];

describe('Cells as people and programs write them', () => {
  for (const [name, cell, type, second, warning] of WRITTEN) {
    it(`${name}: ${type}`, async () => {
      const text = `t;v\n${Array.from({ length: 9 }, (_, i) => `${i};${cell(i)}`).join('\n')}\n`;
      const { types, cells, profile } = await clean(text);
      assert.deepEqual([types.v, cells.v![1]], [type, second]);
      assert.match(profile.warnings.join('\n'), warning ?? /^$/);
    });
  }
});

describe('Files as spreadsheets and meters save them', () => {
  const rows = Array.from({ length: 9 }, (_, i) => `${i};${i},5`);
  const files: [name: string, text: string][] = [
    ['nameless empty columns at the end', `t;v;;\n${rows.map((row) => `${row};;`).join('\n')}\n`],
    ['a delimiter at the end of each row', `t;v\n${rows.map((row) => `${row};`).join('\n')}\n`],
    ['a delimiter at the end of the header', `t;v;\n${rows.join('\n')}\n`],
    ['fields between bars', `t|v\n${rows.join('\n').replaceAll(',', '.').replaceAll(';', '|')}\n`],
    ['a line that names the delimiter', `sep=;\r\nt;v\r\n${rows.join('\r\n')}`],
  ];
  for (const [name, text] of files) {
    it(`${name}: read`, async () => {
      const { types, cells, profile } = await clean(text);
      assert.deepEqual([types, cells.v![1], profile.rows], [{ t: 'integer', v: 'number' }, 1.5, 9]);
    });
  }

  const refused: [name: string, text: string, message: RegExp][] = [
    [
      'no header, and a value twice in the first line',
      '2024-01-01,0,0\n2024-01-02,1,5\n',
      /The first line \("2024-01-01", "0", "0"\) looks like values/,
    ],
    ['a note after a value', `t;v\n${rows.join('\n')};estimated\n`, /Row 9 has 3 fields, the header has 2/],
  ];
  for (const [name, text, message] of refused) {
    it(`${name}: an error that says where`, () => rejectsWith(clean(text), 'table.invalid', message));
  }

  for (const [names, isDoubted] of [
    // The first line of iris.data and sonar.all-data, as the UCI repository has them, and of a logger of temperatures.
    ['5.1,3.5,1.4,0.2,Iris-setosa', true],
    ['0.0200,0.0371,0.0428,0.0207,0.0954,R', true],
    ['2024-01-01T00:00:00Z,21.5,33.1', true],
    ['M,0.455,0.365', true],
    ['continent,1952,1957,1962', false],
    ['id,0.1,0.5,0.9', false],
    ['time,v2,v1.5', false],
    ['3,1,2', false],
  ] as const) {
    it(`a first line ${names}: ${isDoubted ? 'doubted as names' : 'names'}`, async () => {
      const row = names.split(',').map((_, i) => `${i}.5`);
      const { profile } = await clean(`${names}\n${row.join()}\n${row.reverse().join()}\n`);
      const doubt = `The names of the columns look like values (${names
        .split(',')
        .map((name) => `"${name}"`)
        .join(', ')}). If the table lacks a first line with names`;
      assert.equal(
        profile.warnings.some((one) => one.startsWith(doubt)),
        isDoubted,
        profile.warnings.join('\n'),
      );
    });
  }
});

describe('Sheets as nodes for spreadsheets send them', () => {
  const rows = [45_292, 45_293, 45_294].map((date, i) => [date, 20 + i, i]);
  const names = ['Datum', 'Temperatur', 'Druck'];

  it('may have empty rows above and below, and empty cells in the row of names', async () => {
    for (const table of [
      [[], [null, ''], names, ...rows, [], []],
      [names, ...rows],
    ]) {
      const source = await openTable(structuredClone(table));
      assert.deepEqual([source.names, source.rowCount], [names, 3]);
      const added = await source.addColumns({ rows: 3, columns: [{ name: 'p', cell: (row) => row }] });
      assert.deepEqual(
        (added as unknown[][]).map((row) => row.at(-1)),
        ['p', 0, 1, 2],
      );
    }
    // A row of empty cells that stands below is one, with a prediction of its own.
    const source = await openTable([names, ...rows, [null, null, null]]);
    assert.equal(source.rowCount, 4);
    // As `row.values` of exceljs, which begins at 1.
    const sparse = [names, ...rows].map((row) => {
      const cells: unknown[] = [];
      row.forEach((cell, at) => (cells[at + 1] = cell));
      return cells;
    });
    for (const table of [sparse, [names, ...rows].map((row) => [null, ...row])]) {
      assert.deepEqual((await openTable(table)).names, ['Unnamed: 0', ...names]);
    }
  });

  it('may have their names in the first row, which is told once', async () => {
    for (const keys of [
      ['Hall 3', '__EMPTY', '__EMPTY_1'],
      ['A', 'B', 'C'],
    ]) {
      const table = [names, ...rows, ...rows, ...rows, ...rows].map((row) =>
        Object.fromEntries(row.map((cell, at) => [keys[at]!, cell])),
      );
      const { warnings } = await profileTable(await openTable(table));
      assert.equal(warnings.length, 1);
      assert.match(
        warnings[0]!,
        /^Row 1 seems to hold the names of the columns \("Datum", "Temperatur", "Druck"\)/,
      );
    }
    const one = [...rows, ...rows, ...rows, ...rows].map(([Datum, t, p]) => ({ Datum, t, p }));
    const { warnings } = await profileTable(await openTable([{ Datum: 'n/v', t: 1, p: 2 }, ...one]));
    assert.match(warnings.join(), /add them to Missing words/);
  });

  it('are no workbook, and no file that was read as text', async () => {
    await rejectsWith(
      openTable({ SheetNames: ['a'], Sheets: { a: { '!ref': 'A1', A1: { t: 'n', v: 1 } } }, Props: {} }),
      'table.invalid',
      /is a workbook: give the rows of a sheet/,
    );
    const [rows, lists] = [
      [{ a: 1 }, { a: 2 }],
      [['a'], [1]],
    ];
    for (const [sheets, message] of [
      [{ North: rows, South: rows }, /an object of 2 lists of rows, .*: "North", "South". .* at "North"/],
      [{ Empty: [], North: lists, South: rows }, /3 lists .*: "Empty", "North", "South". .* at "North"/],
      [{ Sheet1: rows }, /an object around a list of rows, .* "Sheet1"/],
    ] as const) {
      await rejectsWith(openTable(sheets), 'table.invalid', message);
    }
    const { names } = await openTable({ at: [new Date(0), new Date(1)], a: [1, 2] });
    assert.deepEqual(names, ['at', 'a']);
    for (const [bytes, message] of [
      [
        'PK\x03\x04\x14\x00\x06\x00\x08\x00\x00\x00!\x00b\xee[Content_Types].xml',
        /^The text is a spreadsheet \(\.xlsx/,
      ],
      ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00', /^The text is an old spreadsheet/],
      [
        '\x1f\x8b\x08\x00\x00',
        /^The text is a gzip file that was read as text.* send a Buffer, or choose the file/,
      ],
      ['PAR1\x15\x04\x15\x00', /^The text is Parquet that was read as text/],
      ['ARROW1\x00\x00\xff\xff', /^The text is Arrow that was read as text/],
      ['%PDF-1.4\n%\xe2\xe3\xcf\xd3\n', /^The text is a PDF/],
    ] as const) {
      for (const encoding of ['utf8', 'latin1'] as const) {
        const text = Buffer.from(`${bytes}\nx,y\n1,2\n`, 'latin1').toString(encoding);
        await rejectsWith(openTable(text), 'table.invalid', message);
      }
    }
    for (const text of ['PAR1,PK\n1,2\n', 'ORC,Obj\n1,\uFFFD\n', 'BZh\n1\n']) {
      assert.ok((await openTable(text)).names.length > 0);
    }
  });
});

describe('Words that mean "missing"', () => {
  const odd = { 3: 'no signal', 77: 'empty', 78: ' Empty ', 99: '/' };

  it('are named where nearly all of a column reads as numbers, with the field that takes them', async () => {
    const numbers = history(600, odd).map(({ state }) => ({ state: Number(state) || state, x: 1 }));
    const { profile, types } = await clean(numbers);
    assert.equal(types.state, 'text');
    assert.deepEqual(profile.warnings, [
      'Column "state" is text, since 4 of its 600 cells do not read as numbers: "no signal" (row 4), "empty" (row 78), " Empty " (row 79), "/" (row 100). If these mean that a value is missing, add them to Missing words (msg.missing_words), or set Unreadable cells to missing (msg.unreadable).',
    ]);
    const csv = `state,x\n${numbers.map(({ state }) => `${state},1`).join('\n')}`;
    assert.match((await clean(csv)).profile.warnings[0]!, /4 of its 600 cells/);
    const text = await clean(history(600, odd));
    assert.match(text.profile.warnings[0]!, /4 of its 600 .* and set Column types \{"state":"number"\}/);
  });

  it('are named where they are many, too, but are not guessed to be missing', async () => {
    const states = history(60, {}).map(({ state }, row) => (row % 3 === 0 ? 'no signal' : state));
    const csv = `state,x\n${states.map((state) => `${state},1`).join('\n')}`;
    for (const unreadable of [undefined, 'missing'] as const) {
      const { types, profile } = await clean(csv, { unreadable });
      assert.equal(types.state, 'text');
      assert.match(
        profile.warnings[0]!,
        /20 of its 60 cells .*"no signal" \(20 times, first in row 1\).*add them to Missing words \(msg\.missing_words\)\.$/,
      );
    }
  });

  it('are missing values once they are given, in every form of table', async () => {
    const rows = history(600, odd);
    const columns = {
      last_changed: rows.map((row) => row.last_changed),
      state: rows.map(({ state }) => state),
    };
    const csv = `last_changed,state\n${rows.map((row) => `${row.last_changed},${row.state}`).join('\n')}`;
    const { tableFromArrays } = await import('apache-arrow');
    for (const table of [rows, columns, csv, tableFromArrays(columns)]) {
      const { types, cells, cleaned, profile } = await clean(table, {
        missingWords: ['no signal', 'EMPTY', '/'],
        types: { state: 'number' },
      });
      assert.deepEqual([types, profile.warnings], [{ last_changed: 'date', state: 'number' }, []]);
      assert.deepEqual([cells.state![2], cells.state![3], cells.state![78]], [21, null, null]);
      assert.deepEqual(cleaned, { last_changed: 0, state: 4 });
    }
  });

  it('may be numbers', async () => {
    for (const table of ['t,x\n21.5,1\n-999,2\n22,3\n', { t: [21.5, -999, 22], x: [1, 2, 3] }]) {
      const { cells, cleaned } = await clean(table, { missingWords: ['-999'] });
      assert.deepEqual([cells.t, cleaned.t], [[21.5, null, 22], 1]);
    }
  });

  it('a column of categories or of free text is not taken for numbers', async () => {
    const words = ['on', 'off', '1', '2', 'auto'];
    const rows = Array.from({ length: 400 }, (_, row) => ({ mode: words[row % 5], note: `note ${row}` }));
    assert.deepEqual((await clean(rows)).profile.warnings, []);
    const late = Array.from({ length: 400 }, (_, row) => ({ v: row < 370 ? row : `word ${row}` }));
    assert.match((await clean(late)).profile.warnings[0]!, /holds numbers and text/);
  });
});

describe('Cells that cannot be read', () => {
  it('are missing values that are counted, where that is asked for', async () => {
    const rows = history(200, { 5: 'no signal', 9: 'n/v' }).map(({ state }, row) => ({
      state: row === 7 ? { nested: true } : state,
      n: row === 11 ? 'eleven' : row,
      on: row === 3 ? 'perhaps' : true,
      day: row === 4 ? 'yesterday' : '2024-11-21',
    }));
    await rejectsWith(
      clean(rows, { types: { on: 'boolean' } }),
      'table.invalid',
      /row 8: the cell holds an object/,
    );
    const { types, cells, cleaned } = await clean(rows, {
      unreadable: 'missing',
      types: { state: 'number', on: 'boolean' },
    });
    assert.deepEqual(types, { state: 'number', n: 'integer', on: 'boolean', day: 'date' });
    assert.deepEqual(cleaned, { state: 3, n: 1, on: 1, day: 1 });
    assert.deepEqual([cells.n![11], cells.state![7], cells.on![3], cells.day![4]], [null, null, null, null]);
  });

  it('are an error that names the cell by default', async () => {
    await rejectsWith(
      clean(history(30, { 5: 'no signal' }), { types: { state: 'number' } }),
      'table.invalid',
      /Column "state", row 6: "no signal" is not a number/,
    );
  });
});

describe('Rows without a target', () => {
  const table = 'x,y\n1,10\n2,\n3,30\n4,NA\n5,50\n';

  it('are counted, and read where they are not to be left out', async () => {
    const { profile, cells } = await clean(table, { target: 'y' });
    assert.equal(profile.target!.missing, 2);
    assert.deepEqual(cells.x, [1, 2, 3, 4, 5]);
  });

  it('are left out of every column, and words for missing count', async () => {
    const options = { target: 'y', missingTarget: 'leaveOut' } as const;
    const { profile, cells } = await clean(table, options);
    assert.deepEqual([profile.rows, profile.target!.missing], [5, 2]);
    assert.deepEqual(cells, { x: [1, 3, 5], y: [10, 30, 50] });
    const words = await clean(table.replace('NA', 'no signal'), {
      ...options,
      missingWords: ['no signal'],
    });
    assert.deepEqual(words.cells, { x: [1, 3, 5], y: [10, 30, 50] });
  });

  it('a row of totals is told, whatever becomes of the word that begins it', async () => {
    for (const total of ['Summe', 'Grand total:', '合計']) {
      const days = Array.from({ length: 30 }, (_, n) => `2024-01-${String(n + 1).padStart(2, '0')},${n}.5`);
      const report = `day,kwh\n${[...days, `${total},450`].join('\n')}\n`;
      for (const unreadable of ['missing', 'error'] as const) {
        const { profile } = await clean(report, { target: 'kwh', unreadable });
        assert.match(profile.warnings.join('\n'), /Row 31 looks like a total of the others \(column "day"/);
      }
    }
    const { profile } = await clean(`day,kwh\n2024-01-01,1\n${'2024-01-02,2\n'.repeat(30)}none,450\n`);
    assert.doesNotMatch(profile.warnings.join('\n'), /total/);
  });

  it('unreadable ones are rows without a target', async () => {
    const rows = Array.from({ length: 50 }, (_, x) => ({ x, y: x === 7 ? 'broken' : x * 2.5 }));
    const options = { target: 'y', missingTarget: 'leaveOut', unreadable: 'missing' } as const;
    const { profile, cells } = await clean(rows, options);
    assert.deepEqual(
      [profile.target!.type, profile.target!.missing, profile.target!.firstMissing],
      ['number', 1, 7],
    );
    assert.equal(cells.x!.length, 49);
  });
});

describe('Dates of a place', () => {
  const instants = ['2024-07-01T10:00:00Z', '2024-12-01T10:00:00Z'];
  const local = ['2024-07-01 12:00', '2024-12-01 11:00'];

  it('are held as the local time of the zone, whatever form they come in', async () => {
    for (const cells of [instants, local, instants.map((text) => new Date(text))]) {
      const { profile, cells: read } = await clean(
        cells.map((t) => ({ t, x: 1 })),
        { timezone: 'Europe/Berlin' },
      );
      assert.deepEqual(profile.columns[0], { name: 't', type: 'date', zone: 'Europe/Berlin' });
      assert.deepEqual(
        read.t,
        local.map((text) => new Date(`${text.replace(' ', 'T')}Z`)),
      );
    }
  });

  it('are UTC where no zone, or UTC, is given', async () => {
    for (const timezone of [undefined, 'UTC', 'Etc/UTC']) {
      const { profile, cells } = await clean(
        local.map((t) => ({ t, x: 1 })),
        { timezone },
      );
      assert.deepEqual(profile.columns[0], { name: 't', type: 'date' });
      assert.deepEqual(cells.t![0], new Date('2024-07-01T12:00:00Z'));
    }
  });

  it('follow the clock over the hours in which it is set', async () => {
    const hours = Array.from({ length: 4 }, (_, hour) => new Date(Date.UTC(2024, 9, 26, 23 + hour)));
    const { cells } = await clean(
      hours.map((t) => ({ t, x: 1 })),
      { timezone: 'Europe/Berlin' },
    );
    const clock = (cells.t as Date[]).map((date) => date.getUTCHours());
    assert.deepEqual(clock, [1, 2, 2, 3]);
    const old = await clean(
      [
        { t: '1850-01-01T00:00:00Z', x: 1 },
        { t: '2500-07-01T00:00:00Z', x: 1 },
      ],
      {
        timezone: 'Asia/Kolkata',
      },
    );
    assert.ok((old.cells.t as Date[]).every((date) => !Number.isNaN(date.getTime())));
  });

  it('are an error that says so where the zone does not exist', () =>
    rejectsWith(
      clean([{ t: 1 }], { timezone: 'Europe/Atlantis' }),
      'config.invalid',
      /"Europe\/Atlantis" is not a time zone/,
    ));
});

describe('A header that holds only values', () => {
  it('is seen before the target is said to be missing', async () => {
    await rejectsWith(
      clean('2024-11-21 00:00:00,21.5,3\n2024-11-21 01:00:00,21.7,4\n', { target: 'kwh' }),
      'target.missing',
      /no column "kwh".* look like values: the table may lack a first line with the names/,
    );
    await rejectsWith(clean('day,kwh\n1,2\n', { target: 'x' }), 'target.missing', /"day", "kwh"\.$/);
  });
});

describe('Different rows', () => {
  it('are counted where they are few', async () => {
    const rows = Array.from({ length: 60 }, (_, row) => ({ a: row % 4, b: row % 3 }));
    assert.equal((await clean(rows)).profile.distinctRows, 12);
    const many = Array.from({ length: 60 }, (_, a) => ({ a, b: 1 }));
    assert.equal((await clean(many)).profile.distinctRows, undefined);
  });
});

describe('Times as numbers', () => {
  const time = Date.UTC(2024, 2, 1, 12, 30, 15);
  const texts = { s: time / 1000, ms: time, µs: `${time}123`, ns: `${time}123456` };

  for (const [unit, first] of Object.entries(texts)) {
    it(`are told of, and read as dates where that is given: ${unit}`, async () => {
      const csv = `time,v\n${first},1\n${first},2\n`;
      const told = await clean(csv);
      assert.match(told.profile.warnings.join(), /"time" holds numbers .* that may be dates/);
      const forms = [csv, [{ time: first }], [{ time: BigInt(first) }], [{ time: Number(first) }]];
      for (const table of forms) {
        const { cells } = await clean(table, { types: { time: 'date' } });
        // A number beyond 2^53 is exact to a microsecond only.
        assert.ok(Math.abs(new Date(cells.time![0] as Date).getTime() - time) <= 1);
      }
    });
  }
});
