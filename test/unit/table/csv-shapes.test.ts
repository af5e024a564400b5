import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import {
  closeEncoder,
  type Column,
  openTable,
  openTableFile,
  type TableSource,
} from '../../../dist/src/table';
import { collect, rejectsWith, withFolder } from './helpers';

async function read(
  table: unknown,
): Promise<{ names: readonly string[]; rows: unknown[][]; warnings: string }> {
  const source = await openTable(table);
  const { warnings } = await profileTable(source);
  const rows = await readRows(source);
  return { names: source.names, rows: rows.map((row) => Object.values(row)), warnings: warnings.join(' | ') };
}

describe('A header with names that are empty or come again', () => {
  const names = ['Unnamed: 0', 'a', 'a.1', 'b', 'a.2', 'Unnamed: 5'];
  const rows = [
    [1, 2, 3, 4, 5, 6],
    [7, 8, 9, 10, 11, 12],
  ];
  const header = ['', 'a', 'a', 'b', ' a ', ''];
  const forms: [string, unknown][] = [
    ['CSV', [header, ...rows].map((row) => row.join(',')).join('\n')],
    ['an array of arrays', [header, ...rows]],
  ];
  for (const [name, table] of forms) {
    it(`gets names as pandas gives them, said once: ${name}`, async () => {
      const found = await read(table);
      assert.deepEqual([found.names, found.rows], [names, rows]);
      assert.match(
        found.warnings,
        /^The header has empty or repeated names: .* "Unnamed: 0", "a.1", "a.2", "Unnamed: 5", here and when the model predicts\.$/,
      );
    });
  }

  it('is told where the column to predict is not found, together with it', async () => {
    const source = await openTable('a,b,a\n1,2,3\n');
    await assert.rejects(
      profileTable(source, { target: 'y' }),
      /no column "y" .* "a", "b", "a\.1"\. The header has empty or repeated names: these columns are called "a\.1"/,
    );
  });

  it('never gets a name that another column has', async () => {
    assert.deepEqual((await read('a,a,a.1,Unnamed: 3,\n1,2,3,4,5\n')).names, [
      ...['a', 'a.2', 'a.1', 'Unnamed: 3', 'Unnamed: 4'],
    ]);
  });

  it('has no white space around a name, which a card of before may have', async () => {
    const source = await openTable('age, job, income\n25,1.5,2\n');
    assert.deepEqual(source.names, ['age', 'job', 'income']);
    const of = async (name: string, from: TableSource): Promise<unknown> => {
      const columns: Column[] = [{ name, type: 'number' }];
      return (await collect(readBatches(from, columns)))[0]!.columns[0]!;
    };
    assert.deepEqual(await of(' job', source), await of('job', source));
    assert.deepEqual(await of(' job', await openTable([{ job: 1.5 }])), await of('job', source));
    assert.deepEqual(await of('', await openTable(',x\n1.5,2\n')), await of('job', source));
  });
});

