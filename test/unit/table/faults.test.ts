import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';

import { encodeTrainSet, profileTable, readBatches } from '../../../dist/src/program-table';
import {
  closeEncoder,
  type Column,
  encodeBatches,
  openTable,
  openTableFile,
  TableSpool,
  warmEncoder,
} from '../../../dist/src/table';
import { Sink } from '../../doors/table';
import { watchLoop } from '../../helpers/loop-holds';
import { bytesOf, readByHyparquet, rejectsWith, tempFiles, withFolder } from './helpers';

const ROWS = 100_000;
const TEXT_BYTES = 300;

/** Rows whose text does not compress, so that their file is larger than what stays in memory. */
function manyRows(count: number): Record<string, unknown>[] {
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const noise = randomBytes(count * TEXT_BYTES);
  return Array.from({ length: count }, (_, i) => ({
    i,
    a: random(),
    b: random(),
    e: random(),
    f: random(),
    g: random(),
    c: noise.toString('base64', i * TEXT_BYTES, (i + 1) * TEXT_BYTES),
    y: i % 2 === 0,
  }));
}

/** The encoder thread, caught when it is sent the next message. */
function catchWorker(onMessage: (worker: Worker) => void): () => void {
  // oxlint-disable-next-line typescript/unbound-method -- called with its object below
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (this: Worker, ...message) {
    postMessage.apply(this, message);
    onMessage(this);
  };
  return () => {
    Worker.prototype.postMessage = postMessage;
  };
}

