import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { appendFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { ParquetSchema, ParquetWriter } from 'parquetjs-lite';

import { encodeTrainSet, profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import {
  closeEncoder,
  type Column,
  encodeBatches,
  fileAsIs,
  listCells,
  openTable,
  openTableFile,
  readTableFile,
} from '../../../dist/src/table';
import { bytesOf, collect, readByHyparquet, rejectsWith, withFolder } from './helpers';

const ROWS = Array.from({ length: 12_000 }, (_, i) => ({
  i,
  n: i % 5 === 0 ? null : i / 3,
  t: i % 7 === 0 ? null : `é "${i}", x`,
  f: i % 2 === 0,
  d: new Date(i * 1e7),
}));
const COLUMNS: Column[] = [
  { name: 'i', type: 'integer' },
  { name: 'n', type: 'number' },
  { name: 't', type: 'text' },
  { name: 'f', type: 'boolean' },
  { name: 'd', type: 'date' },
];

async function encoded(format: 'csv' | 'parquet'): Promise<Buffer> {
  return bytesOf(await encodeBatches(COLUMNS, readBatches(await openTable(ROWS), COLUMNS), { format }));
}

describe('A table on disk', () => {
  after(() => closeEncoder());

  const arrow = (kind: 'file' | 'stream'): Buffer =>
    Buffer.from(tableToIPC(tableFromArrays({ a: new Float64Array([1, 2.5]), s: ['x', 'y'] }), kind));
  const small = [
    { a: 1, s: 'x' },
    { a: 2.5, s: 'y' },
  ];
  const files: [string, string, () => Promise<Buffer> | Buffer, object[]][] = [
    ['CSV', 'a.csv', () => encoded('csv'), ROWS],
    ['Parquet', 'a.parquet', () => encoded('parquet'), ROWS],
    ['Parquet under another name', 'a.dat', () => encoded('parquet'), ROWS],
    ['TSV', 'a.tsv', () => Buffer.from('a\ts\n1\tx\n2.5\ty\n'), small],
    ['Arrow file', 'a.arrow', () => arrow('file'), small],
    ['Arrow stream', 'a.arrows', () => arrow('stream'), small],
  ];
  for (const [name, file, content, rows] of files) {
    it(`${name}: rows, profile, batches, train set`, () =>
      withFolder(async (folder) => {
        const where = path.join(folder, file);
        await writeFile(where, await content());
        const source = await openTableFile(where);
        assert.equal(source.form, 'file');
        assert.deepEqual(await readRows(source), rows);
        const target = Object.keys(rows[0]!)[1]!;
        const profile = await profileTable(source, { target });
        assert.equal(profile.rows, rows.length);
        const batches = await collect(readBatches(source, profile.columns, { maxRows: 5000 }));
        assert.ok(batches.every((batch) => batch.rows <= 5000));
        const { x, y } = await encodeTrainSet(source, profile, { target });
        const names = (await readByHyparquet(await bytesOf(x))).names;
        assert.deepEqual(
          names,
          profile.columns.map((column) => column.name).filter((n) => n !== target),
        );
        const targets = (await readByHyparquet(await bytesOf(y))).rows.flat();
        assert.deepEqual(
          targets,
          rows.map((row) => (row as Record<string, unknown>)[target]),
        );
      }));
  }

  it('can be left in the middle', () =>
    withFolder(async (folder) => {
      const where = path.join(folder, 'a.csv');
      await writeFile(where, await encoded('csv'));
      const source = await openTableFile(where);
      for await (const batch of readBatches(source, COLUMNS, { maxRows: 100 })) {
        assert.equal(batch.rows, 100);
        break;
      }
      assert.equal((await readRows(source)).length, ROWS.length);
    }));

  it('is told by path and reason where it cannot be read', () =>
    withFolder(async (folder) => {
      await rejectsWith(
        openTableFile(path.join(folder, 'none.csv')),
        'file.unreadable',
        /none\.csv" cannot be read: there is no such file/,
      );
      await rejectsWith(openTableFile(folder), 'file.unreadable', /is a folder|cannot be read/);
      const empty = path.join(folder, 'empty.csv');
      await writeFile(empty, '');
      await rejectsWith(openTableFile(empty), 'table.empty', /is empty/);
      const cut = path.join(folder, 'cut.parquet');
      await writeFile(cut, (await encoded('parquet')).subarray(0, 5000));
      await rejectsWith(openTableFile(cut), 'table.invalid', /Parquet file is damaged/);
      const ragged = path.join(folder, 'ragged.csv');
      await writeFile(ragged, `a,b\n${'1,2\n'.repeat(70_000)}1,2,3\n`);
      const source = await openTableFile(ragged);
      await rejectsWith(profileTable(source), 'table.invalid', /Row 70001 has 3 fields/);
      await rejectsWith(
        collect(readBatches(source, [{ name: 'c', type: 'text' }])),
        'columns.missing',
        /"c"/,
      );
    }));

  it('is refused where it is a pipe, to which nobody may ever write', function () {
    if (process.platform === 'win32') {
      this.skip();
    }
    return withFolder(async (folder) => {
      const pipe = path.join(folder, 'pipe.csv');
      execFileSync('mkfifo', [pipe]);
      await rejectsWith(openTableFile(pipe), 'file.unreadable', /is a pipe or device, not a file/);
      await rejectsWith(openTableFile('/dev/zero'), 'file.unreadable', /is a pipe or device, not a file/);
    });
  });

  it('goes up byte for byte where it has the right columns', () =>
    withFolder(async (folder) => {
      const where = path.join(folder, 'a.parquet');
      const bytes = await encoded('parquet');
      await writeFile(where, bytes);
      const file = await fileAsIs(where, COLUMNS);
      assert.ok(file !== undefined);
      assert.deepEqual([file.rows, file.bytes], [ROWS.length, bytes.length]);
      const made = await encodeBatches(COLUMNS, readBatches(await openTable(ROWS), COLUMNS));
      assert.equal(file.hash, made.hash);
      assert.deepEqual(await bytesOf(file), bytes);
      assert.deepEqual(Buffer.concat(await file.open(10, 99).toArray()), bytes.subarray(10, 99));
      assert.equal(await fileAsIs(where, COLUMNS.slice(1)), undefined);
      assert.equal(await fileAsIs(where, [...COLUMNS].reverse()), undefined);
      await appendFile(where, 'x');
      await rejectsWith(bytesOf(file), 'file.unreadable', /was changed/);
    }));
});

describe('A file as the embedded service reads it', () => {
  after(() => closeEncoder());

  for (const format of ['csv', 'parquet'] as const) {
    it(`${format} of our own`, () =>
      withFolder(async (folder) => {
        const where = path.join(folder, 'x');
        await writeFile(where, await encoded(format));
        const content = await readTableFile(where, format);
        assert.deepEqual(content.columns, COLUMNS);
        assert.equal(content.rows, ROWS.length);
        for (let again = 0; again < 2; again++) {
          const cells = (await collect(content.batches())).flatMap((batch) => listCells(batch.columns[2]!));
          assert.deepEqual(
            cells,
            ROWS.map((row) => row.t),
          );
        }
        await rejectsWith(
          readTableFile(where, format === 'csv' ? 'parquet' : 'csv'),
          'table.invalid',
          /is not/,
        );
      }));
  }

  it('Parquet of another writer: dictionary, gzip, decimals, dates, unmarked text', () =>
    withFolder(async (folder) => {
      const where = path.join(folder, 'other.parquet');
      const schema = new ParquetSchema({
        text: { type: 'UTF8', compression: 'GZIP' },
        raw: { type: 'BYTE_ARRAY', optional: true },
        whole: { type: 'INT64', compression: 'SNAPPY' },
        small: { type: 'INT32', optional: true },
        flag: { type: 'BOOLEAN' },
        day: { type: 'DATE' },
        time: { type: 'TIMESTAMP_MILLIS' },
        micros: { type: 'TIMESTAMP_MICROS' },
        float: { type: 'FLOAT' },
      });
      const writer = await ParquetWriter.openFile(schema, where);
      const time = new Date('2024-05-06T07:08:09.010Z');
      for (let i = 0; i < 1000; i++) {
        await writer.appendRow({
          text: `word ${i % 3}`,
          ...(i % 2 === 0 ? { raw: Buffer.from(`é${i}`) } : { small: i }),
          whole: i,
          flag: i % 2 === 0,
          day: new Date('2024-05-06'),
          time,
          micros: time,
          float: i / 2,
        });
      }
      await writer.close();
      const content = await readTableFile(where, 'parquet');
      assert.deepEqual(content.columns, [
        { name: 'text', type: 'text' },
        { name: 'raw', type: 'text' },
        { name: 'whole', type: 'integer' },
        { name: 'small', type: 'integer' },
        { name: 'flag', type: 'boolean' },
        { name: 'day', type: 'date' },
        { name: 'time', type: 'date' },
        { name: 'micros', type: 'date' },
        { name: 'float', type: 'number' },
      ]);
      const [batch] = await collect(content.batches());
      const row = (at: number): unknown[] => batch!.columns.map((column) => listCells(column)[at]);
      const day = new Date('2024-05-06');
      assert.deepEqual(row(0), ['word 0', 'é0', 0, null, true, day, time, time, 0]);
      assert.deepEqual(row(3), ['word 0', null, 3, 3, false, day, time, time, 1.5]);
    }));

  it('a file without rows, and one whose whole numbers are beyond 2^53', () =>
    withFolder(async (folder) => {
      const where = path.join(folder, 'x');
      const none = await openTable([['a', 'b']]);
      const columns: Column[] = [
        { name: 'a', type: 'number' },
        { name: 'b', type: 'text' },
      ];
      await writeFile(where, await bytesOf(await encodeBatches(columns, readBatches(none, columns))));
      const empty = await readTableFile(where, 'parquet');
      assert.deepEqual([empty.rows, empty.columns.map(({ name }) => name)], [0, ['a', 'b']]);
      assert.deepEqual(await collect(empty.batches()), []);

      const big = [{ id: 2n ** 60n + 1n }, { id: 5n }, { id: null }];
      const wide: Column[] = [{ name: 'id', type: 'bigint' }];
      await writeFile(
        where,
        await bytesOf(await encodeBatches(wide, readBatches(await openTable(big), wide))),
      );
      const read = await readTableFile(where, 'parquet');
      assert.deepEqual(read.columns, wide);
      const [batch] = await collect(read.batches());
      assert.deepEqual(listCells(batch!.columns[0]!), [2n ** 60n + 1n, 5n, null]);
    }));

  it('nested columns are refused by name', () =>
    withFolder(async (folder) => {
      const where = path.join(folder, 'nested.parquet');
      const writer = await ParquetWriter.openFile(
        new ParquetSchema({ id: { type: 'INT64' }, tags: { type: 'UTF8', repeated: true } }),
        where,
      );
      await writer.appendRow({ id: 1, tags: ['a', 'b'] });
      await writer.close();
      await rejectsWith(readTableFile(where, 'parquet'), 'table.invalid', /Column "tags", row 1/);
      const source = await openTableFile(where);
      assert.deepEqual((await profileTable(source, { ignore: ['tags'] })).columns, [
        { name: 'id', type: 'integer' },
      ]);
    }));
});
