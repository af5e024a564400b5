import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import fc from 'fast-check';
import { ParquetReader } from 'parquetjs-lite';

import { encodeTrainSet, profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import {
  closeEncoder,
  type Column,
  crc32c,
  crc32cToBase64,
  encodeBatches,
  listCells,
  openTable,
} from '../../../dist/src/table';
import { fullCount } from '../../helpers/full-count';
import { bytesOf, readByDuckdb, readByHyparquet, withFolder } from './helpers';

const NAMES = [
  '__proto__',
  'constructor',
  'toString',
  'a.b',
  'größe',
  '😀',
  ' ',
  '"quoted"',
  'a,b',
  'line\nbreak',
  'value',
  'x',
];

const cellOf: Record<Column['type'], fc.Arbitrary<unknown>> = {
  number: fc.double({ noNaN: true }).map((value) => (value === 0 ? 0 : value)),
  integer: fc.maxSafeInteger(),
  bigint: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  boolean: fc.boolean(),
  text: fc.string({ unit: 'binary', maxLength: 8 }),
  date: fc.date({ noInvalidDate: true }),
};

const TYPES = Object.keys(cellOf) as Column['type'][];

const table = fc
  .uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 6 })
  .chain((names) =>
    fc.tuple(
      fc.constant(names),
      fc.array(fc.constantFrom(...TYPES), { minLength: names.length, maxLength: names.length }),
    ),
  )
  .map(([names, types]): Column[] => names.map((name, i) => ({ name, type: types[i]! })))
  .chain((columns) =>
    fc.tuple(
      fc.constant(columns),
      fc.array(fc.tuple(...columns.map(({ type }) => fc.option(cellOf[type]))), { maxLength: 30 }),
    ),
  );

/** A cell as hyparquet gives it. */
function stored(cell: unknown, type: Column['type']): unknown {
  return type === 'integer' && typeof cell === 'number' ? BigInt(cell) : cell;
}

