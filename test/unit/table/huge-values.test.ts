import assert from 'node:assert/strict';

import * as arrow from 'apache-arrow';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { closeEncoder, openTable } from '../../../dist/src/table';
import { assertText } from '../../doors/table';
import { cpuWatch } from '../../helpers/clock';
import { rejectsWith } from './helpers';

const WIDEST = 16_384;

function object(columns: number, cell: (index: number) => unknown = (index) => index): object {
  return Object.fromEntries(Array.from({ length: columns }, (_, index) => [`k${index}`, cell(index)]));
}

const names = (columns: number): string[] => Object.keys(object(columns));
const csv = (columns: number): string => {
  const header = names(columns).join(',');
  return `${header}\n${header.replaceAll('k', '')}\n`;
};

/** All of a table, as a node reads it. */
async function readAll(value: unknown): Promise<{ rows: number; columns: number }> {
  const source = await openTable(value);
  const { columns } = await profileTable(source);
  let rows = 0;
  for await (const batch of readBatches(source, columns)) {
    rows += batch.rows;
  }
  return { rows, columns: columns.length };
}

function sparse(places: number, values: Record<number, unknown>): unknown[] {
  const list: unknown[] = [];
  list.length = places;
  return Object.assign(list, values);
}

/** A table without a value: its rows take no bytes. */
function emptyArrow(rows: number): arrow.Table {
  const field = new arrow.Field('a', new arrow.Null(), true);
  const column = arrow.makeData({ type: new arrow.Null(), length: rows, nullCount: rows });
  const type = new arrow.Struct([field]);
  const data = arrow.makeData({ type, length: rows, nullCount: 0, children: [column] });
  return new arrow.Table([new arrow.RecordBatch(new arrow.Schema([field]), data as never)]);
}

describe('Tables of more columns than a spreadsheet has', () => {
  after(() => closeEncoder());

  const forms: [string, (columns: number) => unknown][] = [
    ['an object', (columns) => object(columns)],
    ['objects', (columns) => [{ a: 1 }, object(columns)]],
    ['an object of columns', (columns) => object(columns, (index) => [index])],
    ['an array of arrays', (columns) => [names(columns), names(columns)]],
    ['CSV', csv],
    ['CSV in a Buffer', (columns) => Buffer.from(csv(columns))],
    ['an object in JSON', (columns) => JSON.stringify(object(columns))],
    ['a page of JSON', (columns) => JSON.stringify(object(columns), undefined, 60)],
    ['objects in JSON', (columns) => JSON.stringify([object(columns, () => 'x'.repeat(40))])],
    ['an object of columns in JSON', (columns) => JSON.stringify(object(columns, () => ['x'.repeat(40)]))],
    ['lines of JSON', (columns) => `${JSON.stringify(object(columns))}\n`.repeat(3)],
    ['lines of JSON after a short one', (columns) => `{"a":1}\n${JSON.stringify(object(columns))}`],
  ];
  for (const [form, make] of forms) {
    it(`${form}: are limit.exceeded before they are gone over`, async () => {
      await rejectsWith(openTable(make(20_000)), 'limit.exceeded', /more than 16,384 columns/);
    });
  }

  it('are so where each row has others', async () => {
    const rows = Array.from({ length: WIDEST + 1 }, (_, row) => ({ [`k${row}`]: row }));
    await rejectsWith(openTable(rows), 'limit.exceeded', /more than 16,384 columns/);
    await rejectsWith(openTable(JSON.stringify(rows)), 'limit.exceeded', /more than 16,384 columns/);
  });

  it('one of just as many columns is read, and the event loop has its turns', async () => {
    const table = object(WIDEST);
    await readAll(table);
    let turns = 0;
    let reading = true;
    const turn = (): void => {
      turns++;
      if (reading) {
        setImmediate(turn);
      }
    };
    turn();
    assert.deepEqual(await readAll(table), { rows: 1, columns: WIDEST });
    reading = false;
    assert.ok(turns > 10, `${turns} turns`);
  });

  it('a header of 64 KB and more is read', async () => {
    const header = names(3000).map((name) => `${name} ${'long name '.repeat(4)}`);
    const table = `${header.join(';')}\n${header.map((_, index) => index).join(';')}\n`;
    assert.ok(header.join(';').length > 100_000);
    assert.deepEqual(await readAll(table), { rows: 1, columns: 3000 });
  });
});

describe('An object of so many properties that to gather their names would hold the event loop', () => {
  const gather = Object.getOwnPropertySymbols;
  const names = Object.keys;
  /** From now on a look at this object takes a while, this many times; its names are not to be gathered. */
  const slow = (object: object, looks: number): void => {
    Object.getOwnPropertySymbols = (value: object): symbol[] => {
      const start = performance.now();
      while (value === object && looks > 0 && performance.now() - start < 30) {
        // It takes long.
      }
      looks -= value === object ? 1 : 0;
      return gather(value);
    };
    Object.keys = (value: object): string[] => {
      assert.ok(value !== object || looks <= 0, 'its names are gathered');
      return names(value);
    };
  };
  // Looked at are rows in a heap with something large in it only.
  let large: unknown[] = [];

  before(() => (large = new Array(4e6).fill(1)));

  afterEach(() => Object.assign(Object, { getOwnPropertySymbols: gather, keys: names }));

  after(() => (large = []));

  it('is limit.exceeded, as a table, a row, and among rows, and stays so', async () => {
    assert.equal(large.length, 4e6);
    for (const make of [(row: object) => row, (row: object) => [row], (row: object) => [{ a: 1 }, row]]) {
      const row = object(3);
      slow(row, 3);
      await rejectsWith(openTable(make(row)), 'limit.exceeded', /more than 16,384 columns/);
      await rejectsWith(openTable(make(row)), 'limit.exceeded', /more than 16,384 columns/);
    }
  });

  it('is not one that took long by chance, once or twice', async () => {
    for (const looks of [1, 2]) {
      const row = object(3);
      slow(row, looks);
      assert.deepEqual(await readAll([row]), { rows: 1, columns: 3 });
    }
  });
});