describe('A text file as other programs write it', () => {
  it('of R, with one name fewer than fields, names the rows in a column of its own', async () => {
    for (const text of [
      '"x"\t"y"\n"1"\t1.5\t"a"\n"2"\t2.5\t"b"\n',
      '"x","y"\r\n"first",1.5,"a"\r\n"second",2.5,"b"\r\n',
    ]) {
      const { names, rows, warnings } = await read(text);
      assert.deepEqual(names, ['Unnamed: 0', 'x', 'y']);
      assert.deepEqual(
        rows.map((row) => row.slice(1)),
        [
          [1.5, 'a'],
          [2.5, 'b'],
        ],
      );
      assert.match(warnings, /^The header has one name fewer .* add column "Unnamed: 0" to Ignore\.$/);
    }
    await rejectsWith(openTable('name,v\nDoe, John,5\nRoe, Jane,6\n'), 'table.invalid', /Row 1 has 3 fields/);
  });

  it('of R, with fields that spaces part', async () => {
    for (const [text, names, first] of [
      ['"x" "y name"\n"a b" 1.5 "c, d"\n"2" 2.5 "e"\n', ['Unnamed: 0', 'x', 'y name'], ['a b', 1.5, 'c, d']],
      ['x y\n1 2 3\n2 4 5\n', ['Unnamed: 0', 'x', 'y'], [1, 2, 3]],
      ['  x   y  z \r\n 1  2 a\r\n10 20 b\r\n', ['x', 'y', 'z'], [1, 2, 'a']],
      ['"x"\n"1" 7\n', ['Unnamed: 0', 'x'], [1, 7]],
    ] as const) {
      const found = await read(text);
      assert.deepEqual([found.names, found.rows[0]], [names, first], text);
    }
    for (const text of [
      'fruit name\nred apple\ngreen pear\n',
      'net weight\n1 200\n1 300\n',
      'net weight\n12 kg\n',
    ]) {
      assert.equal((await read(text)).names.length, 1, text);
    }
  });

  const points = (room: string): string[] =>
    ['00', '01', '02'].map((h) => `2024-01-01T${h}:00:00Z,20.${h},${room}`);

  it('of InfluxDB, annotated, with a table after the other', async () => {
    const annotations =
      '#group,false,false,true\n#datatype,long,dateTime:RFC3339,double,string\n#default,,,,\n';
    const table = (number: number, room: string): string =>
      `${annotations},table,_time,_value,room\n${points(room)
        .map((point) => `,${number},${point}\n`)
        .join('')}`;
    for (const text of [table(0, 'hall'), `${table(0, 'hall')}\r\n${table(1, 'attic')}`]) {
      const { names, rows, warnings } = await read(text);
      assert.deepEqual(names, ['table', '_time', '_value', 'room']);
      assert.equal(rows.length, text.includes('attic') ? 6 : 3);
      assert.ok(rows.every(([, time, value]) => time instanceof Date && typeof value === 'number'));
      assert.equal(
        warnings,
        text.includes('attic') ? 'The header is repeated in a line, which is left out.' : '',
      );
    }
  });

  it('in which the header comes again', async () => {
    const part = `time,v,room\n${points('hall').join('\n')}\n`;
    const { rows, warnings } = await read(`${part}\n${part}${part}`);
    assert.equal(rows.length, 9);
    assert.ok(rows.every(([time, value]) => time instanceof Date && typeof value === 'number'));
    assert.equal(warnings, 'The header is repeated in 2 lines, which are left out.');
    const numbered = await read('0,1\n0,1\n0,2\n1,1\n');
    assert.deepEqual([numbered.rows.length, numbered.warnings], [3, '']);
  });

  it('with comments above the header, which may begin with # itself', async () => {
    const expected = [
      ['a', 1],
      ['b', 2],
    ];
    const comments = await read('# exported 2024-11-21, by hand\n#\nname;v\na;1\nb;2\n');
    assert.deepEqual([comments.names, comments.rows], [['name', 'v'], expected]);
    const own = await read('#name;v\na;1\nb;2\n');
    assert.deepEqual([own.names, own.rows], [['#name', 'v'], expected]);
    const last = await read('# by hand, 2024\n# see https://example.org/\n# name;v\na;1\nb;2\n');
    assert.deepEqual([last.names, last.rows], [['# name', 'v'], expected]);
    const spaced = await read('# air, of the hall\n# temp press\n21.5 1013.1\n21.6 1013.2\n');
    assert.deepEqual(spaced.names, ['temp', 'press']);
  });

  it('with comments above rows without a header is refused, with the line of the first row', async () => {
    const rows = [
      '-4.5\t-0.8\n0.6\t-0.7\n',
      '15.5 28.6\n14.5 30.1\n',
      '1.5\n2.5\n',
      '16.5,17.5,18.5\n19.5,20.5,21.5\n',
    ];
    for (const text of rows) {
      const comments = '# of A. Author, 2005\n# see https://example.org/data\n';
      await rejectsWith(openTable(`${comments}${text}`), 'table.invalid', /^Line 3 holds numbers only/);
    }
  });

  it('as a log of a computer that lost its power, with NUL bytes', async () => {
    const nuls = '\0'.repeat(600);
    const log = `time,v\n1,20.5\n2,20.6\n`;
    const long = Array.from({ length: 800 }, (_, row) => `${row + 3},20.5\n`).join('');
    for (const [text, rows, torn] of [
      [`${log}${nuls}`, 2, false],
      [`${log}${nuls}\n`, 2, false],
      [`${log}${nuls}3,20.7\n4,20.8\n`, 4, false],
      [`${log}3,2${nuls}3,20.7\n4,20.8\n`, 4, true],
      [`${log}3,20.${nuls}\n4,20.8\n`, 3, true],
      [`${log}${long}999${nuls}9,1\n`, 803, true],
    ] as const) {
      for (const value of [text, Buffer.from(text)]) {
        const found = await read(value);
        assert.equal(found.rows.length, rows);
        assert.ok(found.rows.every(([time, v]) => Number.isInteger(time) && Number(v) > 0));
        assert.equal(found.warnings.includes('a line cut off before them is left out'), torn);
      }
    }
    await rejectsWith(openTable(Buffer.from('ab\0\x01\x02c')), 'table.invalid', /neither text/);
  });

  it('with NUL bytes above its header, in quotes, or behind each field', async () => {
    const rows = [
      [1, 'b'],
      [2, 'c'],
    ];
    const nuls = '\0'.repeat(60);
    for (const [text, warning] of [
      [`${nuls}time,v\n1,b\n2,c\n`, /^The text begins with NUL bytes/],
      [`${nuls}\n${nuls}time,v\n1,b\n2,c\n`, /^The text begins with NUL bytes/],
      [`time,v\n0,"a${nuls}\n1,"b"\n2,"c"\n`, /a line cut off before them is left out/],
      [`time,v\n0,"a\nb${nuls}1,"b"\n2,c\n`, /a line cut off before them is left out/],
      [`time,v\n1,b\n2,c\n3,"d${nuls}`, /a line cut off before them is left out/],
      [`time,v\n1${nuls},b${nuls}\n2${nuls},c${nuls}\n`, /^$/],
    ] as const) {
      for (const value of [text, Buffer.from(text)]) {
        const found = await read(value);
        assert.deepEqual([found.names, found.rows], [['time', 'v'], rows]);
        assert.match(found.warnings, warning);
      }
    }
    const refused: [table: unknown, message: RegExp][] = [
      [`ti${nuls}time,v\n1,b\n`, /NUL bytes behind "ti".* Remove what stands before the line with the names/],
      [Buffer.from(`${'\0'.repeat(5000)}time,v\n1,b\n`), /^The Buffer begins with 5000 NUL bytes, as/],
      [Buffer.alloc(5000), /^The Buffer begins with 5000 NUL bytes or more/],
    ];
    for (const [table, message] of refused) {
      await rejectsWith(read(table), 'table.invalid', message);
    }
  });
});

