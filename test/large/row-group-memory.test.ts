import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { DuckDBInstance } from '@duckdb/node-api';

import type { Column } from '../../dist/src/table';

const ENTRY = path.resolve(__dirname, '../../dist/src/program-table');

/** Peak memory of reading a file, above that before it, in a process of its own. */
async function reading(
  file: string,
  columns: readonly Column[],
): Promise<{ rows: number; megabytes: number }> {
  const script = `
    const t = require(${JSON.stringify(ENTRY)});
    const [file, columns] = ${JSON.stringify([file, columns])};
    (async () => {
      const one = [{ rows: 1, columns: columns.map(() => ({ type: 'number', values: new Float64Array(1) })) }];
      await (await t.encodeBatches(columns, one)).dispose();
      const idle = process.memoryUsage().rss;
      let [rows, most] = [0, 0];
      const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
      for await (const batch of t.readBatches(await t.openTableFile(file), columns)) {
        rows += batch.rows;
        most = Math.max(most, process.memoryUsage().rss);
      }
      clearInterval(timer);
      await t.closeEncoder();
      console.log(JSON.stringify({ rows, megabytes: Math.round((most - idle) / 2 ** 20) }));
    })();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 110_000 });
  return JSON.parse(stdout) as { rows: number; megabytes: number };
}

// As the embedded service reads it: service-memory.test.ts.
describe('A Parquet file with one huge row group', function () {
  this.timeout(120_000);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'row-group-memory-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is read in bounded memory by the encoder thread', async () => {
    const file = path.join(folder, 'huge.parquet');
    const names = Array.from({ length: 60 }, (_, i) => `m${i}`);
    const db = await (await DuckDBInstance.create()).connect();
    await db.run(`SET memory_limit = '1500MB'; SET preserve_insertion_order = false;
      COPY (SELECT ${names.map((name) => `random() AS ${name}`).join(', ')} FROM range(500000))
      TO '${file}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 500000)`);
    db.closeSync();
    const columns = names.map((name): Column => ({ name, type: 'number' }));
    const { rows, megabytes } = await reading(file, columns);
    assert.equal(rows, 500_000);
    // 240 MB of numbers, and nearly as much in the file: a row group in memory would be nearly 480 MB.
    assert.ok(megabytes < 300, `${megabytes} MB above idle`);
  });
});