describe('Encoding large tables', function () {
  this.timeout(60_000);
  let rows: Record<string, unknown>[];

  before(() => {
    rows = manyRows(ROWS);
  });

  after(async () => {
    await closeEncoder();
    rows = [];
  });

  it('keeps the event loop free, and a large file on disk until it is disposed of', async () => {
    const source = await openTable(rows);
    await encodeTrainSet(await openTable(rows.slice(0, 5000)), await profileTable(source, { target: 'y' }), {
      target: 'y',
    });
    const holds = watchLoop();
    const profile = await profileTable(source, { target: 'y' });
    const { x, y } = await encodeTrainSet(source, profile, { target: 'y' });
    const { longest, percentile } = holds();
    assert.ok(longest < 250, `the event loop was held for ${longest} ms`);
    assert.ok(percentile(95) < 60, `95 % of the turns took up to ${percentile(95)} ms`);
    assert.ok(x.bytes > 32 * 1024 * 1024, `${x.bytes} bytes`);
    assert.equal((await tempFiles()).length, 1);
    const back = await readByHyparquet(await bytesOf(x));
    assert.equal(back.rows.length, rows.length);
    assert.deepEqual(back.rows[ROWS - 1], [
      BigInt(ROWS - 1),
      rows[ROWS - 1]!['a'],
      rows[ROWS - 1]!['b'],
      rows[ROWS - 1]!['e'],
      rows[ROWS - 1]!['f'],
      rows[ROWS - 1]!['g'],
      rows[ROWS - 1]!['c'],
    ]);
    await Promise.all([x.dispose(), y.dispose()]);
    assert.deepEqual(await tempFiles(), []);
  });

  it('stops at once on abort, and leaves no file', async () => {
    const source = await openTable(rows.slice(0, 60_000));
    const profile = await profileTable(source, { target: 'y' });
    for (const rowsBefore of [0, 20_000, 50_000]) {
      const controller = new AbortController();
      const reason = new Error('enough');
      const stop = (done: number): void => {
        if (done >= rowsBefore) {
          controller.abort(reason);
        }
      };
      if (rowsBefore === 0) {
        controller.abort(reason);
      }
      const started = encodeTrainSet(source, profile, {
        target: 'y',
        signal: controller.signal,
        onProgress: stop,
      });
      await assert.rejects(started, reason);
      assert.deepEqual(await tempFiles(), []);
    }
    const controller = new AbortController();
    const profiled = profileTable(source, { signal: controller.signal, onRead: () => controller.abort() });
    await assert.rejects(profiled, { name: 'AbortError' });
  });

  for (const stopAt of [1, 6, 12]) {
    it(`ends the reader too where it ends early (at batch ${stopAt})`, async () => {
      const columns: Column[] = [{ name: 'a', type: 'number' }];
      const controller = new AbortController();
      let ended = false;
      async function* read() {
        try {
          for (let at = 0; at < 50; at++) {
            if (at === stopAt) {
              controller.abort(new Error('enough'));
              await new Promise((resolve) => setTimeout(resolve, 50));
            }
            yield {
              rows: 200_000,
              columns: [{ type: 'number' as const, values: new Float64Array(200_000) }],
            };
          }
        } finally {
          ended = true;
        }
      }
      await assert.rejects(encodeBatches(columns, read(), { signal: controller.signal }), /enough/);
      assert.ok(ended, 'the reader is left open');
      assert.deepEqual(await tempFiles(), []);
    });
  }

  /*
   * A process of Node.js aborts ("close before init") where one of its threads is ended just between making a stream of
   * zlib and its init. The product ends none at work but one that has been silent for minutes; here many are.
   */
  const plain = { target: 'y', compress: false };

  it('does it again where the encoder thread ended, once; then it is an error', async () => {
    const source = await openTable(rows.slice(0, 30_000));
    const profile = await profileTable(source, { target: 'y' });
    let kills = 1;
    let messages = 0;
    const killed = new Set<Worker>();
    const release = catchWorker((worker) => {
      // It takes some more messages until it has ended.
      if (++messages % 4 === 0 && kills > 0 && !killed.has(worker)) {
        kills--;
        killed.add(worker);
        void worker.terminate();
      }
    });
    try {
      const { x, y } = await encodeTrainSet(source, profile, plain);
      assert.equal(kills, 0);
      assert.equal((await readByHyparquet(await bytesOf(y))).rows.length, 30_000);
      assert.equal(x.rows, 30_000);
      kills = 2;
      await rejectsWith(
        encodeTrainSet(source, profile, plain),
        'internal',
        /thread that encodes tables ended.*exit code/,
      );
      assert.equal(kills, 0);
      // The next table finds a new thread.
      await encodeTrainSet(source, profile, plain);
    } finally {
      release();
    }
    assert.deepEqual(await tempFiles(), []);
  });

  it('reads a file again where the encoder thread ended under it', () =>
    withFolder(async (folder) => {
      const where = path.join(folder, 'a.csv');
      await writeFile(
        where,
        `a,y\n${Array.from({ length: 200_000 }, (_, i) => `${i},${i % 3}`).join('\n')}\n`,
      );
      const source = await openTableFile(where);
      let kills = 1;
      const release = catchWorker((worker) => {
        if (kills-- > 0) {
          setTimeout(() => void worker.terminate(), 30);
        }
      });
      try {
        const profile = await profileTable(source, { target: 'y' });
        assert.equal(profile.rows, 200_000);
        kills = 1;
        const { y } = await encodeTrainSet(source, profile, plain);
        assert.equal((await readByHyparquet(await bytesOf(y))).rows.length, 200_000);
        const controller = new AbortController();
        const aborted = encodeTrainSet(source, profile, { target: 'y', signal: controller.signal });
        setTimeout(() => controller.abort(), 30);
        await assert.rejects(aborted, { name: 'AbortError' });
      } finally {
        release();
      }
      assert.deepEqual(await tempFiles(), []);
    }));

  it('fails what is under way when it is closed', async () => {
    const source = await openTable(rows);
    const profile = await profileTable(source, { target: 'y' });
    const work = encodeTrainSet(source, profile, { target: 'y', onProgress: () => void closeEncoder() });
    await rejectsWith(work, 'closed', /closed/);
    assert.deepEqual(await tempFiles(), []);
  });

  it('says that the temporary folder cannot be used, only where it is needed', async () => {
    await closeEncoder();
    const before = process.env['TMPDIR'];
    await withFolder(async (folder) => {
      const file = path.join(folder, 'file');
      await writeFile(file, '');
      process.env['TMPDIR'] = file;
      try {
        assert.equal(tmpdir(), file);
        const columns: Column[] = [{ name: 'c', type: 'text' }];
        const small = await openTable(rows.slice(0, 10));
        assert.equal((await encodeBatches(columns, readBatches(small, columns))).rows, 10);
        const source = await openTable(rows);
        const profile = await profileTable(source, { target: 'y' });
        await rejectsWith(
          encodeTrainSet(source, profile, { target: 'y' }),
          'storage.failed',
          /temporary file/,
        );
      } finally {
        process.env['TMPDIR'] = before ?? '';
        if (before === undefined) {
          delete process.env['TMPDIR'];
        }
      }
    });
  });
});

