import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { readBatches } from '../../../dist/src/program-table';
import {
  closeEncoder,
  type Column,
  encodeBatches,
  openTable,
  openTableFile,
  TableSpool,
} from '../../../dist/src/table';
import { Sink } from '../../doors/table';
import { garbageCollector } from '../../helpers/garbage';
import { longTexts } from '../../helpers/parquet-bombs';
import { waitFor } from '../../helpers/wait';
import { bytesOf, tempFiles, withFolder } from './helpers';

/** Counts the threads that are started from now on. */
function countThreads(): { started: number; stop(): void } {
  const count = { started: 0, stop: () => unsubscribe('worker_threads', onThread) };
  const onThread = (): void => {
    count.started += 1;
  };
  subscribe('worker_threads', onThread);
  return count;
}

describe('The bounds of memory', () => {
  after(() => closeEncoder());

  it('row groups are written of 20,000 rows', async () => {
    const columns: Column[] = [{ name: 'a', type: 'integer' }];
    const rows = Array.from({ length: 45_000 }, (_, a) => ({ a }));
    const file = await encodeBatches(columns, readBatches(await openTable(rows), columns));
    const { parquetMetadata } = await import('hyparquet');
    const { row_groups: groups } = parquetMetadata(new Uint8Array(await bytesOf(file)).buffer);
    assert.deepEqual(
      groups.map(({ num_rows }) => Number(num_rows)),
      [20_000, 20_000, 5_000],
    );
    await file.dispose();
  });

  it('a spool keeps back half a mebibyte of small parts, whatever their number', async () => {
    const spool = new TableSpool({ memoryBytes: 1 });
    const append = async (parts: number): Promise<void> => {
      for (let part = 0; part < parts; part++) {
        await spool.append({ text: 'x'.repeat(16 * 1024) });
      }
    };
    await append(20);
    assert.equal((await tempFiles()).length, 0, '320 KB are written out already');
    await append(20);
    assert.equal((await tempFiles()).length, 1, '640 KB are still in memory');
    await spool.dispose();
  });

  it('a file keeps what fits into its part of memory, and nothing of what went to disk', () =>
    withFolder(async (folder) => {
      const MEBIBYTE = 2 ** 20;
      const collectGarbage = garbageCollector();
      const held = (): number => {
        collectGarbage();
        return process.memoryUsage().arrayBuffers / MEBIBYTE;
      };
      const before = held();
      const sink = new Sink({ path: path.join(folder, 'large'), limit: 4 * MEBIBYTE });
      const write = async (mebibytes: number): Promise<void> => {
        for (let i = 0; i < mebibytes; i++) {
          await sink.write(Buffer.alloc(MEBIBYTE));
        }
      };
      await write(4);
      assert.deepEqual(await readdir(folder), []);
      await write(28);
      await waitFor('memory that holds nothing of it', () => held() - before < 1);
      await sink.discard();
    }));

  it('a thread whose WebAssembly has grown beyond 256 MiB ends; a smaller one is kept', () =>
    withFolder(async (folder) => {
      const columns: Column[] = [{ name: 'c1', type: 'text' }];
      const read = async (mebibytes: number): Promise<void> => {
        const file = path.join(folder, 'texts.parquet');
        await writeFile(file, longTexts(1, mebibytes));
        for await (const { rows } of readBatches(await openTableFile(file), columns)) {
          assert.ok(rows > 0);
        }
      };
      await read(1);
      const threads = countThreads();
      try {
        await read(30);
        await read(1);
        assert.equal(threads.started, 0, 'a thread of some 100 MiB was given up');
        await read(90);
        await read(1);
        assert.equal(threads.started, 1, 'a thread of more than 256 MiB was kept');
      } finally {
        threads.stop();
      }
    }));
});