describe('Parquet', () => {
  after(() => closeEncoder());

  it('any table comes back equal through two independent readers', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'table.parquet');
      await fc.assert(
        fc.asyncProperty(table, async ([columns, rows]) => {
          const names = columns.map(({ name }) => name);
          // A few rows are written at once; some more, or several batches, by the encoder thread.
          const repeated = Array.from({ length: 70 }, () => rows).flat();
          const ways: [unknown[][], number, boolean][] = [
            [rows, Infinity, true],
            [rows, Math.max(1, rows.length >> 1), true],
            [rows, Math.max(1, rows.length >> 1), false],
            [repeated, Infinity, true],
            [repeated, 50, false],
          ];
          for (const [table, maxRows, compress] of ways) {
            const source = await openTable([names, ...table]);
            const file = await encodeBatches(columns, readBatches(source, columns, { maxRows }), {
              compress,
            });
            const bytes = await bytesOf(file);
            assert.equal(file.rows, table.length);
            assert.equal(file.bytes, bytes.length);
            assert.equal(file.hash, crc32cToBase64(crc32c(bytes)));
            await writeFile(path, bytes);
            for (const back of [await readByHyparquet(bytes), await readByDuckdb(path)]) {
              assert.deepEqual(back.names, names);
              assert.deepEqual(
                back.rows,
                table.map((row) => row.map((cell, i) => stored(cell, columns[i]!.type))),
              );
            }
          }
        }),
        { numRuns: fullCount(40, 15) },
      );
    })).timeout(60_000);

  it('a few rows are written without the encoder thread, and read by parquetjs-lite too', async () => {
    await closeEncoder();
    const columns: Column[] = [
      { name: 'n', type: 'number' },
      { name: 'i', type: 'integer' },
      { name: 't', type: 'text' },
      { name: 'b', type: 'boolean' },
    ];
    const rows = Array.from({ length: 64 }, (_, i) =>
      i % 5 === 4 ? [null, null, null, null] : [i / 4, -i, `é${i}`, i % 2 === 0],
    );
    const source = await openTable([columns.map(({ name }) => name), ...rows]);
    // oxlint-disable-next-line typescript/unbound-method -- put back below
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = () => assert.fail('the thread was asked');
    try {
      const file = await encodeBatches(columns, readBatches(source, columns));
      const reader = await ParquetReader.openBuffer(await bytesOf(file));
      const cursor = reader.getCursor();
      for (const [n, i, t, b] of rows) {
        const row = (await cursor.next()) as Record<string, unknown>;
        assert.deepEqual(
          [row.n, row.i, row.t, row.b].map((cell) => cell ?? null),
          [n, typeof i === 'number' ? BigInt(i) : i, t, b],
        );
      }
    } finally {
      Worker.prototype.postMessage = postMessage;
    }
  });

  it('a table of 2,000 columns, and one of many row groups', async () => {
    const wide = [Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`c${i}`, i + 0.5]))];
    const source = await openTable(wide);
    const { columns } = await profileTable(source);
    const back = await readByHyparquet(
      await bytesOf(await encodeBatches(columns, readBatches(source, columns))),
    );
    assert.deepEqual(back.rows, [Object.values(wide[0]!)]);

    const long = Array.from({ length: 50_000 }, (_, i) => ({
      i,
      t: `row ${i}`,
      n: i % 3 === 0 ? null : i / 7,
    }));
    const tall = await openTable(long);
    const profile = await profileTable(tall);
    const file = await encodeBatches(profile.columns, readBatches(tall, profile.columns));
    const rows = (await readByHyparquet(await bytesOf(file))).rows;
    assert.equal(rows.length, long.length);
    for (const i of [0, 19_999, 20_000, 49_999]) {
      assert.deepEqual(rows[i], [BigInt(long[i]!.i), long[i]!.t, long[i]!.n]);
    }
  }).timeout(60_000);

  /** Words that repeat, texts that do not, long ones; numbers of either kind; cells that are missing, and only those. */
  const MIXED: Column[] = [
    { name: 'word', type: 'text' },
    { name: 'words', type: 'text' },
    { name: 'serial', type: 'text' },
    { name: 'note', type: 'text' },
    { name: 'step', type: 'number' },
    { name: 'noise', type: 'number' },
    { name: 'count', type: 'integer' },
    { name: 'id', type: 'bigint' },
    { name: 'on', type: 'boolean' },
    { name: 'at', type: 'date' },
    { name: 'none', type: 'number' },
    { name: 'same', type: 'text' },
  ];

  const LETTERS = 'abcdefghijklmnopqrstuvwxyz'.repeat(8);

  function mixedRow(i: number): unknown[] {
    return [
      i % 7 === 3 ? null : ['ok', 'größer', ''][i % 3],
      // 600 words of all lengths, and two that have the same hash.
      ['vlcadaaa', 'vywbxfom'][i] ?? LETTERS.slice(i % 3, (i % 3) + (i % 200)),
      `SN ${i * 7919} ${LETTERS.slice(0, i % 200)}`,
      i === 1500 ? '€'.repeat(500_000) : 'short',
      (i % 40) / 4,
      Math.sin(i * i) * 10 ** (i % 20),
      i % 11 === 0 ? null : (i - 2000) * 3_000_000_000,
      2n ** 62n - BigInt(i),
      i % 5 === 0 ? null : i % 2 === 0,
      new Date(Date.UTC(1969, 11, 31) + i * 86_400_000 * (i % 2 === 0 ? 1 : -100)),
      null,
      'same',
    ];
  }

  for (const compress of [true, false]) {
    it(`thousands of rows are read by parquetjs-lite and DuckDB too, ${compress ? 'compressed' : 'plain'}`, () =>
      withFolder(async (folder) => {
        const path = join(folder, 'mixed.parquet');
        const rows = Array.from({ length: 4000 }, (_, i) => mixedRow(i));
        const source = await openTable([MIXED.map(({ name }) => name), ...rows]);
        const file = await encodeBatches(MIXED, readBatches(source, MIXED), { compress });
        const bytes = await bytesOf(file);
        await writeFile(path, bytes);
        const expected = rows.map((row) => row.map((cell, i) => stored(cell, MIXED[i]!.type)));
        assert.deepEqual((await readByDuckdb(path)).rows, expected);
        // It cannot read a date of anybody.
        const known = MIXED.map(({ name }) => name).filter((name) => name !== 'at');
        const cursor = (await ParquetReader.openBuffer(bytes)).getCursor(known);
        for (const row of expected) {
          const back = (await cursor.next()) as Record<string, unknown>;
          const cells = known.map((name) => back[name] ?? null);
          assert.deepEqual(cells, row.toSpliced(MIXED.length - 3, 1));
        }
      })).timeout(30_000);
  }

  it('compresses what becomes smaller by it, and numbers texts that repeat in any file', async () => {
    const names = ['word', 'noise'];
    const columns: Column[] = [
      { name: 'word', type: 'text' },
      { name: 'noise', type: 'number' },
    ];
    const rows = Array.from({ length: 5000 }, (_, i) => [`machine number ${i % 90}`, Math.sin(i * i)]);
    const read = async (
      compress: boolean,
    ): Promise<{ codecs: string[]; bytes: number; encodings: string[][] }> => {
      const source = await openTable([names, ...rows]);
      const file = await encodeBatches(columns, readBatches(source, columns), { compress });
      const bytes = await bytesOf(file);
      const { parquetMetadata } = await import('hyparquet');
      const chunks = parquetMetadata(new Uint8Array(bytes).buffer).row_groups[0]!.columns;
      return {
        bytes: bytes.length,
        codecs: chunks.map(({ meta_data }) => meta_data!.codec),
        encodings: chunks.map(({ meta_data }) => meta_data!.encodings),
      };
    };
    const [small, plain] = [await read(true), await read(false)];
    assert.deepEqual(small.codecs, ['GZIP', 'UNCOMPRESSED']);
    assert.deepEqual(plain.codecs, ['UNCOMPRESSED', 'UNCOMPRESSED']);
    assert.ok(
      plain.encodings[0]!.includes('PLAIN_DICTIONARY') && !plain.encodings[1]!.includes('PLAIN_DICTIONARY'),
    );
    assert.ok(small.bytes < plain.bytes && plain.bytes < 8 * 5000 + (7 / 8) * 5000 + 90 * 21 + 500);
  });

  it('tells bounds and missing cells of each row group, by which a reader may skip it', () =>
    withFolder(async (folder) => {
      const path = join(folder, 'bounds.parquet');
      const columns: Column[] = [
        { name: 'n', type: 'number' },
        { name: 'i', type: 'integer' },
        { name: 'b', type: 'bigint' },
        { name: 'at', type: 'date' },
        { name: 't', type: 'text' },
        { name: 'none', type: 'number' },
      ];
      const rows = Array.from({ length: 45_000 }, (_, i) => [
        i % 2 === 0 ? i / 2 : null,
        -i,
        BigInt(i) - 2n ** 60n,
        new Date(i * 1000),
        i % 10 === 0 ? null : 'x',
        null,
      ]);
      const source = await openTable([columns.map(({ name }) => name), ...rows]);
      await writeFile(path, await bytesOf(await encodeBatches(columns, readBatches(source, columns))));
      const { parquetMetadata } = await import('hyparquet');
      const { row_groups } = parquetMetadata(new Uint8Array(await readFile(path)).buffer);
      let first = 0;
      for (const { num_rows, columns: chunks } of row_groups) {
        const part = rows.slice(first, first + Number(num_rows));
        first += part.length;
        for (const [at, { meta_data }] of chunks.entries()) {
          const cells = part.map((row) => row[at]).filter((cell) => cell !== null);
          const { null_count, min_value, max_value } = meta_data!.statistics!;
          assert.equal(Number(null_count), part.length - cells.length);
          const numbers = cells.map((cell) => Number(cell) + 0);
          const bounds = at < 3 ? [Math.min(...numbers), Math.max(...numbers)] : [undefined, undefined];
          assert.deepEqual(
            [min_value, max_value].map((bound) => (bound === undefined ? bound : Number(bound) + 0)),
            bounds,
          );
        }
      }
      assert.deepEqual([first, row_groups.length], [rows.length, 3]);
    })).timeout(30_000);

  it('writes the same bytes for the same table, so that a duplicate is seen', async () => {
    const make = async (): Promise<string> => {
      const source = await openTable([
        { a: 1, b: 'x' },
        { a: 2, b: 'y' },
      ]);
      const profile = await profileTable(source, { target: 'b' });
      const { x, y } = await encodeTrainSet(source, profile, { target: 'b' });
      return `${x.hash} ${y.hash}`;
    };
    assert.equal(await make(), await make());
  });

  it('an integer column with a fraction is stored as numbers', async () => {
    const columns: Column[] = [{ name: 'n', type: 'integer' }];
    const source = await openTable([{ n: 1 }, { n: 1.5 }]);
    for (const batches of [readBatches(source, columns), await readAll(source, columns)]) {
      const file = await encodeBatches(columns, batches);
      assert.deepEqual((await readByHyparquet(await bytesOf(file))).rows, [[1], [1.5]]);
    }
  });

  it('leaves batches of an array as they are', async () => {
    const columns: Column[] = [{ name: 'n', type: 'integer' }];
    const batches = await readAll(await openTable([{ n: 1 }]), columns);
    const first = await encodeBatches(columns, batches);
    const second = await encodeBatches(columns, batches);
    assert.equal(first.hash, second.hash);
    assert.equal(batches[0]!.columns[0]!.type === 'integer' && batches[0]!.columns[0]!.values[0], 1);
  });

  it('can be opened from any byte to any other', async () => {
    const source = await openTable([{ a: 1, b: 'x' }]);
    const { columns } = await profileTable(source);
    const file = await encodeBatches(columns, readBatches(source, columns));
    const bytes = await bytesOf(file);
    const part = Buffer.concat(await file.open(5, 20).toArray());
    assert.deepEqual(part, bytes.subarray(5, 20));
    assert.equal((await file.open(7, 7).toArray()).length, 0);
  });
});

