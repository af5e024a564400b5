import assert from 'node:assert/strict';

import { profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import { type ColumnType, listCells, openTable } from '../../../dist/src/table';
import { collect, rejectsWith } from './helpers';

async function typeOf(values: unknown[]): Promise<{ type: ColumnType; warnings: string[] }> {
  const { columns, warnings } = await profileTable(await openTable(values.map((v) => ({ v, other: 1 }))));
  return { type: columns[0]!.type, warnings };
}

describe('Types of JavaScript values', () => {
  const cases: [string, unknown[], ColumnType][] = [
    ['whole numbers', [1, -2, 0], 'integer'],
    ['fractions', [1, 2.5], 'number'],
    ['infinity', [1, Infinity], 'number'],
    ['numbers beyond 2^53', [1, 2 ** 60], 'number'],
    ['small bigints', [1n, 2], 'integer'],
    ['bigints', [2n ** 60n, 1], 'bigint'],
    ['bigints beyond 64 bits', [2n ** 70n], 'text'],
    ['bigints and fractions', [2n ** 60n, 1.5], 'number'],
    ['booleans', [true, false, null], 'boolean'],
    ['dates', [new Date(0), undefined], 'date'],
    ['text', ['a', 'b'], 'text'],
    ['numeric text', ['1', '2'], 'text'],
    ['ISO text', ['2024-01-01'], 'date'],
    ['numbers with NaN, null and undefined', [1, NaN, null, undefined], 'integer'],
    ['numbers with empty text', [1, ''], 'integer'],
    ['numbers with NA', [1.5, 'NA', 'nan'], 'number'],
    ['invalid dates only', [new Date(NaN)], 'text'],
    ['nothing', [null, undefined, NaN], 'text'],
  ];
  for (const [name, values, type] of cases) {
    it(`${name}: ${type}`, async () => assert.equal((await typeOf(values)).type, type));
  }

  it('a column of mixed kinds becomes text and says so once, with its first odd value', async () => {
    const { type, warnings } = await typeOf([1, 2, 'three', 4, 'five', true]);
    assert.equal(type, 'text');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /"v" holds numbers and booleans and text.*"three" in row 3/);
  });

  it('a number among titles is not taken for a word that means "missing"', async () => {
    const { type, warnings } = await typeOf(['The Land Girls', 1776, 'Slam']);
    assert.equal(type, 'text');
    assert.match(warnings.join(), /the first odd value is 1776 in row 2\.$/);
  });

  it('sees a change of kind in the last row of many', async () => {
    const values: unknown[] = Array.from({ length: 90_000 }, (_, i) => i);
    values.push('end');
    const rows = await openTable(values.map((v) => ({ v, w: 1 })));
    const profile = await profileTable(rows);
    assert.equal(profile.columns[0]!.type, 'text');
    assert.match(profile.warnings.join(), /"end" \(row 90001\)/);
    const cells = (await collect(readBatches(rows, profile.columns))).flatMap((b) =>
      listCells(b.columns[0]!),
    );
    assert.deepEqual(cells.slice(-2), ['89999', 'end']);
    const csv = await profileTable(await openTable(`v,w\n${values.map((v) => `${String(v)},1`).join('\n')}`));
    assert.equal(csv.columns[0]!.type, 'text');
    assert.equal(csv.warnings.length, 1);
    assert.match(csv.warnings[0]!, /1 of its 90001 cells does not read as numbers: "end" \(row 90001\)/);
  });

  it('a type that is given is not looked for', async () => {
    const source = await openTable([
      { zip: 1010, day: '2024-01-01' },
      { zip: 8000, day: '2024-01-02' },
    ]);
    const profile = await profileTable(source, { types: { zip: 'text', day: 'date', none: 'text' } });
    assert.deepEqual(profile.columns, [
      { name: 'zip', type: 'text' },
      { name: 'day', type: 'date' },
    ]);
    assert.match(profile.warnings.join(), /column "none", which the table does not have/);
    const [batch] = await collect(readBatches(source, profile.columns));
    assert.deepEqual(listCells(batch!.columns[0]!), ['1010', '8000']);
    assert.deepEqual(listCells(batch!.columns[1]!)[0], new Date('2024-01-01'));
  });
});

