import assert from 'node:assert/strict';

import { flatTable } from '../../../dist/src/messages';

describe('nested rows as a table', () => {
  const read = async (given: unknown): Promise<{ table: unknown; lists: string[] }> => {
    const lists: string[] = [];
    return { table: await flatTable(given, { onList: (column) => lists.push(column) }), lists };
  };

  it('have columns named by their paths, and leave lists out', async () => {
    const rows = [
      { ENERGY: { Power: 3, Phases: [1, 2] }, on: true },
      { ENERGY: { Power: 4 }, on: false },
    ];
    const { table, lists } = await read(rows);
    assert.deepEqual(table, [
      { 'ENERGY.Power': 3, on: true },
      { 'ENERGY.Power': 4, on: false },
    ]);
    assert.deepEqual([...new Set(lists)], ['ENERGY.Phases']);
    assert.deepEqual((await read(rows[1])).table, { 'ENERGY.Power': 4, on: false });
  });

  it('in JSON text keep every digit of whole numbers beyond 2^53', async () => {
    const { table } = await read('[{"a": {"b": 9007199254740993}, "label": 9223372036854775807}]');
    assert.deepEqual(table, [{ 'a.b': 9007199254740993n, label: 9223372036854775807n }]);
  });

  it('are looked for in the first rows; any other table is given back as it is', async () => {
    const later = Array.from({ length: 150 }, (_, i) => ({ a: i === 120 ? { b: 1 } : i }));
    for (const given of [later, [{ a: 1 }], { a: [1, 2] }, '[{"a": 1}]', 'a,b\n1,2\n', [[1, 2]], 7, null]) {
      assert.equal((await read(given)).table, given);
    }
  });

  it('within the answer of an API are told of, with their path', async () => {
    const rows = [{ a: 1, of: [{ b: 1 }, { b: 2 }] }, { a: 2 }];
    const found = async (given: unknown): Promise<unknown[]> => {
      const told: unknown[] = [];
      await flatTable(given, { onList: () => undefined, onRows: (...one) => told.push(one) });
      return told;
    };
    assert.deepEqual(await found({ items: rows }), [['items', 2]]);
    assert.deepEqual(await found({ status: 'ok', data: { of: { items: rows } } }), [['data.of.items', 2]]);
    assert.deepEqual(await found(JSON.stringify({ count: 2, items: rows })), [['items', 2]]);
    for (const none of [rows, { items: [rows[1]] }, { time: [new Date(), new Date()], x: [1, 2] }, rows[1]]) {
      assert.deepEqual(await found(none), []);
    }
  });

  it('tell of each row what is no value of a column: lists, bytes, objects without a value', async () => {
    class ObjectId {
      readonly buffer = Buffer.alloc(12);
    }
    const id = new ObjectId();
    const blob = Buffer.from('picture');
    const rows = [
      { x: 1, at: { site: 'a' } },
      { _id: id, x: 2, at: { site: 'b', tags: ['p', 'q'], blob }, none: {}, words: new Map([['a', 1]]) },
    ];
    const told: unknown[] = [];
    const hooks = { onList: () => undefined, onRest: (...one: unknown[]) => told.push(one) };
    assert.deepEqual(await flatTable(rows, hooks), [
      { x: 1, 'at.site': 'a' },
      { x: 2, 'at.site': 'b' },
    ]);
    const rest = [
      ['_id', id],
      ['at.tags', ['p', 'q']],
      ['at.blob', blob],
      ['none', {}],
      ['words', new Map([['a', 1]])],
    ];
    assert.deepEqual(told, [[1, rest]]);
  });

  it('are an error that names what it has, where an object has no value of a column', async () => {
    const answer = { recordsets: [[{ x: 1 }]], recordset: [{ x: 1 }], output: {}, rowsAffected: [1] };
    await assert.rejects(read(answer), {
      code: 'table.empty',
      message: /only lists and objects: "recordsets", "recordset", "output", "rowsAffected"/,
    });
    // It has nothing to name; that it has no properties is told where it is read.
    assert.deepEqual((await read(new URL('http://127.0.0.1'))).table, {});
  });

  it('have the numbers of MongoDB as numbers, and its ids as they came', async () => {
    /** As the driver makes them: the type and the methods are on the prototype. */
    const bson = (type: string, parts: object, text = type): object =>
      Object.assign(
        Object.create({ _bsontype: type, toString: () => text, value: () => 0 }) as object,
        parts,
      );
    const uuid = bson('Binary', { sub_type: 4, buffer: Buffer.alloc(16), position: 16 });
    const price = bson('Decimal128', { bytes: Buffer.alloc(16) }, '12.50');
    const count = bson('Int32', { value: 4 }, '4');
    const told: unknown[] = [];
    const hooks = { onList: () => undefined, onRest: (...one: unknown[]) => told.push(one) };
    const row = { _id: uuid, price, count, share: { $numberDecimal: '0.25' } };
    assert.deepEqual(await flatTable([row], hooks), [{ price: 12.5, count: 4, share: 0.25 }]);
    assert.deepEqual(told, [[0, [['_id', uuid]]]]);
  });
});
