import { strict as assert } from 'node:assert';

import { OwnCopy } from '../../../dist/src/table';

const { signal } = new AbortController();
const copyOf = (value: unknown): Promise<unknown> => new OwnCopy(value).take(signal);

describe('A copy of a table of our own', () => {
  it('has arrays, rows and columns of its own, and the very cells', async () => {
    const cell = { deep: 1 };
    const tables: unknown[] = [
      [{ a: cell }, { a: 2 }],
      [['a'], [cell], [2]],
      { a: [cell, 2], b: Float64Array.of(1, 2), c: Buffer.from([1, 2]), d: 'x' },
      { a: cell, b: 2 },
    ];
    for (const table of tables) {
      const copy = await copyOf(table);
      assert.deepStrictEqual(copy, table);
      assert.notEqual(copy, table);
      for (const [key, part] of Object.entries(table as Record<string, unknown>)) {
        const own = (copy as Record<string, unknown>)[key];
        assert.equal(own === part, part === cell || typeof part !== 'object', key);
        if (ArrayBuffer.isView(part)) {
          (part as Uint8Array)[0] = 9;
          assert.equal((own as Uint8Array)[0], 1, key);
        } else if (own !== part) {
          assert.ok(Object.values(part as object).every((one, i) => Object.values(own as object)[i] === one));
        }
      }
    }
  });

  it('is the rows as they were on arrival, whenever it is asked for', async () => {
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id }));
    const copy = new OwnCopy(rows);
    rows.shift();
    rows.push({ id: 1000 });
    const own = (await copy.take(signal)) as { id: number }[];
    assert.deepEqual([own.length, own[0]!.id, own.at(-1)!.id], [1000, 0, 999]);
  });

  it('is the cells of its rows as they were on arrival, up to 50,000 of them', async () => {
    const make = (rows: number): { id: number; x: number }[] =>
      Array.from({ length: rows }, (_, id) => ({ id, x: 0 }));
    for (const [rows, kept] of [
      [25_000, 25_000],
      [30_000, 25_000],
    ] as const) {
      const table = make(rows);
      const copy = new OwnCopy(table);
      table.forEach((row) => (row.x = 1));
      const own = (await copy.take(signal)) as typeof table;
      assert.equal(own.filter(({ x }) => x === 0).length, kept);
      assert.ok(own.every((row, index) => row !== table[index] && row.id === index));
    }
  });

  it('refuses what would hold the event loop to be copied', () => {
    const sparse: unknown[] = [];
    sparse.length = 2e8;
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`k${index}`, index]));
    for (const [value, code] of [
      [sparse, 'table.invalid'],
      [{ a: sparse, b: sparse }, 'table.invalid'],
      [[['a'], sparse], 'limit.exceeded'],
      [wide, 'limit.exceeded'],
      [[{ a: 1 }, wide], 'limit.exceeded'],
    ] as const) {
      assert.throws(() => new OwnCopy(value), { code });
    }
  });

  it('is made in turns where there are very many columns and rows', async () => {
    const table = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`c${i}`, new Float64Array(1e6)]));
    const copy = (await copyOf(table)) as typeof table;
    assert.deepEqual(Object.keys(copy), Object.keys(table));
    for (const [name, column] of Object.entries(table)) {
      assert.notEqual(copy[name]!.buffer, column.buffer);
      assert.equal(copy[name]!.length, column.length);
    }
    const aborted = AbortSignal.abort(new Error('enough'));
    await assert.rejects(async () => {
      await new OwnCopy(table).take(aborted);
    }, /enough/);
  });

  it('leaves alone what never changes, and what is no table', async () => {
    const { tableFromArrays } = await import('apache-arrow');
    const arrow = tableFromArrays({ a: Float64Array.of(1) });
    for (const value of ['a\n1', Buffer.from('a\n1'), arrow, new Date(), null, undefined, 5]) {
      assert.equal(await copyOf(value), value);
    }
    const odd = [null, 5, 'x', new Date(0), { a: 1 }];
    assert.deepEqual(await copyOf(odd), odd);
    const named = [JSON.parse('{"__proto__": 1, "a": 2}') as object];
    assert.deepEqual(Object.entries(((await copyOf(named)) as object[])[0]!), Object.entries(named[0]!));
  });
});
