import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

import { flatTable } from '../../../dist/src/messages';
import { openTable } from '../../../dist/src/table';

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

  it('tell of two values that have one name, unless they are the same', async () => {
    const told: string[] = [];
    const hooks = { onList: () => undefined, onTwice: (column: string) => told.push(column) };
    assert.deepEqual(await flatTable([{ 'a.b': 1, a: { b: 2 } }], hooks), [{ 'a.b': 2 }]);
    await flatTable([{ 'a.b': 1, a: { b: 1 } }], hooks);
    assert.deepEqual(told, ['a.b']);
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

  it('are none in a workbook or a sheet of SheetJS, which have an error of their own', async () => {
    const sheet = { '!ref': 'A1:A2', A1: { t: 's', v: 'x' }, A2: { t: 'n', v: 1 } };
    for (const given of [sheet, { SheetNames: ['a'], Sheets: { a: sheet }, Props: { SheetNames: ['a'] } }]) {
      const { table, lists } = await read(given);
      assert.equal(table, given);
      assert.deepEqual(lists, []);
      await assert.rejects(openTable(given), /give the rows of a sheet, as a node "sheet to json"/);
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

  describe('of XML, as the node xml makes it', () => {
    /** As the node xml does: each element in a list, attributes as `$`, text beside them as `_`. */
    const { parseStringPromise: parse } = createRequire(require.resolve('@node-red/nodes/package.json'))(
      'xml2js',
    ) as { parseStringPromise: (text: string) => Promise<unknown> };
    const readXml = async (text: string, numbers = true): Promise<{ table: unknown; told: unknown[] }> => {
      const told: unknown[] = [];
      const onList = (column: string): unknown => told.push(column);
      const onBeside = (...one: unknown[]): unknown => told.push(one);
      return { table: await flatTable(await parse(text), { onList, onBeside, numbers }), told };
    };
    const row = (id: number, temp: string): string =>
      `<row id="${id}"><engine><temp unit="C">${temp}</temp><none xsi:nil="true"/></engine><code>0${id}</code></row>`;

    it('are the elements that come again, with numbers where a column has nothing else', async () => {
      const { table, told } = await readXml(
        `<plant xmlns:xsi="urn:x"><rows>${row(1, '20.5')}${row(2, '')}${row(3, '-1e3')}</rows></plant>`,
      );
      assert.deepEqual(table, [
        { id: 1, 'engine.temp': 20.5, 'engine.none': null, code: '01' },
        { id: 2, 'engine.temp': null, 'engine.none': null, code: '02' },
        { id: 3, 'engine.temp': -1000, 'engine.none': null, code: '03' },
      ]);
      assert.deepEqual(told, []);
    });

    it('keep their text where a model has the types of the columns', async () => {
      const { table } = await readXml(`<rows>${row(1, '20.5')}</rows>`, false);
      assert.deepEqual(table, { id: '1', 'engine.temp': '20.5', 'engine.none': null, code: '01' });
    });

    it('may be one row alone, whose columns are named as in several', async () => {
      const alone = await readXml(
        `<a xmlns="urn:x" made="2024"><b><row id="7"><x>1</x><y>2</y></row></b></a>`,
      );
      assert.deepEqual(alone.table, { id: 7, x: 1, y: 2 });
      assert.deepEqual(alone.told, [['a.b[0].row[0]', ['made']]]);
      assert.deepEqual((await readXml('<reading><x>1</x><of><y>2</y></of></reading>')).table, {
        x: 1,
        'of.y': 2,
      });
    });

    it('say what stands beside them and is not read', async () => {
      const { table, told } = await readXml(
        '<a made="2024"><count>2</count><b><r x="1"/><r x="2"/></b><!-- no --></a>',
      );
      assert.deepEqual(table, [{ x: 1 }, { x: 2 }]);
      assert.deepEqual(told, [['a.b[0].r', ['made', 'count']]]);
    });

    it('are one row where elements that come again each name a value', async () => {
      const { table } = await readXml(
        '<r><temp>21.5</temp><s><m id="a">12</m><m id="b">13</m></s><t>1</t><t>2</t></r>',
      );
      assert.deepEqual(table, { temp: 21.5, 's.m.a': 12, 's.m.b': 13 });
    });

    it('are a list that was taken out of a document', async () => {
      const document = (await parse('<a><b><r x="1"><y>2</y></r><r x="2"><y>3</y></r></b></a>')) as {
        a: { b: { r: unknown }[] };
      };
      assert.deepEqual(await flatTable(document.a.b[0]!.r, { onList: () => undefined, numbers: true }), [
        { x: 1, y: 2 },
        { x: 2, y: 3 },
      ]);
    });

    it('are refused where several lists could be the rows', async () => {
      const list = (name: string): string => `<${name}><m><x>1</x></m><m><x>2</x></m></${name}>`;
      await assert.rejects(readXml(`<p>${list('a')}${list('b')}</p>`), {
        code: 'table.invalid',
        message:
          /p\.a\[0\]\.m \(2 elements\), p\.b\[0\]\.m \(2 elements\)\. .*such as payload\.p\.a\[0\]\.m\./,
      });
    });

    it('are not looked for in what is no XML', async () => {
      const hole: unknown[] = [];
      hole.length = 2 ** 31;
      for (const given of [
        { a: ['x', 'y'], b: ['p', 'q'] },
        { a: { b: ['x'] }, c: 1 },
        { rows: [{ a: 1 }, { a: 2 }], n: [1] },
        [{ a: ['x'] }, { a: 1 }],
        { a: { b: hole } },
      ]) {
        const told: unknown[] = [];
        await flatTable(given, { onList: () => undefined, onBeside: (...one) => told.push(one) }).catch(
          (error: unknown) => assert.equal((error as { code?: string }).code, 'table.empty'),
        );
        assert.deepEqual(told, []);
      }
    });

    it('of a list with holes, or with what no element has, end as rows or as no table', async () => {
      const hooks = { onList: () => undefined };
      const row: object[] = [];
      for (let i = 0; i < 150; i++) {
        if (i !== 120) {
          row[i] = { x: [String(i)] };
        }
      }
      row[130] = { $: null, x: ['7'] };
      const rows = (await flatTable({ document: { row } }, hooks)) as object[];
      assert.deepEqual(
        [rows.length, rows[119], rows[120], rows[130]],
        [150, { x: '119' }, {}, { x: '7', $: null }],
      );
      const sparse: unknown[] = [...row];
      sparse[2 ** 28] = { x: ['1'] };
      assert.equal(await flatTable(sparse, hooks), sparse);
      await assert.rejects(flatTable({ document: { row: sparse } }, hooks), { code: 'table.empty' });
    });
  });
});
