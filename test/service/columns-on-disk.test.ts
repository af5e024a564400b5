import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { DuckDBInstance } from '@duckdb/node-api';

import { type FeatureShape, readFeatures } from '../doors/service';
import { onSmallHeap } from '../helpers/small-heap';

const ROWS = 20_000;
const BOUNDS = { rows: ROWS, cells: 1e6, columns: 10 };

// How many megabytes they leave free: test/large/service-memory.test.ts.
describe('Service: columns that are too much for the memory', function () {
  this.timeout(120_000);
  let folder: string;
  let file: string;

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'columns-on-disk-'));
    file = path.join(folder, 'x.parquet');
    const db = await (await DuckDBInstance.create()).connect();
    await db.run(`COPY (SELECT i AS n, i / 7 AS part, repeat(md5(i::VARCHAR), 9) AS words,
        repeat('the same words again ', 10) || (i % 100) AS note FROM range(${ROWS}) t(i))
      TO '${file}' (FORMAT parquet)`);
    db.closeSync();
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function read(wanted?: FeatureShape[], fitFolder?: string) {
    const { columns, close } = await readFeatures({ file, format: 'parquet' }, BOUNDS, wanted, fitFolder);
    const values = columns.map((column) =>
      column.kind === 'text'
        ? { name: column.name, codes: [...column.codes], dictionary: [...column.dictionary] }
        : { name: column.name, values: [...column.values] },
    );
    close();
    return values;
  }

  it('a fit reads numbers and texts from disk as it would from memory, and leaves no file', async () => {
    const fitFolder = await mkdtemp(path.join(folder, 'fit-'));
    const inMemory = await read();
    assert.deepEqual(await read(undefined, fitFolder), inMemory);
    assert.deepEqual(
      inMemory.map(({ dictionary }) => dictionary?.length),
      [undefined, undefined, ROWS, 100],
      'a text that repeats is kept once',
    );
    assert.deepEqual(await readdir(fitFolder), []);
  });

  it('only the columns that a model wants are read', async () => {
    const wanted: FeatureShape[] = [{ name: 'part', type: 'number', kind: 'number' }];
    assert.deepEqual(
      (await read(wanted)).map(({ name }) => name),
      ['part'],
    );
  });

  it('a fit that needs more than the heap is refused by column, and the service goes on', () =>
    onSmallHeap(path.join(folder, 'data'), async (fit) => {
      const refused = await fit(60_000, 160);
      const { _streamed_error: streamed, status_code: late, code, detail } = refused.body;
      assert.deepEqual([streamed === true ? late : refused.status, code], [413, 'limit.exceeded']);
      assert.match(
        detail,
        /Column "note" holds more different text than .* by row \d+ .*Leave the column out/,
      );
      assert.equal((await fit(200, 3)).body.status, 'completed');
      assert.equal((await readdir(path.join(folder, 'data', 'models'))).length, 1);
    }));
});