describe('The target', () => {
  const rows = [
    { y: 'b', x: 1 },
    { y: 'a', x: 2 },
    { y: null, x: 3 },
    { y: 'b', x: 4 },
  ];

  it('is counted, with its classes sorted', async () => {
    const { target } = await profileTable(await openTable(rows), { target: 'y' });
    assert.deepEqual(target, {
      name: 'y',
      type: 'text',
      missing: 1,
      firstMissing: 2,
      distinct: 2,
      classes: ['a', 'b'],
      text: { row: 0, value: 'b' },
    });
  });

  it('has classes sorted by value where they are numbers, by code point where they are text', async () => {
    const numbers = await profileTable(await openTable([10, 9, -1].map((y) => ({ y, x: 1 }))), {
      target: 'y',
    });
    assert.deepEqual(numbers.target!.classes, [-1, 9, 10]);
    const text = await profileTable(
      await openTable(['\u{1f600}', '\uffee', 'b', 'B'].map((y) => ({ y, x: 1 }))),
      { target: 'y' },
    );
    assert.deepEqual(text.target!.classes, ['B', 'b', '\uffee', '\u{1f600}']);
  });

  it('counts a value once that is written in two ways', async () => {
    const { target } = await profileTable(await openTable('y,x\n1.50,1\n1.5,2\nNA,3\n,4\n'), { target: 'y' });
    assert.deepEqual(target, {
      name: 'y',
      type: 'number',
      missing: 2,
      firstMissing: 2,
      distinct: 1,
      classes: [1.5],
    });
  });

  it('has no list of classes beyond 1,000', async () => {
    const many = Array.from({ length: 5000 }, (_, y) => ({ y, x: 1 }));
    const { target } = await profileTable(await openTable(many), { target: 'y' });
    assert.equal(target!.distinct, 1001);
    assert.equal(target!.classes, undefined);
  });

  it('must be there, with something beside it', async () => {
    await rejectsWith(
      profileTable(await openTable(rows), { target: 'z' }),
      'target.missing',
      /no column "z".*"y", "x"/,
    );
    await rejectsWith(
      profileTable(await openTable(rows), { target: 'y', ignore: ['x'] }),
      'table.invalid',
      /no column besides/,
    );
  });

  it('a column to ignore that is not there is told of', async () => {
    const { columns, warnings } = await profileTable(await openTable([{ a: 1, b: 2, y: 3 }]), {
      target: 'y',
      ignore: ['zz', 'b', 'zz'],
    });
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['a', 'y'],
    );
    assert.deepEqual(warnings, ['There is nothing to ignore in column "zz", which the table does not have.']);
  });

  it('stays where other columns are ignored', async () => {
    const { columns } = await profileTable(await openTable([{ a: 1, b: 2, y: 3 }]), {
      target: 'y',
      ignore: ['a', 'y'],
    });
    assert.deepEqual(
      columns.map(({ name }) => name),
      ['b', 'y'],
    );
  });
});