describe('What devices and spreadsheets write', () => {
  it('of a measurement that is not there is missing', async () => {
    const { rows, warnings } = await read('Temp;Feuchte\n21,5 °C;40,1\nOL;----\n21,7 °C;40,3\n');
    assert.deepEqual([rows[1], warnings], [['OL', null], '']);
    const source = await openTable('Temp;Feuchte\n21,5 °C;40,1\nOL;----\n21,7 °C;40,3\n');
    const { columns } = await profileTable(source);
    assert.deepEqual(
      columns.map(({ type }) => type),
      ['number', 'number'],
    );
  });

  it('as a time that is not read is told of', async () => {
    for (const time of ['21-NOV-24 10.00.00.000000 AM', '21.11.2024 00:00 - 21.11.2024 01:00']) {
      assert.match((await read(`t;v\n${time};1\n${time};2\n`)).warnings, /"t" is text that looks like/);
    }
    assert.match((await read('t;v\nNov 21, 2024 10:00 AM PST;1\n')).warnings, /"t" is text that looks like/);
  });

  it('as dates above columns is told of once, with what to do', async () => {
    const { warnings } = await read('sensor,2025-01-01,2025-01-02,2025-01-03\nt1,1,2,3\nt2,4,5,6\n');
    assert.match(warnings, /^The names of 3 columns are dates .* or the table to a series node\.$/);
    const { warnings: none } = await read('sensor,2023,2024,2025\nt1,1,2,3\nt2,4,5,6\n');
    assert.equal(none, '');
  });
});

