import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { DuckDBInstance } from '@duckdb/node-api';

import { BYTES_PER_CELL } from '../doors/service';
import { onSmallHeap } from '../helpers/small-heap';

const DIST = path.resolve(__dirname, '../../dist/src');

/** Runs a script in a process of its own; answers what it prints as JSON. `idle` and `most` are MB of memory. */
async function measured<T>(script: string): Promise<T> {
  const whole = `
    const megabytes = () => process.memoryUsage().rss / 2 ** 20;
    let most = 0;
    const look = () => (most = Math.max(most, megabytes()));
    setInterval(look, 5).unref();
    (async () => { ${script} })();`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', '-e', whole], {
    timeout: 380_000,
  });
  return JSON.parse(stdout) as T;
}

/** `post` and `send`, as a script needs them that starts a service of its own. */
const SEND = `
  const { createReadStream, statSync } = require('node:fs');
  const { request } = require('node:http');
  const { startService } = require(${JSON.stringify(path.join(DIST, 'service'))});
  const post = async (route, body) => {
    const answer = await fetch(service.url + '/svc/' + route, {
      method: 'POST',
      headers: { authorization: 'Bearer ' + service.token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return answer.json();
  };
  const send = (name, { signed_urls, required_headers: headers }) => new Promise((resolve, reject) => {
    const put = request(signed_urls[0], { method: 'PUT', headers: { ...headers, 'content-length': statSync(name).size } });
    put.on('error', reject).on('response', (answer) => answer.resume().on('end', resolve));
    createReadStream(name).pipe(put);
  });`;

