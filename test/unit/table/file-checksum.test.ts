import assert from 'node:assert/strict';
import { createReadStream } from 'node:fs';
import { open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Worker } from 'node:worker_threads';

import { closeEncoder, type Column, encodeBatches, fileAsIs } from '../../../dist/src/table';
import { crc32c, crc32cToBase64, fileChecksum } from '../../doors/table';
import { rejectsWith, withFolder } from './helpers';

const MiB = 2 ** 20;

/** A file with some text every few million bytes, and nothing in between. */
async function sparse(file: string, bytes: number): Promise<void> {
  const handle = await open(file, 'w');
  try {
    await handle.truncate(bytes);
    for (let at = 0; at < bytes; at += 7_654_321) {
      await handle.write(`here is ${at}`.slice(0, bytes - at), at);
    }
  } finally {
    await handle.close();
  }
}

describe('The checksum of a file on disk', function () {
  this.timeout(30_000);

  for (const bytes of [0, 5, 3 * MiB + 1, 128 * MiB, 150 * MiB + 7]) {
    it(`is that of its bytes in order: ${bytes} of them`, () =>
      withFolder(async (folder) => {
        const file = path.join(folder, 'file');
        await sparse(file, bytes);
        let crc = 0;
        for await (const chunk of createReadStream(file, { highWaterMark: MiB })) {
          crc = crc32c(chunk as Buffer, crc);
        }
        const told: number[] = [];
        const found = await fileChecksum(file, undefined, (part) => told.push(part));
        assert.deepEqual([found.bytes, found.hash], [bytes, crc32cToBase64(crc)]);
        assert.equal(told.at(-1), 1);
        assert.deepEqual(
          told,
          [...told].sort((a, b) => a - b),
        );
        if (bytes > 2 * MiB && bytes < 128 * MiB) {
          assert.ok(told.length > 2, 'told as it goes');
        }
      }));
  }

  it('is taken by the same threads where a Parquet file goes up as it is, in the script of the encoder', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'file');
      const columns: Column[] = [{ name: 'a', type: 'number' }];
      const batch = { rows: 3, columns: [{ type: 'number' as const, values: Float64Array.of(1, 2, 3) }] };
      const written = await encodeBatches(columns, [batch]);
      const bytes = Buffer.concat(await written.open().toArray());
      await written.dispose();
      // Nothing stands between the rows and the footer, whose length is told at the end.
      const footer = bytes.length - 8 - bytes.readUInt32LE(bytes.length - 8);
      const handle = await open(file, 'w');
      try {
        await handle.write(bytes, 0, footer, 0);
        await handle.write(bytes, footer, bytes.length - footer, 128 * MiB);
      } finally {
        await handle.close();
      }
      const found = await fileAsIs(file, columns);
      await closeEncoder();
      assert.deepEqual([found?.rows, found?.hash], [3, (await fileChecksum(file)).hash]);
    }));

  it('ends with an abort, whose reason it throws', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'file');
      await sparse(file, 1000 * MiB);
      const controller = new AbortController();
      const work = fileChecksum(file, controller.signal);
      setTimeout(() => controller.abort(new Error('enough')), 60);
      await assert.rejects(work, /enough/);
    }));

  it('is not taken after an abort', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'file');
      await sparse(file, 200 * MiB);
      await assert.rejects(fileChecksum(file, AbortSignal.abort(new Error('enough'))), /enough/);
      const controller = new AbortController();
      const work = fileChecksum(file, controller.signal);
      controller.abort(new Error('at once'));
      await assert.rejects(work, /at once/);
    }));

  it('ends all threads where one cannot read its part', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'file');
      await sparse(file, 1000 * MiB);
      const workers: Worker[] = [];
      const caught = (worker: Worker): void => {
        workers.push(worker);
        if (workers.length === 1) {
          worker.once('online', () => worker.emit('error', new Error('a bad sector')));
        }
      };
      process.on('worker', caught);
      try {
        await rejectsWith(fileChecksum(file), 'file.unreadable', /a bad sector/);
        assert.ok(workers.length > 1);
        // A thread that has ended has no id.
        assert.ok(workers.every(({ threadId }) => threadId === -1));
      } finally {
        process.off('worker', caught);
        await Promise.all(workers.map((worker) => worker.terminate()));
      }
    }));

  it('is file.unreadable where there is no file, or a folder', () =>
    withFolder(async (folder) => {
      await rejectsWith(fileChecksum(path.join(folder, 'none')), 'file.unreadable', /there is no such file/);
      await writeFile(path.join(folder, 'file'), 'x');
      await rejectsWith(fileChecksum(folder), 'file.unreadable', /cannot be read/);
    }));
});