describe('A train set', () => {
  after(() => closeEncoder());

  it('is split into the features and the target', async () => {
    const rows = Array.from({ length: 45_000 }, (_, i) => ({
      a: i,
      y: i % 2 === 0 ? 'even' : 'odd',
      b: `${i}`,
    }));
    const source = await openTable(rows);
    const profile = await profileTable(source, { target: 'y' });
    const seen: number[] = [];
    const { x, y } = await encodeTrainSet(source, profile, { target: 'y', onProgress: (n) => seen.push(n) });
    const [xBack, yBack] = await Promise.all(
      [x, y].map(async (file) => readByHyparquet(await bytesOf(file))),
    );
    assert.deepEqual(xBack!.names, ['a', 'b']);
    assert.deepEqual(yBack!.names, ['y']);
    assert.deepEqual(xBack!.rows[44_999], [44_999n, '44999']);
    assert.deepEqual(yBack!.rows.slice(0, 3), [['even'], ['odd'], ['even']]);
    assert.equal(yBack!.rows.length, 45_000);
    assert.equal(seen.at(-1), 45_000);
    assert.deepEqual(
      seen,
      [...new Set(seen)].sort((a, b) => a - b),
    );
  }).timeout(60_000);
});

describe('CSV out', () => {
  after(() => closeEncoder());

  it('any table comes back equal, but for empty text, which is missing', async () => {
    const asCsv = fc.record({
      n: fc.option(
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value) + 0),
      ),
      f: fc.option(fc.boolean()),
      t: fc.option(
        fc.string({
          unit: fc.constantFrom('a', 'é', '😀', '"', ',', '\n', '\r', ';'),
          minLength: 1,
          maxLength: 6,
        }),
      ),
      d: fc.option(
        fc.date({ noInvalidDate: true, min: new Date('0001-01-01'), max: new Date('9999-12-31') }),
      ),
    });
    const columns: Column[] = [
      { name: 'n', type: 'number' },
      { name: 'f', type: 'boolean' },
      { name: 't', type: 'text' },
      { name: 'd', type: 'date' },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(asCsv, { minLength: 1, maxLength: 20 }), async (rows) => {
        const file = await encodeBatches(columns, readBatches(await openTable(rows), columns), {
          format: 'csv',
        });
        assert.equal(file.format, 'csv');
        const text = (await bytesOf(file)).toString();
        const batches = await readAll(await openTable(text), columns);
        assert.equal(batches[0]!.rows, rows.length);
        const cells = batches[0]!.columns.map(listCells);
        assert.deepEqual(
          rows.map((_, i) => cells.map((column) => column[i])),
          rows.map((row) => [row.n, row.f, row.t, row.d]),
        );
      }),
      { numRuns: 60 },
    );
  }).timeout(60_000);

  it('is written as RFC 4180 says, empty for missing, dates in ISO 8601', async () => {
    const columns: Column[] = [
      { name: 'a "b"', type: 'text' },
      { name: 'n', type: 'number' },
      { name: 'd', type: 'date' },
    ];
    const source = await openTable([
      ['a "b"', 'n', 'd'],
      ['x,y', 1.5, new Date(0)],
      [null, null, null],
      ['q"', Infinity, null],
    ]);
    const file = await encodeBatches(columns, readBatches(source, columns), { format: 'csv' });
    assert.equal(
      (await bytesOf(file)).toString(),
      '"a ""b""",n,d\n"x,y",1.5,1970-01-01T00:00:00.000Z\n,,\n"q""",Infinity,\n',
    );
  });

  it('keeps the rows of a single column whose values are missing', async () => {
    const columns: Column[] = [{ name: 'y', type: 'text' }];
    const file = await encodeBatches(
      columns,
      readBatches(await openTable([{ y: 'a' }, { y: null }, { y: 'b' }]), columns),
      { format: 'csv' },
    );
    const text = (await bytesOf(file)).toString();
    assert.deepEqual(await readRows(await openTable(text)), [{ y: 'a' }, { y: null }, { y: 'b' }]);
  });
});

async function readAll(source: Awaited<ReturnType<typeof openTable>>, columns: Column[]) {
  const list = [];
  for await (const batch of readBatches(source, columns)) {
    list.push(batch);
  }
  return list;
}