describe('Service: memory', function () {
  this.timeout(400_000);
  let folder: string;
  const columns = Array.from({ length: 50 }, (_, i) => `m${i}`);
  const file = (name: string): string => path.join(folder, name);

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'service-memory-'));
    const db = await (await DuckDBInstance.create()).connect();
    const noise = columns.map((name) => `random() AS ${name}`).join(', ');
    // 400 MB of numbers in one row group, and nearly as many bytes in the file.
    await db.run(`SET memory_limit = '1500MB'; SET preserve_insertion_order = false;
      COPY (SELECT ${noise} FROM range(1000000))
      TO '${file('x.parquet')}' (FORMAT parquet, COMPRESSION snappy, ROW_GROUP_SIZE 1000000);
      COPY (SELECT i % 2 AS y FROM range(1000000) t(i)) TO '${file('y.parquet')}' (FORMAT parquet);
      COPY (SELECT i AS id, repeat('the same words again ', 10) || CASE WHEN i % 100 = 0 THEN i // 100 ELSE 0 END AS note
        FROM range(1000000) t(i)) TO '${file('text.parquet')}' (FORMAT parquet, COMPRESSION zstd);
      COPY (SELECT ${noise} FROM range(200000)) TO '${file('x-fit.parquet')}' (FORMAT parquet, ROW_GROUP_SIZE 50000);
      COPY (SELECT i % 2 AS y FROM range(200000) t(i)) TO '${file('y-fit.parquet')}' (FORMAT parquet);
      COPY (SELECT repeat(md5(i::VARCHAR), 9) AS a, i AS n, 'élan ' || sha256(i::VARCHAR) || md5((i % 500000)::VARCHAR) AS b
        FROM range(600000) t(i)) TO '${file('words.parquet')}' (FORMAT parquet, COMPRESSION zstd)`);
    db.closeSync();
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it('reading takes the columns and little more; a fit keeps neither numbers nor texts in memory, and reads back the same', async () => {
    mkdirSync(file('fit'));
    const read = (name: string, fitFolder: string): string => `
      const { readFeatures } = require(${JSON.stringify(path.join(DIST, 'service/work/columns'))});
      const { crc32c } = require(${JSON.stringify(path.join(DIST, 'table/storage/crc32c'))});
      const idle = megabytes();
      const bounds = { rows: 1e6, cells: 1e8, columns: 100 };
      const { columns, close } = await readFeatures(
        { file: ${JSON.stringify(file(name))}, format: 'parquet' }, bounds, undefined, ${fitFolder});
      look();
      const above = most - idle;
      const held = columns.reduce((sum, { values }) => sum + (values?.byteLength ?? 0), 0) / 2 ** 20;
      const bytes = (values) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      const some = columns.filter((_, at) => columns.length < 10 || at % 7 === 0);
      const sums = some.map((column) => column.kind === 'text'
        ? [crc32c(bytes(column.codes)), crc32c(Buffer.from(column.dictionary.join('\\n')))]
        : crc32c(bytes(column.values)));
      close();
      console.log(JSON.stringify({ above, sums, held }));`;
    type Read = { above: number; sums: unknown; held: number };
    const folder = JSON.stringify(file('fit'));
    const numbers = await measured<Read>(read('x.parquet', folder));
    // 380 MB as they are.
    assert.ok(numbers.above < 300, `${Math.round(numbers.above)} MB for numbers`);
    const inMemory = await measured<Read>(read('x.parquet', 'undefined'));
    assert.deepEqual(numbers.sums, inMemory.sums);
    assert.ok(inMemory.held > 380);
    const beside = Math.round(inMemory.above - inMemory.held);
    assert.ok(beside < 300, `${beside} MB beside ${Math.round(inMemory.held)} of columns`);
    const texts = await measured<Read>(read('words.parquet', folder));
    const held = await measured<Read>(read('words.parquet', 'undefined'));
    // 230 MB of different texts in two columns.
    assert.ok(
      texts.above < held.above - 100,
      `${Math.round(texts.above)}, else ${Math.round(held.above)} MB`,
    );
    assert.deepEqual(texts.sums, held.sums);
    assert.deepEqual(readdirSync(file('fit')), []);
  });

  it('six million different words and pairs of words are learned from in a heap of 64 MB', () =>
    onSmallHeap(file('small heap'), async (fit) => {
      const { body } = await fit(60_000, 30);
      assert.equal(body.status, 'completed');
    }));

  it('only the columns that a model wants are decoded; text that repeats is kept once', async () => {
    const { rows, words, above, heap } = await measured<Record<'rows' | 'words' | 'above' | 'heap', number>>(`
      const { readFeatures } = require(${JSON.stringify(path.join(DIST, 'service/work/columns'))});
      const idle = megabytes();
      const bounds = { rows: 1e6, cells: 1e8, columns: 100 };
      const two = ['m3', 'm40'].map((name) => ({ name, type: 'number', kind: 'number' }));
      const x = await readFeatures({ file: ${JSON.stringify(file('x.parquet'))}, format: 'parquet' }, bounds, two);
      const text = await readFeatures({ file: ${JSON.stringify(file('text.parquet'))}, format: 'parquet' }, bounds);
      look();
      gc();
      const heap = process.memoryUsage().heapUsed / 2 ** 20;
      const words = text.columns[1].dictionary.length;
      console.log(JSON.stringify({ rows: x.rows, words, above: most - idle, heap }));`);
    assert.deepEqual([rows, words], [1_000_000, 10_000]);
    // 800 MB as numbers and text. Of every batch of text some cells are new, which must not keep the others.
    assert.ok(above < 400, `${Math.round(above)} MB above idle`);
    assert.ok(heap < 100, `${Math.round(heap)} MB of heap`);
  });

  it('a fit takes no more per cell than the limits reckon with', async () => {
    const rows = 200_000;
    const { status, above } = await measured<{ status: string; above: number }>(`
      ${SEND}
      const service = await startService({ dataDir: ${JSON.stringify(file('fitted'))} });
      const info = { format: 'parquet' };
      const made = await post('prepare_train_set_upload', { x_train_info: info, y_train_info: info });
      await send(${JSON.stringify(file('x-fit.parquet'))}, made.x_train_info);
      await send(${JSON.stringify(file('y-fit.parquet'))}, made.y_train_info);
      gc();
      const idle = megabytes();
      most = 0;
      const { status } = await post('fit', {
        // Two folds are fitted at once, and then no others.
        train_set_upload_id: made.train_set_upload_id,
        task_config: { task: 'classification', svc_config: { n_estimators: 2 } },
      });
      await service.close();
      console.log(JSON.stringify({ status, above: most - idle }));`);
    assert.equal(status, 'completed');
    const perCell = (above * 2 ** 20) / (rows * columns.length);
    assert.ok(perCell > 10 && perCell <= BYTES_PER_CELL, `${perCell.toFixed(1)} bytes per cell`);
  });

  it('an upload goes to disk as it comes, and a fit beyond the limits is refused before anything is decoded', async () => {
    const { size } = statSync(file('x.parquet'));
    assert.ok(size > 350e6);
    const { code, put, fit } = await measured<{ code: string; put: number; fit: number }>(`
      ${SEND}
      const service = await startService({ dataDir: ${JSON.stringify(file('data'))}, limits: { train_set_max_rows: 999999 } });
      const info = { format: 'parquet' };
      await post('prepare_train_set_upload', { x_train_info: info, y_train_info: info });
      const idle = megabytes();
      const made = await post('prepare_train_set_upload', { x_train_info: info, y_train_info: info });
      await send(${JSON.stringify(file('x.parquet'))}, made.x_train_info);
      await send(${JSON.stringify(file('y.parquet'))}, made.y_train_info);
      const put = most - idle;
      most = 0;
      const { error_code: code } = await post('fit', {
        train_set_upload_id: made.train_set_upload_id, task_config: { task: 'classification' },
      });
      const fit = most - idle;
      await service.close();
      console.log(JSON.stringify({ code, put, fit }));`);
    assert.equal(code, 'LIMIT_EXCEEDED');
    assert.ok(put < 150, `PUT: ${Math.round(put)} MB above idle`);
    assert.ok(fit < 200, `fit: ${Math.round(fit)} MB above idle`);
  });
});
