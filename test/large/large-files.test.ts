import { strict as assert } from 'node:assert';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { waitFor } from '../helpers/wait';
import { type Bench, bench, codeOf } from '../unit/scoring/stand-in';

/** Writes lines in blocks. */
async function write(
  file: string,
  header: string,
  rows: number,
  line: (row: number) => string,
): Promise<void> {
  const out = createWriteStream(file);
  out.write(`${header}\n`);
  for (let row = 0; row < rows;) {
    let text = '';
    for (const end = Math.min(rows, row + 5000); row < end; row++) {
      text += `${line(row)}\n`;
    }
    if (!out.write(text)) {
      await once(out, 'drain');
    }
  }
  out.end();
  await once(out, 'finish');
}

/** Temporary files of this process. */
function tempFiles(): string[] {
  return readdirSync(tmpdir())
    .filter((name) => name.startsWith(`tabular-prediction-${process.pid}-`))
    .flatMap((name) => readdirSync(path.join(tmpdir(), name)));
}

describe('Large files on disk', function () {
  this.timeout(300_000);
  let at: Bench;
  let folder: string;
  const file = (name: string): string => path.join(folder, name);

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'large-files-'));
    at = await bench();
  });

  after(async () => {
    await at.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('a column that turns from numbers to text at row 250,000 comes out as text, and says so once', async () => {
    // More than a dozen batches are numbers by then.
    const [turned, all] = [250_000, 300_000];
    await write(file('turn.csv'), 'v,y', all, (row) => `${row + 1 < turned ? row : `n${row}`},${row % 2}`);
    const warnings: string[] = [];
    const table = { path: file('turn.csv') };
    const { id, columns, rows } = await at.connection.upload(
      { set: 'train', table, target: 'y' },
      { onWarning: (text) => warnings.push(text) },
    );
    assert.deepEqual([rows, columns], [all, [{ name: 'v', type: 'text' }]]);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /"v" holds numbers and text.*"n249999" in row 250000/);
    const back = await at.service.rowsOf(id);
    assert.equal(back.length, all);
    assert.deepEqual(
      [0, turned - 2, turned - 1, all - 1].map((row) => back[row]!['v']),
      ['0', '249998', 'n249999', 'n299999'],
    );
  });

  it('an abort at any moment ends the work as closed, and leaves no file', async () => {
    // Noise: X is larger than the 32 MiB that stay in memory, so there is a temporary file: a row takes 600 bytes at least.
    let seed = 7;
    const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    const texts = (): string =>
      Array.from({ length: 4 }, () => randomBytes(150).toString('base64')).join(',');
    const names = Array.from({ length: 4 }, (_, i) => `m${i}`).join(',');
    await write(file('noise.csv'), `${names},y`, 60_000, (row) => `${texts()},${row % 2}`);
    const table = { path: file('noise.csv') };
    const upload = (signal?: AbortSignal) =>
      at.connection.upload({ set: 'train', table, target: 'y', forceReupload: true }, { signal });
    const start = performance.now();
    let spilled = false;
    const looking = setInterval(() => (spilled ||= tempFiles().length > 0), 10);
    await upload();
    clearInterval(looking);
    assert.ok(spilled, 'the file was never on disk');
    const whole = performance.now() - start;
    for (let round = 0; round < 3; round++) {
      const controller = new AbortController();
      const work = codeOf(upload(controller.signal));
      const moment = (whole * (round + random())) / 3;
      await sleep(moment);
      const from = performance.now();
      controller.abort();
      const code = await work;
      assert.ok(code === 'closed' || code === 'none', `${code} at ${moment} ms`);
      assert.ok(performance.now() - from < 2000, 'it took its time');
      // The work is settled at once; its thread removes the file as soon as it sees the abort.
      await waitFor(`an empty folder, aborted after ${moment} ms`, () => tempFiles().length === 0);
    }
    const few = { value: [{ m0: 1, y: 0 }] };
    assert.equal((await at.connection.upload({ set: 'train', table: few, target: 'y' })).rows, 1);
    assert.deepEqual(at.service.breaches, []);
  });

  it('writing columns of 400 MB takes memory that does not grow with them', async () => {
    const entry = path.resolve(__dirname, '../../dist/src/program-table');
    // 400 MB of columns, made and written in a process of its own.
    const script = `
      const t = require(${JSON.stringify(entry)});
      const columns = Array.from({ length: 50 }, (_, i) => ({ name: 'c' + i, type: 'number' }));
      const values = new Float64Array(20000).map((_, i) => i % 100);
      async function* batches() {
        for (let b = 0; b < 50; b++) {
          yield { rows: 20000, columns: columns.map(() => ({ type: 'number', values: values.slice() })) };
        }
      }
      (async () => {
        await t.encodeBatches(columns, [{ rows: 1, columns: columns.map(() => ({ type: 'number', values: new Float64Array(1) })) }]);
        const idle = process.memoryUsage().rss;
        let most = 0;
        const file = await t.encodeBatches(columns, batches(), { onProgress: () => (most = Math.max(most, process.memoryUsage().rss)) });
        await file.dispose();
        await t.closeEncoder();
        console.log(JSON.stringify({ rows: file.rows, megabytes: (most - idle) / 2 ** 20 }));
      })();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 280_000 });
    const { rows, megabytes } = JSON.parse(stdout) as { rows: number; megabytes: number };
    assert.equal(rows, 1_000_000);
    assert.ok(megabytes < 250, `${Math.round(megabytes)} MB above idle`);
  });

  it('a disk that is slower than the reader loses no row of X and y', async () => {
    const entry = path.resolve(__dirname, '../../dist/src/program-table');
    const disk = file('slow-disk.cjs');
    // Each thread loads it: what is written takes 20 ms longer.
    writeFileSync(
      disk,
      `const fs = require('node:fs');
      const { setTimeout: sleep } = require('node:timers/promises');
      const { open } = fs.promises;
      fs.promises.open = async (...given) => {
        const handle = await open(...given);
        for (const name of ['write', 'writev']) {
          const written = handle[name].bind(handle);
          handle[name] = async (...bytes) => (await sleep(20), written(...bytes));
        }
        return handle;
      };`,
    );
    // 64 MB of doubles that do not compress, of which 32 MiB stay in memory.
    const script = `
      const t = require(${JSON.stringify(entry)});
      const columns = ['y', 'a', 'b', 'c'].map((name) => ({ name, type: 'number' }));
      async function main() {
        const where = ${JSON.stringify(file('noise.arrows'))};
        const { RecordBatchStreamWriter, makeData, Field, Float64, RecordBatch, Schema, Struct } = require('apache-arrow');
        const schema = new Schema(columns.map(({ name }) => new Field(name, new Float64(), false)));
        const writer = new RecordBatchStreamWriter();
        const out = writer.toNodeStream().pipe(require('node:fs').createWriteStream(where));
        for (let b = 0; b < 100; b++) {
          const children = columns.map(() => makeData({ type: new Float64(), data: Float64Array.from({ length: 20000 }, Math.random) }));
          writer.write(new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 20000, nullCount: 0, children })));
        }
        writer.finish();
        await require('node:events').once(out, 'finish');
        const source = await t.openTableFile(where);
        const { x, y } = await t.encodeTrainSet(source, await t.profileTable(source, { target: 'y' }), { target: 'y' });
        const { parquetMetadata } = await import('hyparquet');
        const rowsOf = async (file) => {
          const pieces = [];
          for await (const piece of file.open()) pieces.push(piece);
          return Number(parquetMetadata(new Uint8Array(Buffer.concat(pieces)).buffer).num_rows);
        };
        console.log(JSON.stringify([await rowsOf(x), await rowsOf(y)]));
        await Promise.all([x.dispose(), y.dispose()]);
        await t.closeEncoder();
      }
      main();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--require', disk, '-e', script], {
      timeout: 280_000,
      cwd: __dirname,
    });
    assert.deepEqual(JSON.parse(stdout), [2_000_000, 2_000_000]);
  });

  for (const kind of ['csv', 'arrows']) {
    it(`a file (${kind}) of 400 MB is split into X and y in bounded memory`, async () => {
      const where = file(`large.${kind}`);
      const dist = path.resolve(__dirname, '../../dist/src/program-table');
      const script = `
        const fs = require('node:fs');
        const { once } = require('node:events');
        const t = require(${JSON.stringify(dist)});
        const where = ${JSON.stringify(where)};
        const text = 'a sentence of some length that says nothing new '.repeat(8);
        async function csv() {
          const out = fs.createWriteStream(where);
          out.write('id,text,y\\n');
          for (let b = 0; b < 1000; b++) {
            let block = '';
            for (let i = 0; i < 1000; i++) block += b * 1000 + i + ',' + text + i + ',' + (i % 2) + '\\n';
            if (!out.write(block)) await once(out, 'drain');
          }
          out.end();
          await once(out, 'finish');
        }
        async function arrows() {
          const { RecordBatchStreamWriter, makeData, Field, Float64, RecordBatch, Schema, Struct } = require('apache-arrow');
          const schema = new Schema(Array.from({ length: 50 }, (_, i) => new Field(i === 0 ? 'y' : 'm' + i, new Float64(), false)));
          const writer = new RecordBatchStreamWriter();
          const out = writer.toNodeStream().pipe(fs.createWriteStream(where));
          const data = Float64Array.from({ length: 20000 }, (_, i) => i % 10);
          const children = schema.fields.map(() => makeData({ type: new Float64(), data }));
          for (let b = 0; b < 50; b++) {
            writer.write(new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 20000, nullCount: 0, children })));
            await new Promise((resolve) => setImmediate(resolve));
          }
          writer.finish();
          await once(out, 'finish');
        }
        const main = async () => {
          if (process.argv[1] === 'make') return ${kind}();
          const one = await t.openTable([{ a: 1, y: 2 }]);
          const warm = await t.encodeTrainSet(one, await t.profileTable(one, { target: 'y' }), { target: 'y' });
          await Promise.all([warm.x.dispose(), warm.y.dispose()]);
          const idle = process.memoryUsage().rss;
          let most = 0;
          const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5);
          const source = await t.openTableFile(where);
          const profile = await t.profileTable(source, { target: 'y' });
          const { x, y } = await t.encodeTrainSet(source, profile, { target: 'y' });
          clearInterval(timer);
          await Promise.all([x.dispose(), y.dispose()]);
          await t.closeEncoder();
          console.log(JSON.stringify({ rows: x.rows, megabytes: Math.round((most - idle) / 2 ** 20) }));
        };
        main();`;
      const run = (what: string) =>
        promisify(execFile)(process.execPath, ['-e', script, what], { timeout: 280_000, cwd: __dirname });
      await run('make');
      assert.ok(statSync(where).size > 390e6, `${statSync(where).size} bytes`);
      const { rows, megabytes } = JSON.parse((await run('read')).stdout) as {
        rows: number;
        megabytes: number;
      };
      assert.equal(rows, 1_000_000);
      assert.ok(megabytes < 300, `${megabytes} MB above idle`);
      rmSync(where);
    });
  }
});