describe('Rows by the columns of a model', () => {
  const columns = [
    { name: 'n', type: 'number' },
    { name: 'i', type: 'integer' },
    { name: 't', type: 'text' },
    { name: 'd', type: 'date' },
    { name: 'f', type: 'boolean' },
    { name: 'g', type: 'bigint' },
  ] as const;

  async function cells(row: Record<string, unknown>, options = {}): Promise<unknown[]> {
    const [batch] = await collect(readBatches(await openTable(row), columns, options));
    return batch!.columns.map((column) => listCells(column)[0]);
  }
  const day = new Date('2024-01-01T10:00:00Z');
  const row = { n: 1.5, i: 2, t: 'x', d: day, f: true, g: 3n };

  it('come in the order of the columns, without others', async () => {
    const shuffled = { extra: 9, g: 3n, f: true, d: day, t: 'x', i: 2, n: 1.5 };
    assert.deepEqual(await cells(shuffled), [1.5, 2, 'x', day, true, 3n]);
  });

  it('are changed where nothing is lost', async () => {
    const text = { n: '1.5', i: '2', t: 5, d: '2024-01-01T10:00:00Z', f: 'TRUE', g: '3' };
    assert.deepEqual(await cells(text), [1.5, 2, '5', day, true, 3n]);
    assert.deepEqual(await cells({ ...row, n: 7, t: true, g: 3 }), [7, 2, 'true', day, true, 3n]);
  });

  it('keep a fraction in a column that was whole so far', async () => {
    const [batch] = await collect(readBatches(await openTable({ ...row, i: 2.25 }), columns));
    assert.deepEqual([batch!.columns[1]!.type, listCells(batch!.columns[1]!)], ['number', [2.25]]);
  });

  it('may miss any value', async () => {
    const none = { n: null, i: NaN, t: undefined, d: '', f: null, g: '' };
    assert.deepEqual(await cells(none), [null, null, null, null, null, null]);
  });

  const wrong: [string, unknown, RegExp][] = [
    ['n', 'abc', /Column "n", row 1: "abc" is not a number/],
    ['n', true, /Column "n", row 1: true is not a number/],
    ['n', '007', /is not a number/],
    ['i', '2024-01-01', /is not a number/],
    ['d', 'tomorrow', /Column "d", row 1: "tomorrow" is not a date/],
    ['d', true, /is not a date/],
    ['f', 1, /Column "f", row 1: 1 is neither true nor false/],
    ['g', 1.5, /Column "g", row 1: 1.5 is not a 64-bit integer/],
    ['t', { a: 1 }, /Column "t", row 1: the cell holds an object/],
  ];
  for (const [name, value, message] of wrong) {
    it(`refuse ${JSON.stringify(value)} in a column of another type (${name})`, () =>
      rejectsWith(cells({ ...row, [name]: value }), 'table.invalid', message));
  }

  it('name the row of a wrong value far down', async () => {
    const rows = Array.from({ length: 5000 }, (_, n) => ({ n: n === 4321 ? 'x' : n }));
    const source = await openTable(rows);
    await rejectsWith(
      collect(readBatches(source, [{ name: 'n', type: 'number' }])),
      'table.invalid',
      /row 4322/,
    );
  });

  it('lack a column: columns.missing, or missing values', async () => {
    const lacking = { i: 2, t: 'x', d: day, f: true, g: 3n };
    await rejectsWith(cells(lacking), 'columns.missing', /lacks a column.*"n"\. It has "i"/);
    assert.deepEqual((await cells(lacking, { missingColumns: 'fill' }))[0], null);
    await rejectsWith(cells({ other: 1 }, { missingColumns: 'fill' }), 'columns.missing', /"n", "i"/);
  });

  it('come in batches of at most maxRows', async () => {
    const source = await openTable(Array.from({ length: 25 }, (_, n) => ({ n })));
    const batches = await collect(readBatches(source, [{ name: 'n', type: 'integer' }], { maxRows: 10 }));
    assert.deepEqual(
      batches.map((batch) => batch.rows),
      [10, 10, 5],
    );
    assert.deepEqual(
      batches.flatMap((b) => listCells(b.columns[0]!)),
      Array.from({ length: 25 }, (_, n) => n),
    );
  });
});

describe('readRows', () => {
  it('gives the very objects that came', async () => {
    const rows = [{ a: 1 }, { a: { nested: true } }];
    const read = await readRows(await openTable(rows));
    assert.equal(read[1], rows[1]);
  });

  it('gives no rows of a header without rows', async () => {
    assert.deepEqual(await readRows(await openTable('a,b\n')), []);
  });
});