describe('Fields in single quotes', () => {
  const said = /^Single quotes \('\) around names and cells are taken for quotation marks, and left off\.$/;
  const readings: [text: string, rows: unknown[][]][] = [
    [
      `'a','b'\n'1','Smith, J'\n'2','it''s'\n`,
      [
        [1, 'Smith, J'],
        [2, "it's"],
      ],
    ],
    [
      `'a';'b'\r\n1,5;'x;\ny'\r\n2,5;\r\n`,
      [
        [1.5, 'x;\ny'],
        [2.5, null],
      ],
    ],
    [
      `a,b\n'Smith, J',1\n'Doe, "K"',2\n`,
      [
        ['Smith, J', 1],
        ['Doe, "K"', 2],
      ],
    ],
    [`'a'\n'1'\n'2'\n`, [[1], [2]]],
  ];
  for (const [text, rows] of readings) {
    it(`are read without them, which is said: ${JSON.stringify(text)}`, async () => {
      for (const value of [text, Buffer.from(text)]) {
        const found = await read(value);
        assert.deepEqual(found.rows, rows);
        assert.match(found.warnings, said);
      }
    });
  }

  it('of a long text too, whatever its pieces are', async () => {
    const lines = Array.from({ length: 20_000 }, (_, row) => `'${row}','it''s, ${row}'`);
    const { rows } = await read(`'a','b'\n${lines.join('\n')}`);
    assert.equal(rows.length, 20_000);
    assert.ok(rows.every(([a, b]) => b === `it's, ${String(a)}`));
  });

  it('are a part of the cells where the header and the other cells have none', async () => {
    const words = await read(`id,word\n1,'tis\n2,'twas\n3,'a'\n`);
    assert.deepEqual([words.rows.at(-1), words.warnings], [[3, "'a'"], '']);
    assert.match((await read(`id,v\n1,'1.5'\n2,'2.5'\n`)).warnings, /"v".*'1\.5'/);
  });
});

describe('JSON in gzip', () => {
  after(closeEncoder);

  it('is read as if it were unpacked, and a file names it', () =>
    withFolder(async (folder) => {
      const objects = Array.from({ length: 30_000 }, (_, row) => ({ a: row, b: `x${row}` }));
      const lines = objects.map((row) => JSON.stringify(row)).join('\n');
      const json = [JSON.stringify(objects), lines, JSON.stringify({ a: [1, 2], b: ['x', 'y'] })];
      for (const text of [...json, Buffer.from(`\uFEFF${lines}`, 'utf16le')]) {
        const found = await read(gzipSync(text));
        assert.deepEqual(found, await read(Buffer.from(text)));
        assert.deepEqual(found.names, ['a', 'b']);
      }
      const file = path.join(folder, 'rows.json.gz');
      await writeFile(file, gzipSync(json[0]!));
      await rejectsWith(openTableFile(file), 'table.invalid', /rows\.json\.gz" holds JSON\. Read it with/);
      await rejectsWith(
        openTable(gzipSync(json[0]!).subarray(0, 40_000)),
        'table.invalid',
        /gzip file is damaged or cut off/,
      );
    }));

  it('that unpacks to more than may be held is refused', async () => {
    const spaces = Buffer.alloc(2 ** 26, ' ');
    const bomb = Buffer.concat([
      gzipSync('['),
      ...Array.from({ length: 5 }, () => gzipSync(spaces, { level: 1 })),
    ]);
    await rejectsWith(openTable(bomb), 'table.invalid', /more than 256 MiB of JSON in gzip/);
  });
});

describe('CSV in gzip', () => {
  const text = `a,b\n${Array.from({ length: 30_000 }, (_, row) => `${row},x${row}\n`).join('')}`;

  after(closeEncoder);

  it('is read as if it were unpacked, as a Buffer and as a file', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'table.csv.gz');
      await writeFile(file, gzipSync(text));
      for (const source of [await openTable(gzipSync(text)), await openTableFile(file)]) {
        const { rows, columns } = await profileTable(source);
        assert.deepEqual([rows, columns.map(({ type }) => type)], [30_000, ['integer', 'text']]);
        assert.deepEqual((await readRows(source)).at(-1), { a: 29_999, b: 'x29999' });
      }
    }));

  it('that is cut off is an error of the table', () =>
    withFolder(async (folder) => {
      const cut = gzipSync(text).subarray(0, 40_000);
      const file = path.join(folder, 'table.csv.gz');
      await writeFile(file, cut);
      for (const open of [() => openTable(cut), () => openTableFile(file)]) {
        await rejectsWith(
          open().then((source) => profileTable(source)),
          'table.invalid',
          /gzip file is damaged or cut off/,
        );
      }
    }));
});

