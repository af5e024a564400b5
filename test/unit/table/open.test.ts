import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';

import { tableFromArrays, tableToIPC, vectorFromArray } from 'apache-arrow';

import { profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import { cellAt, closeEncoder, encodeBatches, listCells, openTable } from '../../../dist/src/table';
import { bytesOf, collect, rejectsWith } from './helpers';

const ROWS = [
  { name: 'ann', age: 31, member: true },
  { name: 'bob', age: 24.5, member: false },
];
const COLUMNS = [
  { name: 'name', type: 'text' },
  { name: 'age', type: 'number' },
  { name: 'member', type: 'boolean' },
] as const;

describe('Input forms of a table', () => {
  after(() => closeEncoder());

  const arrowTable = tableFromArrays({
    name: ['ann', 'bob'],
    age: new Float64Array([31, 24.5]),
    member: vectorFromArray([true, false]) as never,
  });
  const csv = 'name,age,member\nann,31,true\nbob,24.5,false\n';
  const forms: [string, string, unknown][] = [
    ['array of objects', 'rows', ROWS],
    ['object of arrays', 'columns', { name: ['ann', 'bob'], age: [31, 24.5], member: [true, false] }],
    [
      'object of typed arrays',
      'columns',
      { name: ['ann', 'bob'], age: new Float32Array([31, 24.5]), member: [true, false] },
    ],
    [
      'array of arrays',
      'matrix',
      [
        ['name', 'age', 'member'],
        ['ann', 31, true],
        ['bob', 24.5, false],
      ],
    ],
    ['Arrow table', 'arrow', arrowTable],
    ['CSV text', 'parsed', csv],
    ['CSV in a Buffer', 'parsed', Buffer.from(csv)],
    ['CSV in an ArrayBuffer', 'parsed', new Uint8Array(Buffer.from(csv)).buffer],
    ['JSON rows', 'parsed', JSON.stringify(ROWS)],
    ['JSON rows in a Buffer', 'parsed', Buffer.from(` ${JSON.stringify(ROWS)}`)],
    ['JSON columns', 'parsed', '{"name":["ann","bob"],"age":[31,24.5],"member":[true,false]}'],
    ['JSON lines', 'parsed', ROWS.map((row) => JSON.stringify(row)).join('\n')],
    ['Arrow stream in a Buffer', 'parsed', Buffer.from(tableToIPC(arrowTable, 'stream'))],
    ['Arrow file in a Buffer', 'parsed', tableToIPC(arrowTable, 'file')],
  ];
  for (const [name, form, value] of forms) {
    it(name, async () => {
      const source = await openTable(value);
      assert.equal(source.form, form);
      assert.deepEqual((await profileTable(source)).columns, COLUMNS);
      assert.deepEqual(await readRows(source), ROWS);
      // A source can be read again.
      const [batch] = await collect(readBatches(source, COLUMNS));
      assert.equal(batch!.rows, 2);
    });
  }

  const LOOKALIKES: [string, object][] = [
    ['has batches without rows', { batches: [{}] }],
    ['has fields that are none', { schema: { fields: [null] } }],
    ['counts other rows than its batches', { numRows: 7 }],
    ['has columns that are none', { batches: [{ numRows: 1, getChildAt: () => ({ type: 3 }) }] }],
  ];
  for (const [name, part] of LOOKALIKES) {
    it(`refuses what looks like an Arrow table and ${name}`, async () => {
      const like = {
        numRows: 1,
        batches: [{ numRows: 1, getChildAt: () => null }],
        schema: { fields: [{ name: 'x' }] },
        getChildAt: () => null,
        ...part,
      };
      await assert.rejects(async () => profileTable(await openTable(like)), {
        code: 'table.invalid',
        message: /looks like an Arrow/,
      });
    });
  }

  it('rows of a spreadsheet whose last cells are empty end early', async () => {
    const source = await openTable([
      ['name', 'age', 'member'],
      ['ann', 31, true],
      ['bob', 24.5],
      [],
      ['eve'],
    ]);
    assert.deepEqual((await profileTable(source)).warnings, [
      '3 rows, the first of them row 2, have fewer values than the row of names: cells absent at the end are missing values.',
    ]);
    const [batch] = await collect(readBatches(source, COLUMNS));
    assert.deepEqual(
      [0, 1, 2, 3].map((row) => batch!.columns.map((column) => cellAt(column, row))),
      [
        ['ann', 31, true],
        ['bob', 24.5, null],
        [null, null, null],
        ['eve', null, null],
      ],
    );
    const added = { rows: 1, columns: [{ name: 'guess', cell: () => 7 }] };
    const short = await openTable([['name', 'age'], ['ann']]);
    assert.deepEqual(await short.addColumns(added), [
      ['name', 'age', 'guess'],
      ['ann', null, 7],
    ]);
    await assert.rejects(() => openTable([['name'], ['ann', 31]]), {
      code: 'table.invalid',
      message: /2 values/,
    });
  });

  it('names have no white space around them, in any form, unless two would be the same', async () => {
    const forms = [
      [{ '\uFEFFa': 1, ' b': 2, 'c ': 3, c: 4 }],
      { '\uFEFFa': [1], ' b': [2], 'c ': [3], c: [4] },
      JSON.stringify(Array.from({ length: 40_000 }, () => ({ ' a': 1, ' b': 2, 'c ': 3, c: 4 }))),
    ];
    for (const form of forms) {
      const source = await openTable(form);
      assert.deepEqual(source.names, ['a', 'b', 'c ', 'c']);
      const columns = source.names.map((name) => ({ name, type: 'integer' }) as const);
      const [batch] = await collect(readBatches(source, columns));
      assert.deepEqual(
        batch!.columns.map((column) => cellAt(column, 0)),
        [1, 2, 3, 4],
      );
    }
  });

  it('one object', async () => {
    const source = await openTable(ROWS[0]);
    assert.equal(source.form, 'row');
    assert.equal(source.rowCount, 1);
    assert.deepEqual(await readRows(source), [ROWS[0]]);
  });

  it('Parquet in a Buffer', async () => {
    const batches = readBatches(await openTable(ROWS), COLUMNS);
    const bytes = await bytesOf(await encodeBatches(COLUMNS, batches));
    const source = await openTable(bytes);
    assert.equal(source.form, 'parsed');
    assert.equal(source.rowCount, 2);
    assert.deepEqual(await readRows(source), ROWS);
  });

  it('long JSON text, in slices: rows, columns and lines', async () => {
    const rows = Array.from({ length: 16_000 }, (_, i) => ({
      text: `row "${i}", [a]{b} \\ é ${'😀'.repeat(i % 3)}`,
      n: i,
      größe: i / 7,
    }));
    const [text, n, größe] = [rows.map((r) => r.text), rows.map((r) => r.n), rows.map((r) => r.größe)];
    for (const json of [
      JSON.stringify(rows),
      JSON.stringify({ text, n, größe }),
      JSON.stringify([['text', 'n', 'größe'], ...rows.map((r) => [r.text, r.n, r.größe])]),
      rows.map((row) => JSON.stringify(row)).join('\n'),
    ]) {
      assert.ok(json.length > 512 * 1024, 'more than is read at once, in several parts');
      const forms = [json, `\uFEFF${json}`, Buffer.from(json), Buffer.from(`\uFEFF${json}`)];
      for (const value of [...forms, Buffer.from(`\uFEFF${json}`, 'utf16le')]) {
        const source = await openTable(value);
        assert.equal(source.rowCount, rows.length);
        assert.deepEqual(await readRows(source), rows);
      }
    }
  });

  it('long JSON in a Buffer that is cut off, or no UTF-8, is refused', async () => {
    const bytes = Buffer.from(
      JSON.stringify(Array.from({ length: 30_000 }, (_, n) => ({ n, text: 'é'.repeat(9) }))),
    );
    await rejectsWith(openTable(bytes.subarray(0, 700_000)), 'table.invalid', /cut off/);
    bytes[bytes.lastIndexOf(0xc3) + 1] = 0x20;
    const at = bytes.lastIndexOf(0xc3);
    await rejectsWith(
      openTable(bytes),
      'table.invalid',
      new RegExp(`Line 1 of the text is not UTF-8 \\(byte 0xc3 at position ${at}\\)`),
    );
  });

  const elsewhere = (code: string): unknown => runInNewContext(code);
  const bytes = `[${[...Buffer.from(csv)].join()}]`;
  for (const code of [
    `new Uint8Array(${bytes})`,
    `new Uint8Array(${bytes}).buffer`,
    `new DataView(new Uint8Array(${bytes}).buffer)`,
    `({ name: ['ann', 'bob'], age: new Float64Array([31, 24.5]), member: [true, false] })`,
  ]) {
    it(`may be of another context, such as a function node: ${code.slice(0, 18)}`, async () => {
      const source = await openTable(elsewhere(code));
      assert.deepEqual((await profileTable(source)).columns, COLUMNS);
      assert.deepEqual(await readRows(source), ROWS);
    });
  }

  it('dates of another context are dates', async () => {
    const rows = elsewhere('[{ d: new Date(5), y: new Date(7) }, { d: new Date(NaN), y: new Date(8) }]');
    const source = await openTable(rows);
    const { columns, target } = await profileTable(source, { target: 'y' });
    assert.deepEqual(
      columns.map(({ type }) => type),
      ['date', 'date'],
    );
    assert.equal(target!.distinct, 2);
    const [batch] = await collect(readBatches(source, columns));
    assert.deepEqual(batch!.columns.map(listCells), [
      [new Date(5), null],
      [new Date(7), new Date(8)],
    ]);
    const texts = await collect(readBatches(source, [{ name: 'y', type: 'text' }]));
    assert.deepEqual(listCells(texts[0]!.columns[0]!)[0], '1970-01-01T00:00:00.007Z');
    await rejectsWith(openTable(elsewhere('[new Date(0)]')), 'table.invalid', /Row 1 is 1970-01-01/);
    await rejectsWith(openTable(elsewhere('new Date(0)')), 'table.invalid', /The table is a date/);
    await rejectsWith(openTable(elsewhere('new Map([["a", 1]])')), 'table.invalid', /The table is a Map/);
    await rejectsWith(openTable(new Float64Array(2)), 'table.invalid', /The table is a Float64Array/);
  });

  const numbers = Array.from({ length: 60_000 }, (_, n) => n);
  const longRows = JSON.stringify(numbers.map((n) => ({ n, text: 'some text' })));
  const longMatrix = JSON.stringify([['n', 'm'], ...numbers.map((n) => [n, 'some text'])]);
  const longColumns = JSON.stringify({ n: numbers, m: numbers });
  for (const [name, json, message] of [
    [
      'rows after rows',
      `${longRows}\n${longRows}`,
      /"\[\{\\"n\\":0.*follows the end of the table, at (byte|position) \d+/,
    ],
    ['rows and a page', `${longRows} <html>error</html>`, /"<html>error<\/html>" follows the end/],
    ['a matrix after a matrix', `${longMatrix}${longMatrix}`, /follows the end of the table/],
    ['columns and a page', `${longColumns} <html>`, /"<html>" follows the end of the table/],
    ['columns without a comma', longColumns.replace('],"m"', '] "m"'), /not valid JSON: .*position \d+/],
    ['a column twice', longColumns.replace('"m"', '"n"'), /Column "n" appears twice/],
    ['rows that end in a comma', `${longRows.slice(0, -1)},]`, /not valid after row|a value is missing/],
    ['a bracket that closes nothing', `${longRows.slice(0, -1)}} {"n":1}]`, /"\}" closes nothing/],
  ] as const) {
    it(`long JSON text is refused as short text is: ${name}`, async () => {
      await rejectsWith(openTable(json), 'table.invalid', message);
      await rejectsWith(openTable(Buffer.from(json)), 'table.invalid', message);
    });
  }

  it('names the line of NDJSON that is no object, in short and long text', async () => {
    for (const [good, line] of [
      [40_000, 40_001],
      [3, 4],
    ] as const) {
      const text = `${numbers
        .slice(0, good)
        .map((n) => JSON.stringify({ n, text: 'some more text' }))
        .join('\n')}\n`;
      const message = new RegExp(`Line ${line} of the text is not a JSON object`);
      for (const wrong of ['<html>', '{"n":', '[1]']) {
        await rejectsWith(openTable(`${text}${wrong}\n${text}`), 'table.invalid', message);
        await rejectsWith(openTable(Buffer.from(`${text}${wrong}\n${text}`)), 'table.invalid', message);
      }
      await rejectsWith(
        openTable(`\n\n${text}\n5`),
        'table.invalid',
        new RegExp(`Line ${line + 3} of the text is not a JSON object`),
      );
    }
  });

  it('long JSON text may end in white space; long NDJSON lines are rows', async () => {
    assert.equal((await openTable(`${longRows} \r\n\t`)).rowCount, 60_000);
    assert.equal((await openTable(`${longColumns}\n\n`)).rowCount, 60_000);
    const line = JSON.stringify({ a: 'x'.repeat(600_000), b: 1 });
    assert.equal((await openTable(`${line}\n${line}\n`)).rowCount, 2);
  });

  it('refuses a duplicate column in short JSON text too', async () => {
    await rejectsWith(
      openTable('{"a":[1,2],"b":["{\\"b\\":1,",2],"a":[3,4]}'),
      'table.invalid',
      /"a" appears twice/,
    );
    const source = await openTable('{"a":["a",","],"b":["a\\",",2]}');
    assert.deepEqual(
      (await profileTable(source)).columns.map(({ name }) => name),
      ['a', 'b'],
    );
  });

  it('whole numbers beyond 2^53 in JSON text stay exact', async () => {
    const rows = [
      { id: 9007199254740993n, f: 0.1234567890123456, s: 'no 12345678901234567890', n: 5 },
      { id: -9223372036854775808n, f: 1e21, s: '\\"12345678901234567', n: 6 },
    ];
    const text = JSON.stringify(rows, (_, value: unknown) =>
      typeof value === 'bigint' ? `<${value}>` : value,
    );
    const exact = text.replace(/"<(-?\d+)>"/g, '$1');
    assert.deepEqual(await readRows(await openTable(exact)), rows);
    const long = `[${Array.from({ length: 10_000 }, () => exact.slice(1, -1)).join(',')}]`;
    const read = await readRows(await openTable(long));
    assert.equal(read.length, 20_000);
    assert.deepEqual(read.slice(-2), rows);
  });

  it('rows with different keys have the union of them', async () => {
    const source = await openTable([{ a: 1 }, { b: 'x', a: null }, {}]);
    assert.deepEqual((await profileTable(source)).columns, [
      { name: 'a', type: 'integer' },
      { name: 'b', type: 'text' },
    ]);
  });

  it('names that objects inherit are names like others', async () => {
    const rows = [
      JSON.parse('{"__proto__": 1, "constructor": "x", "toString": true, "a.b": 2}'),
      {},
    ] as object[];
    const source = await openTable(rows);
    const { columns } = await profileTable(source);
    assert.deepEqual(
      columns.map(({ name, type }) => [name, type]),
      [
        ['__proto__', 'integer'],
        ['constructor', 'text'],
        ['toString', 'boolean'],
        ['a.b', 'integer'],
      ],
    );
    const csv = await readRows(await openTable('__proto__,constructor\n1,x\n'));
    assert.deepEqual(Object.entries(csv[0]!), [
      ['__proto__', 1],
      ['constructor', 'x'],
    ]);
  });

  const refused: [string, unknown, string, RegExp][] = [
    ['nothing', undefined, 'table.invalid', /there is no table/],
    ['a number', 5, 'table.invalid', /a number \(5\)/],
    ['an empty array', [], 'table.empty', /empty array/],
    ['an empty sheet', [[]], 'table.empty', /first row of the array of arrays is empty/],
    ['an empty object', {}, 'table.empty', /without properties/],
    ['an error', new TypeError('no file'), 'table.invalid', /an error \("no file"\), not rows/],
    [
      'an error with properties',
      Object.assign(new Error('no file'), { code: 'ENOENT' }),
      'table.invalid',
      /an error/,
    ],
    ['rows without keys', [{}, {}], 'table.empty', /no columns/],
    ['numbers for rows', [{ a: 1 }, 5], 'table.invalid', /Row 2 is 5, not an object/],
    [
      'columns of unequal length',
      { a: [1, 2], b: [1] },
      'table.invalid',
      /"b" has 1 values and column "a" has 2/,
    ],
    [
      'a matrix without names',
      [
        [1, 2],
        [3, 4],
      ],
      'table.invalid',
      /must hold the column names/,
    ],
    ['a ragged matrix', [['a'], [1, 2]], 'table.invalid', /Row 1 has 2 values/],
    ['broken JSON', '{"a": 1', 'table.invalid', /not valid JSON/],
    ['empty text', '', 'table.empty', /empty/],
    ['an empty Buffer', Buffer.alloc(0), 'table.empty', /empty/],
    ['a picture', Buffer.from('89504e470d0a1a0a0000000d', 'hex'), 'table.invalid', /neither text/],
    [
      'gzip that is cut off',
      Buffer.from('1f8b08000000', 'hex'),
      'table.invalid',
      /gzip file is damaged or cut off/,
    ],
    [
      'a spreadsheet',
      Buffer.from('PK\x03\x04\x14\x00', 'latin1'),
      'table.invalid',
      /is a spreadsheet \(.xlsx/,
    ],
    ['encrypted Parquet', Buffer.from('PARE\0bcdPARE'), 'table.invalid', /Parquet with an encrypted footer/],
    [
      'Parquet in gzip',
      gzipSync('PAR1 and so on'),
      'table.invalid',
      /gzip-compressed and holds neither CSV nor JSON/,
    ],
    [
      'damaged Parquet',
      Buffer.from('PAR1 this is no Parquet PAR1'),
      'table.invalid',
      /Parquet file is damaged/,
    ],
  ];
  for (const [name, value, code, message] of refused) {
    it(`refuses ${name}`, () => rejectsWith(openTable(value), code, message));
  }

  it('names the column and the row of a nested cell', async () => {
    const source = await openTable([
      { a: 1, tags: 'x' },
      { a: 2, tags: ['x', 'y'] },
    ]);
    await rejectsWith(profileTable(source), 'table.invalid', /Column "tags", row 2: the cell holds an array/);
  });
});