describe('The temporary folder', () => {
  after(() => closeEncoder());

  it('is private, and those of dead processes are removed', () =>
    withFolder(async (folder) => {
      const before = process.env['TMPDIR'];
      await closeEncoder();
      process.env['TMPDIR'] = folder;
      try {
        const { pid } = spawnSync(process.execPath, ['-e', '0']);
        const names = {
          dead: `tabular-prediction-${pid}-aaaaaa`,
          justDead: `tabular-prediction-${pid}-bbbbbb`,
          alive: `tabular-prediction-${process.ppid}-cccccc`,
          other: 'tabular-prediction-notes',
        };
        const hourAgo = new Date(Date.now() - 3_600_000);
        for (const name of Object.values(names)) {
          await mkdir(path.join(folder, name));
          await writeFile(path.join(folder, name, 'file'), 'x');
          if (name !== names.justDead) {
            await utimes(path.join(folder, name), hourAgo, hourAgo);
          }
        }
        const spool = new TableSpool({ memoryBytes: 1 });
        await spool.append([{ a: 1 }]);
        await spool.finish();
        const left = await readdir(folder);
        assert.deepEqual(
          Object.entries(names)
            .filter(([, name]) => !left.includes(name))
            .map(([kind]) => kind),
          ['dead'],
        );
        const own = left.find((name) => name.startsWith(`tabular-prediction-${process.pid}-`))!;
        assert.equal((await stat(path.join(folder, own))).mode & 0o777, 0o700);
        await spool.dispose();
        await closeEncoder();
        assert.equal((await readdir(folder)).includes(own), false);
      } finally {
        process.env['TMPDIR'] = before ?? '';
        if (before === undefined) {
          delete process.env['TMPDIR'];
        }
      }
    }));
});

describe('The sink of a file', () => {
  // Linux has a device that is always full. By a link, as giving up removes the file.
  (process.platform === 'linux' ? it : () => undefined)('says that the disk is full', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'full');
      await symlink('/dev/full', file);
      const sink = new Sink({ path: file, limit: 10 });
      await sink.write(Buffer.alloc(8));
      await rejectsWith(
        sink.write(Buffer.alloc(8)),
        'storage.failed',
        /disk with the temporary folder is full/,
      );
      await sink.discard();
      assert.deepEqual(await readdir(folder), []);
    }),
  );

  it('removes its file when it gives up', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'x');
      const sink = new Sink({ path: file, limit: 4 });
      await sink.write(Buffer.from('123456789'));
      await sink.discard();
      await assert.rejects(
        import('node:fs/promises').then(({ stat }) => stat(file)),
        { code: 'ENOENT' },
      );
    }));

  it('takes the checksum over memory and file', () =>
    withFolder(async (folder) => {
      const sink = new Sink({ path: path.join(folder, 'x'), limit: 4 });
      for (const part of ['123', '45', '6789']) {
        await sink.write(Buffer.from(part));
      }
      const { bytes, hash, path: written } = await sink.finish();
      assert.deepEqual([bytes, hash, written], [9, '4waSgw==', path.join(folder, 'x')]);
    }));
});

describe('The encoder thread', () => {
  it('refuses what cannot be handed to it, and goes on', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'a.csv');
      await writeFile(file, 'a,b\n1,2\n3,4\n');
      const table = await openTableFile(file);
      const options = { target: 'a', onProgress: () => undefined };
      await rejectsWith(profileTable(table, options), 'validation.failed', /cannot be handed to the thread/);
      assert.equal((await profileTable(table, { target: 'a' })).rows, 2);
    }));

  it('does not keep the process alive', async () => {
    const entry = path.resolve(__dirname, '../../../dist/src/table');
    const script = `const t = require(${JSON.stringify(entry)}); t.warmEncoder();
      t.openTable({ a: 1 }).then((s) => t.encodeBatches([{ name: 'a', type: 'integer' }], s.batches([{ name: 'a', type: 'integer' }])))
        .then((f) => console.log(f.rows));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 15_000 });
    assert.equal(stdout.trim(), '1');
  });

  it('does not keep the process alive where it is warmed and never used', async () => {
    const entry = path.resolve(__dirname, '../../../dist/src/table');
    const script = `require(${JSON.stringify(entry)}).warmEncoder()`;
    await promisify(execFile)(process.execPath, ['-e', script], { timeout: 15_000 });
  });

  it('can be warmed and closed again and again', async () => {
    warmEncoder();
    await closeEncoder();
    warmEncoder();
    warmEncoder();
    await closeEncoder();
    await closeEncoder();
  });
});