describe('Lines above the header', () => {
  const rows = (delimiter: string, mark: string): string =>
    [0, 1, 2].map((n) => [`2024-01-0${n + 1}`, `2${n}${mark}5`, n].join(delimiter)).join('\n');
  const titles: [name: string, text: string, warning: RegExp][] = [
    [
      'a title',
      `Pump 1\ndate;temp;load\n${rows(';', ',')}`,
      /^The first line \("Pump 1"\) is left out .*: line 2 names/,
    ],
    ['a title, with tabs', `Pump 1\r\n\r\ndate\ttemp\tload\r\n${rows('\t', '.')}`, /line 3 names/],
    ['a title, with commas', `Pump 1\ndate,temp,load\n${rows(',', '.')}`, /line 2 names/],
    ['a title as wide as the table', `Pump 1;;\ndate;temp;load\n${rows(';', ',')}`, /line 2 names/],
    ['a title behind sep=', `sep=;\nStation 12, hall 3\ndate;temp;load\n${rows(';', ',')}`, /line 3 names/],
    [
      'a title with a comma, where commas are decimal marks',
      `Station 12, hall 3\ndate;temp;load\n${rows(';', ',')}`,
      /line 2 names/,
    ],
    [
      'several lines',
      `Meter 17\nPeriod: 01.01.2024 - 31.01.2024\n\ndate;temp;load\n${rows(';', ',')}`,
      /^The first 3 lines \("Meter 17", …\) are left out .*: line 4 names/,
    ],
    [
      'numbers of a device, and a line without text',
      `Serial;12345\nPeriod;1\n\ndate;temp;load\n${rows(';', ',')}`,
      /line 4 names/,
    ],
    [
      'lines that are all as wide as the table, one of them empty',
      `Plant 7;;\nWritten 1.2.;;\n;;\ndate;temp;load\n${rows(';', ',')}`,
      /line 4 names/,
    ],
    [
      'a title, and units under the header',
      `Plant 7\n\ndate;temp;load\n;°C;%\n${rows(';', ',')}`,
      /line 3 names.*\("°C, %"\) names units/s,
    ],
  ];
  for (const [name, text, warning] of titles) {
    it(`are left out, with a warning: ${name}`, async () => {
      const found = await read(text);
      assert.deepEqual(found.names, ['date', 'temp', 'load']);
      assert.deepEqual(
        found.rows.map((row) => row.slice(1)),
        [
          [20.5, 0],
          [21.5, 1],
          [22.5, 2],
        ],
      );
      assert.match(found.warnings, warning);
    });
  }

  const hours = (row: (hour: number) => string): string =>
    Array.from({ length: 24 }, (_, i) => row(i)).join('\n');
  const places: [string, string, string[], RegExp][] = [
    [
      'NSRDB, as wide as the rows',
      `Source,Location ID,City,Latitude,Time Zone,DHI Units\nNSRDB,401182,-,40.53,-7,w/m2\nYear,Month,Hour,DHI,,\n${hours((i) => `2017,1,${i},${i * 3},,`)}\n`,
      ['Year', 'Month', 'Hour', 'DHI'],
      /first 2 lines \("Source,Location.*line 3 names/,
    ],
    [
      'TMY3 and SolarAnywhere',
      `723170,"GREENSBORO, PIEDMONT",NC,-5.0,36.100\nDate (MM/DD/YYYY),Time (HH:MM),GHI (W/m^2),GHI source,DNI,Albedo\n${hours((i) => `01/31/1988,${i}:00,${i},E,${i % 5},`)}\n`,
      ['Date (MM/DD/YYYY)', 'Time (HH:MM)', 'GHI (W/m^2)', 'GHI source', 'DNI', 'Albedo'],
      /first line \("723170.*line 2 names/,
    ],
    [
      'Open-Meteo',
      `latitude,longitude,elevation\n52.52,13.42,38.0\n\ntime,rain (mm)\n${hours((i) => `2024-01-01T${10 + (i % 10)}:00,${i}`)}\n`,
      ['time', 'rain (mm)'],
      /first 3 lines .*line 4 names/,
    ],
  ];
  for (const [name, text, names, warning] of places) {
    it(`are left out where they tell of the place: ${name}`, async () => {
      const found = await read(text);
      assert.deepEqual(found.names, names);
      assert.equal(found.rows.length, 24);
      assert.match(found.warnings, warning);
    });
  }

  it('are none where the first line can be the header', async () => {
    for (const [text, names] of [
      ['a,b,\nx,y,z\n5,6,7\n', ['a', 'b', 'Unnamed: 2']],
      [',a,b\nr1,x,y\nr2,5,6\n', ['Unnamed: 0', 'a', 'b']],
      ['name;2019;2020\nNorth;-;x\nSouth;1;2\n', ['name', '2019', '2020']],
      ['comment\n"hello, world"\n"foo, 5"\n', ['comment']],
    ] as const) {
      assert.deepEqual((await read(text)).names, names);
    }
  });
});

describe('Rows of fewer fields than the header', () => {
  it('have missing cells at their end, said once; of more fields they are an error', async () => {
    const { rows, warnings } = await read('a;b;c\n1;2;3\n4;5\n6\n7;8;9\n');
    assert.deepEqual(rows, [
      [1, 2, 3],
      [4, 5, null],
      [6, null, null],
      [7, 8, 9],
    ]);
    assert.equal(
      warnings,
      '2 rows, the first of them row 2, have fewer fields than the header: cells absent at the end are missing values. Text that holds line breaks must be in quotes.',
    );
    await rejectsWith(
      openTable('a,b\n1,2\n3,4,5\n'),
      'table.invalid',
      /Row 2 has 3 fields, the header has 2/,
    );
  });
});

describe('A table that begins further down', () => {
  const numbers = (count: number, row: (i: number) => string): string =>
    `${Array.from({ length: count }, (_, i) => row(i)).join('\n')}\n`;
  const refused: [string, string, RegExp][] = [
    [
      'of LabVIEW',
      [
        ...['LabVIEW Measurement\t', 'Writer_Version\t2', 'Reader_Version\t2', 'Separator\tTab'],
        ...['Decimal_Separator\t.', 'Multi_Headings\tYes', 'X_Columns\tOne', 'Time_Pref\tRelative'],
        ...['Date\t2015/01/01', 'Time\t10:15:30.1234', '***End_of_Header***\t', '\t'],
        ...['Channels\t1\t\t', 'Samples\t5\t\t', 'Date\t2015/01/01\t\t', 'Y_Unit_Label\tVolts\t\t'],
        ...['X_Dimension\tTime\t\t', 'X0\t0.0E+0\t\t', 'Delta_X\t0.001\t\t', '***End_of_Header***\t\t\t'],
        ...['X_Value\tVoltage\tComment', '0.000\t1.5', '0.001\t1.6', '0.002\t1.7', '0.003\t1.8'],
      ].join('\n'),
      /begin in line 21 \("X_Value\\tVoltage\\tComment"\)/,
    ],
    [
      'the longest of several tables (PVGIS)',
      `Latitude: 45.000\nmonth,year\n${numbers(9, (i) => `${i},2018`)}time(UTC),T2m,RH\n${numbers(20, (i) => `201801${10 + i},2.0${i},94.${i}`)}`,
      /begin in line 12 \("time\(UTC\),T2m,RH"\)/,
    ],
    [
      'rows of spaces and numbers without names (SURFRAD)',
      ` Alamosa\n   37.70  105.92 2317 m version 1\n${numbers(9, (i) => ` 2016   1  1  1  0  ${i}  0.017 0`)}`,
      /^Line 3 \("2016 {3}1.*"\) is a row, and no line names the columns\. .* in place of the 2 lines above it, and a sign such as a comma/,
    ],
    [
      'rows of numbers without names (EPW)',
      `LOCATION,Amsterdam,-,NLD,IWEC Data,062400,52.30,4.77,1.0,-2.0\nDESIGN CONDITIONS,0\nDATA PERIODS,1,1,Data,Sunday, 1/ 1,12/31\n${numbers(9, (i) => `1991,1,1,${i},60,A7A7,8.7,8.5,99,99500,0,0`)}`,
      /^Line 4 \("1991,1,1.*"\) is a row, .* in place of the 3 lines above it\.$/,
    ],
    [
      'names in a comment, and an empty one below (KNMI)',
      `# BRON: KNMI\n# STN,YYYYMMDD,   HH,   FH\n#\n${numbers(9, (i) => `  240,20220101,    ${i},   ${i * 7}`)}`,
      /Line 2 \("# STN,YYYYMMDD,.*"\) seems to name the columns.* Remove that line/,
    ],
    [
      'fields told by their places (GHCN daily), some of them empty',
      numbers(
        6,
        (i) =>
          `ACW0001160419490${1 + i}TMAX  289  X-9999${'   '.repeat(i % 2)}  31${i}${i % 2 ? 'G' : ' '} X`,
      ),
      /of GHCN daily \(\.dly\), of fixed width: .*\. NCEI has the same data as CSV/,
    ],
    [
      'fields told by their places (ISD)',
      numbers(
        6,
        (i) => `0${100 + i}0290709999919010101${10 + i}004+64333+023450FM-12+0005${i % 2 ? 'REM A, B' : ''}`,
      ),
      /of the Integrated Surface Database \(ISD\), of fixed width: /,
    ],
    [
      'fields told by their places, below their names',
      `Name      Amount   Date\n${numbers(6, (i) => `Mr. M ${i}      ${i}    2024-01-0${i + 1}`)}`,
      /of fixed width: .* cut each line at these places and write commas between, below a line with the names/,
    ],
    [
      'fields told by their places, below dashes',
      `Name    Amount Date\n------- ------ ----------\n${numbers(2, (i) => `Mr. M ${i}      ${i} 2024-01-0${i + 1}`)}`,
      /of fixed width: /,
    ],
    [
      'rows alike, without names (GHCN monthly)',
      numbers(6, (i) => `10160355000188${i}TAVG 1000  A 10${i}0  A 1200  A`),
      /^Line 1 \("10160355.*"\) is a row, and no line names the columns\. Write a line with a name for each field above it\.$/,
    ],
    [
      'rows alike, without names and delimiter',
      numbers(6, (i) => `2024-01-01 10:00:0${i} INFO ${'hum '.repeat(i % 2)}temp=21.${i}`),
      /is a row, and no line names the columns\. .*, and a sign such as a comma between the fields/,
    ],
  ];
  it('is not looked for where a table has one column', async () => {
    for (const text of [
      `message\n${numbers(6, (i) => `ERROR   2024-01-01   10:0${i}`)}`,
      `value\n${numbers(6, (i) => `     ${i}`)}`,
      `serial number\n${numbers(6, (i) => `0000 1111 2222 3333 444${i}`)}`,
      `What is your opinion?\n${numbers(6, (i) => `${'It is '.repeat(1 + i)}good.`)}`,
    ]) {
      assert.equal((await openTable(text)).names.length, 1);
    }
  });

  it('is not looked for below a header that lacks names', () =>
    rejectsWith(
      openTable(`,b,c,d,e\n${numbers(9, (i) => `${i},1,2,3,4,5,6`)}`).then((table) => table.profile({})),
      'table.invalid',
      /Row 1 has 7 fields, the header has 5/,
    ));

  for (const [name, text, message] of refused) {
    it(`says in which line: ${name}`, () => rejectsWith(openTable(text), 'table.invalid', message));
  }

  it('is a web page or XML, said so', async () => {
    for (const text of [
      '<!DOCTYPE html>\n<title>Sign in</title>',
      '\n<html><body>',
      '<?xml version="1.0"?><a/>',
      '<plant name="north">\n<row>\n<x>1</x></row></plant>\n',
    ]) {
      await rejectsWith(openTable(text), 'table.invalid', /is a web page \(HTML\) or XML/);
    }
    assert.deepEqual((await openTable('<DATE>\t<OPEN>\n1\t2\n')).names, ['<DATE>', '<OPEN>']);
    assert.deepEqual((await openTable('<b>a</b>,<b>c</b>\n1,2\n')).names, ['<b>a</b>', '<b>c</b>']);
  });

  it('is not looked for where a name begins like a file of another kind', async () => {
    for (const name of ['PARENT', 'ORC', 'BZh']) {
      assert.deepEqual((await openTable(Buffer.from(`${name},b\n1,2\n`))).names, [name, 'b']);
    }
  });

  it('is not looked for where cells hold lists', async () => {
    const { names } = await read('id,tags\n1,5;6;7\n2,1;2;3\n3,4;5;6\n4,7;8;9\n');
    assert.deepEqual(names, ['id', 'tags']);
    const lines = ['a text', 'of', 'some', 'lines', 'above', 't\tv\tw', '1\t2\t3', '2\t3\t4', '3\t4\t5'];
    const quoted = `row,line\n${lines.map((line, row) => `${row},${line}\n`).join('')}`;
    assert.deepEqual((await read(quoted)).names, ['row', 'line']);
  });
});

describe('A table that is drawn with lines', () => {
  const cells = [0, 1, 2].map((i) => [`M-${i}`, `1.23${i},5${i === 1 ? '-' : ' '}`, `0${i + 1}.11.2024`]);
  const framed = (line: string): string =>
    `${line}\n| Item |   Amount | Date       |\n${line}\n${cells.map((row) => `| ${row.join(' | ')} |\n`).join('')}${line}\n`;
  const open = ` Item | Amount | Date\n------+--------+------\n${cells.map((row) => ` ${row.join(' | ')}\n`).join('')}`;
  const drawn: [name: string, text: string, warning: RegExp][] = [
    ['by SAP', `Report of stock      1\n${framed('-'.repeat(36))}`, /a line of other text \("Report of/],
    [
      'by SAP, a page and another',
      framed('-'.repeat(36)).repeat(1) + framed('-'.repeat(36)).split('\n').slice(0, 3).join('\n'),
      /is repeated in a line/,
    ],
    ['by MySQL', `${framed('+------+----------+------------+')}3 rows in set (0.00 sec)\n`, /"3 rows in set/],
    ['by PostgreSQL', `${open}(3 rows)\n\n`, /a line of other text \("\(3 rows\)"\) is left out as no row/],
    [
      'as Markdown',
      `| Item | Amount | Date |\n|:---|---:|---|\n${cells.map((row) => `|${row.join('|')}|\n`).join('')}`,
      /^$/,
    ],
  ];
  for (const [name, text, warning] of drawn) {
    it(`is read without them: ${name}`, async () => {
      const found = await read(text);
      assert.deepEqual(found.names, ['Item', 'Amount', 'Date']);
      assert.deepEqual(
        found.rows.map(([item, amount]) => [item, amount]),
        [
          ['M-0', 1230.5],
          ['M-1', -1231.5],
          ['M-2', 1232.5],
        ],
      );
      assert.match(found.warnings, warning);
    });
  }

  it('may hold a long row of dashes that is none of its lines', async function () {
    // It took 50 s where a pattern went back over them.
    this.timeout(20_000);
    const dashes = `${'-'.repeat(60_000)}x`;
    const { rows } = await read(`| a | b |\n|---|---|\n| ${dashes} | 2 |\n| y | 3 |\n`);
    assert.deepEqual(rows, [
      [dashes, 2],
      ['y', 3],
    ]);
  });

  it('is none where upright lines only part the fields, or where it is text in a cell', async () => {
    assert.deepEqual((await read('a|b\n---|1\nx|2\n')).rows, [
      ['---', 1],
      ['x', 2],
    ]);
    assert.deepEqual((await read('id,text\n1,"| a | b |\n|---|---|\n| 1 | 2 |"\n')).names, ['id', 'text']);
  });
});

describe('UTF-16 without a byte order mark', () => {
  const text = Buffer.from('Größe\tb\r\n1\tx\r\n2\ty\r\n', 'utf16le');
  for (const [name, bytes] of [
    ['little-endian', text],
    ['big-endian', Buffer.from(text).swap16()],
  ] as const) {
    it(`is read: ${name}`, () =>
      withFolder(async (folder) => {
        const file = path.join(folder, 'wide.txt');
        await writeFile(file, bytes);
        for (const source of [await openTable(bytes), await openTableFile(file)]) {
          assert.deepEqual(source.names, ['Größe', 'b']);
          assert.deepEqual(await readRows(source), [
            { Größe: 1, b: 'x' },
            { Größe: 2, b: 'y' },
          ]);
        }
      }));
  }

  it('is not seen in bytes that are no text', async () => {
    const numbers = Buffer.from(Uint16Array.from({ length: 500 }, (_, i) => (i * 7) % 200).buffer);
    await rejectsWith(openTable(numbers), 'table.invalid', /holds neither text/);
  });
});

describe('Cells in the shell of a formula, as spreadsheets keep their zeros', () => {
  it('are read as the text within, said once', async () => {
    const found = await read('="id","=""n"""\n="001",1\n"=""x, """"y""""""",2\n');
    assert.deepEqual(found.names, ['id', 'n']);
    assert.deepEqual(found.rows, [
      ['001', 1],
      ['x, "y"', 2],
    ]);
    assert.match(found.warnings, /^Cells such as ="id" are formulas .* read as "id" and the like\.$/);
  });

  it('stay as they are where they are formulas of something else', async () => {
    const found = await read('id,n\n"=""a""&""b""",1\n=A1,2\n');
    assert.deepEqual(found.rows, [
      ['="a"&"b"', 1],
      ['=A1', 2],
    ]);
    assert.equal(found.warnings, '');
  });
});

describe('Texts of other programs', () => {
  it('with spaces between fields have their names behind the mark of a comment', async () => {
    const found = await read('# time  temp  press\n1764064800 21.5 1013.1\n1764064860 21.6 1013.2\n');
    assert.deepEqual(found.names, ['time', 'temp', 'press']);
    assert.deepEqual(found.rows[1], [1764064860, 21.6, 1013.2]);
    assert.deepEqual((await read('# pump speed\nfast 5\nslow 6\n')).names, ['# pump speed']);
  });

  it('without a header are refused, also with decimal commas', async () => {
    for (const text of ['1,5\t2,5\n3,5\t4,5\n', '1,5;2,5\n3,5;4,5\n']) {
      await rejectsWith(openTable(text), 'table.invalid', /^The first line holds numbers only/);
    }
  });

  it('of Weka are named as what they are', async () => {
    const text = '% Iris\n\n@RELATION iris\n@ATTRIBUTE a NUMERIC\n@DATA\n5.1,a\n';
    await rejectsWith(openTable(text), 'table.invalid', /^The text is an ARFF file of Weka/);
  });

  it('of SAS have their dates', async () => {
    const found = await read('date,at,w\n25NOV2026,25NOV2026:10:00:00,1\n01DEC2026,01DEC2026:00:30:00,.\n');
    assert.deepEqual(found.rows[1]!.slice(0, 2), [new Date('2026-12-01'), new Date('2026-12-01T00:30:00Z')]);
  });
});

describe('Dates with slashes and a T', () => {
  it('are read as those of ISO 8601', async () => {
    const found = await read('at,v\n2026/11/25T10:00:00z,1\n2026/11/25T10:02:00z,2\n');
    assert.deepEqual(found.rows[1], [new Date('2026-11-25T10:02:00Z'), 2]);
  });
});

describe('Backslashes before quotes and delimiters', () => {
  const rows = [
    [1, 'he said "hi", twice', 2.5],
    [2, 'C:\\new\\', 3.5],
    [3, 'two\nlines, "one" field', 4.5],
  ];
  /* As csv.writer(doublequote=False, escapechar='\\') of Python writes them, with quotes and without. */
  const forms: [string, string][] = [
    [
      'in quotes',
      'id,note,v\n1,"he said \\"hi\\", twice",2.5\n2,"C:\\\\new\\\\",3.5\n3,"two\nlines, \\"one\\" field",4.5\n',
    ],
    [
      'without quotes',
      'id,note,v\n1,he said \\"hi\\"\\, twice,2.5\n2,C:\\\\new\\\\,3.5\n3,two\\\nlines\\, \\"one\\" field,4.5\n',
    ],
    [
      'between tabs',
      'id\tnote\tv\n1\the said \\"hi\\", twice\t2.5\n2\tC:\\\\new\\\\\t3.5\n3\ttwo\\\nlines, \\"one\\" field\t4.5\n',
    ],
  ];
  for (const [name, text] of forms) {
    it(`are left off where the rows are only whole so, said once: ${name}`, async () => {
      for (const table of [text, Buffer.from(text)]) {
        const found = await read(table);
        assert.deepEqual(found.rows, rows);
        assert.match(found.warnings, /^Quotes or delimiters within text have a backslash before them/);
      }
    });
  }

  it('are text where the rows are whole without', async () => {
    const found = await read('dir,n\n"C:\\x\\",1\n"D:\\y\\",2\n');
    assert.deepEqual(found.rows[0], ['C:\\x\\', 1]);
    assert.equal(found.warnings, '');
  });

  it('are named in the error where they come after the first rows only', async () => {
    const first = Array.from({ length: 20_000 }, (_, i) => `${i},"plain"\n`).join('');
    const table = openTable(`id,note\n${first}5,"say \\"x\\" b"\n`).then((source) => profileTable(source));
    await rejectsWith(table, 'table.invalid', /Row 20001: a quote in field 2 has a backslash before it/);
  });

  it('and an N are a missing value, as MySQL and PostgreSQL write it', async () => {
    const found = await read('id\tv\n1\t\\N\n2\t2.5\n3\t\\N\n');
    assert.deepEqual(found.rows, [
      [1, null],
      [2, 2.5],
      [3, null],
    ]);
  });
});