describe('Values that take little to make and much to read', () => {
  const refused: [string, unknown, string, RegExp][] = [
    [
      'a sparse column',
      { a: sparse(2e8, { 5: 1 }), b: sparse(2e8, { 5: 1 }) },
      'table.invalid',
      /"a" is a sparse array/,
    ],
    ['sparse rows', sparse(2e8, { 0: { a: 1 } }), 'table.invalid', /table is a sparse array/],
    ['a sparse row of names', [sparse(2e8, { 0: 'a' }), [1]], 'limit.exceeded', /columns/],
    ['an empty Arrow table', emptyArrow(2e9), 'table.invalid', /2000000000 rows, more than its \d+ bytes/],
    [
      'its bytes',
      arrow.tableToIPC(emptyArrow(2e9)),
      'table.invalid',
      /2000000000 rows, more than its \d+ bytes/,
    ],
    [
      'a cell of text',
      [{ a: 'x'.repeat(2e7), b: 1 }],
      'limit.exceeded',
      /"a", row 1: the cell holds 20000000 characters/,
    ],
    ['an integer', [{ a: 2n ** 1_000_000n, b: 1 }], 'table.invalid', /"a", row 1: .*more than 1,200 digits/],
    [
      'a line of JSON',
      `{"a":"${'x'.repeat(2 ** 24)}"}`,
      'table.invalid',
      /longer than 16 million characters/,
    ],
    ['JSON that is but space', `[${' '.repeat(3e7)}`, 'table.invalid', /longer than 16 million characters/],
    [
      'an object in JSON that does not begin',
      `${' '.repeat(3e7)}{"a":1}`,
      'table.invalid',
      /longer than 16 million characters/,
    ],
  ];
  for (const [name, value, code, message] of refused) {
    it(`${name} of them is ${code}, at once`, async () => {
      const spent = cpuWatch();
      await rejectsWith(readAll(value), code, message);
      assert.ok(spent() < 5000);
    });
  }

  it('text has bounds: that of a cell, and that of a column in the rows that are read at once', () => {
    const [cell, all] = [2 ** 24, 2 ** 28];
    assertText('a', 0, cell, all);
    for (const [own, together] of [
      [cell + 1, cell + 1],
      [1, all + 1],
    ] as const) {
      assert.throws(() => assertText('a', 4, own, together), { code: 'limit.exceeded' });
    }
  });

  it('a name of a column may be long, but no text', async () => {
    const named = (length: number): object => [{ ['n'.repeat(length)]: 1, b: 2 }];
    assert.deepEqual(await readAll(named(10_000)), { rows: 1, columns: 2 });
    await rejectsWith(readAll(named(1e6)), 'limit.exceeded', /name of column 1 has 1000000 characters/);
  });

  it('long arrays with values are read', async () => {
    const values = new Array<number>(1_200_000).fill(1);
    assert.deepEqual(await readAll({ a: values, b: values }), { rows: 1_200_000, columns: 2 });
  });

  it('text of a megabyte in every row is read', async () => {
    const rows = Array.from({ length: 40 }, (_, row) => ({ a: `${row}${'x'.repeat(2 ** 20)}`, b: row }));
    assert.deepEqual(await readAll(rows), { rows: 40, columns: 2 });
  });
});

describe('Objects that answer only when they are asked', () => {
  const throws = (): never => {
    throw new Error('boom');
  };
  const cell = { b: 1 };
  Object.defineProperty(cell, 'a', { get: throws, enumerable: true });
  const tables: [string, unknown, RegExp][] = [
    ['a getter that throws', [{ a: 1, b: 1 }, cell], /Column "a", row 2: the cell cannot be read: boom/],
    ['one in a single row', cell, /cannot be read: boom/],
    ['a Proxy that throws', new Proxy({}, { ownKeys: throws }), /cannot be read: boom/],
    ['a row that throws', [{ a: 1 }, new Proxy({}, { ownKeys: throws })], /cannot be read: boom/],
    ['a Proxy that was revoked', revoked(), /cannot be read/],
  ];
  function revoked(): object {
    const { proxy, revoke } = Proxy.revocable({}, {});
    revoke();
    return proxy;
  }
  for (const [name, value, message] of tables) {
    it(`${name}: table.invalid`, () => rejectsWith(readAll(value), 'table.invalid', message));
  }

  it('a Buffer, a DataView or an ArrayBuffer whose bytes have gone elsewhere: table.empty', async () => {
    for (const view of [
      (buffer: ArrayBuffer) => Buffer.from(buffer),
      (buffer: ArrayBuffer) => new DataView(buffer),
      (buffer: ArrayBuffer) => buffer,
    ]) {
      const buffer = new ArrayBuffer(8);
      const value = view(buffer);
      structuredClone(buffer, { transfer: [buffer] });
      await rejectsWith(readAll(value), 'table.empty', /The Buffer is empty/);
    }
  });

  it('a Proxy that answers is a row like any other', async () => {
    assert.deepEqual(await readAll([new Proxy({ a: 1, b: 2 }, {})]), { rows: 1, columns: 2 });
  });
});
