import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { closeEncoder, type Column, openTableFile } from '../../../dist/src/table';
import { type BlobLike, openParquet, parquet, ParquetSource } from '../../doors/table';
import { SliceSizer } from '../../doors/util';
import { withFolder } from './helpers';

/** Runs SQL in DuckDB, in which `FILE` is a path. */
async function duckdb(sql: string): Promise<void> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const instance = await DuckDBInstance.create();
  const connection = await instance.connect();
  try {
    await connection.run(sql);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** A hash of the cells of each column, in order, however the rows are cut into batches. */
async function digests(file: string, columns: readonly Column[]): Promise<string[]> {
  const hashes = columns.map(() => [0, 1, 2].map(() => createHash('sha1')));
  const source = await openTableFile(file);
  for await (const batch of readBatches(source, columns)) {
    batch.columns.forEach((column, index) => {
      const [cells, lengths, missing] = hashes[index]!;
      cells!.update(column.type === 'text' ? column.bytes : Buffer.from(column.values.buffer));
      if (column.type === 'text') {
        const own = Int32Array.from(
          { length: batch.rows },
          (_, i) => column.offsets[i + 1]! - column.offsets[i]!,
        );
        lengths!.update(Buffer.from(own.buffer));
        missing!.update(column.missing ?? new Uint8Array(batch.rows));
      }
    });
  }
  return hashes.map((list) => list.map((hash) => hash.digest('hex')).join());
}

/** Some 55 MB, compressed and as they are together: a row group of up to 48 MiB is read at once. */
const MIXED = `SELECT i AS id, random() AS a, CASE WHEN i % 7 = 0 THEN NULL ELSE random() END AS b,
  'note ' || i || ' é ' || random() || repeat('x', 1500) AS note, CASE WHEN i % 3 = 0 THEN NULL ELSE 'site ' || (i % 5) END AS site,
  i % 2 = 0 AS flag, TIMESTAMP '2024-01-01' + INTERVAL (i) SECOND AS at, CAST(i AS DECIMAL(18, 3)) / 7 AS money,
  random() AS "é", random() AS c, random() AS d, random() AS "__proto__" FROM range(32000) t(i)`;

// How much memory it takes: test/large/row-group-memory.test.ts.
describe('A Parquet file with one huge row group', function () {
  this.timeout(120_000);
  after(() => closeEncoder());

  it('has the cells that the same table in small row groups has, whichever columns are wanted', () =>
    withFolder(async (folder) => {
      const [huge, small] = [path.join(folder, 'huge.parquet'), path.join(folder, 'small.parquet')];
      await duckdb(`SET preserve_insertion_order = true; CREATE TABLE t AS ${MIXED};
        COPY t TO '${huge}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2000000);
        COPY t TO '${small}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 20000)`);
      const { columns, rows } = await profileTable(await openTableFile(huge));
      assert.equal(rows, 32_000);
      assert.deepEqual(
        columns.map(({ type }) => type),
        'integer,number,number,text,text,boolean,date,number,number,number,number,number'.split(','),
      );
      const cells = await digests(small, columns);
      assert.deepEqual(await digests(huge, columns), cells);
      assert.deepEqual(await digests(huge, columns.slice(0, 9).reverse()), cells.slice(0, 9).reverse());
    }));

  it('may have names that begin other ones, with letters beyond ASCII', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'names.parquet');
      await duckdb(`COPY (SELECT i AS "é", i + 1 AS "éé", i + 2 AS a, i + 3 AS "a.b" FROM range(5) t(i))
        TO '${file}' (FORMAT parquet)`);
      const source = await openTableFile(file);
      const columns: Column[] = [
        { name: 'é', type: 'integer' },
        { name: 'a', type: 'integer' },
      ];
      for await (const { columns: found } of readBatches(source, columns)) {
        assert.deepEqual(
          found.map((column) => Array.from((column as { values: Float64Array }).values)),
          [
            [0, 1, 2, 3, 4],
            [2, 3, 4, 5, 6],
          ],
        );
      }
    }));

  it('leaves no temporary file, also when it is left in the middle', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'huge.parquet');
      await duckdb(`COPY (SELECT random() AS a, random() AS b, random() AS c, random() AS d, random() AS e
        FROM range(700000)) TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2000000)`);
      const columns = ['a', 'b', 'c', 'd', 'e'].map((name): Column => ({ name, type: 'number' }));
      for await (const batch of readBatches(await openTableFile(file), columns)) {
        assert.ok(batch.rows > 0);
        break;
      }
      const left = (await readdir(tmpdir())).filter((name) => name.startsWith('tabular-blocks-'));
      assert.deepEqual(left, []);
    }));
});

/** A Parquet file in memory that counts the bytes read of it, and tells of each piece. */
class CountedBlob implements BlobLike {
  constructor(
    private readonly bytes: Uint8Array,
    private readonly onRead: (bytes: number) => void,
  ) {}

  get size(): number {
    return this.bytes.length;
  }

  slice(start = 0, end = this.size): CountedBlob {
    return new CountedBlob(this.bytes.subarray(start, end), this.onRead);
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    this.onRead(this.size);
    return Promise.resolve(new Uint8Array(this.bytes).buffer);
  }
}

describe('The reader of Parquet files', function () {
  this.timeout(60_000);

  it('looks at the footer once for all row groups', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'groups.parquet');
      await duckdb(`COPY (SELECT i AS a, i AS b FROM range(409600) t(i))
        TO '${file}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`);
      const reader = await openParquet(new CountedBlob(await readFile(file), () => undefined));
      const { prototype } = parquet().ParquetFile;
      // oxlint-disable-next-line typescript/unbound-method -- called with its object below
      const { metadata } = prototype;
      let looks = 0;
      prototype.metadata = function () {
        looks++;
        return metadata.call(this);
      };
      try {
        let rows = 0;
        for await (const { batch } of reader.batches()) {
          rows += batch.numRows;
        }
        assert.equal(rows, 409_600);
        assert.ok(looks <= 1, `${looks} copies of the footer`);
      } finally {
        prototype.metadata = metadata;
        reader.close();
      }
    }));

  it('stops at an abort also while it reads the bands that come before the first row', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'huge.parquet');
      const names = Array.from({ length: 12 }, (_, i) => `m${i}`);
      await duckdb(`SET preserve_insertion_order = false;
        COPY (SELECT ${names.map((name) => `random() AS ${name}`).join(', ')} FROM range(400000))
        TO '${file}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 1000000)`);
      const bytes = await readFile(file);
      const controller = new AbortController();
      let [opened, read, batches] = [false, 0, 0];
      const blob = new CountedBlob(bytes, (size) => {
        if (opened) {
          read += size;
          controller.abort(new Error('enough'));
        }
      });
      const source = await ParquetSource.open('file', blob);
      opened = true;
      const work = async (): Promise<void> => {
        for await (const slice of source.slices({ sizer: new SliceSizer(12), signal: controller.signal })) {
          batches += slice.rows;
        }
      };
      await assert.rejects(work(), /enough/);
      source.close();
      assert.equal(batches, 0);
      assert.ok(read < bytes.length / 2, `${read} of ${bytes.length} bytes were read after the abort`);
    }));
});
