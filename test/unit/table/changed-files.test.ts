import assert from 'node:assert/strict';
import { copyFile, open, rename, utimes, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

import { readBatches, readRows } from '../../../dist/src/program-table';
import {
  closeEncoder,
  type Column,
  encodeBatches,
  fileAsIs,
  openTable,
  openTableFile,
} from '../../../dist/src/table';
import { checkAsIs, fileChecksum, userFile } from '../../doors/table';
import { bytesOf, rejectsWith, withFolder } from './helpers';

const MiB = 2 ** 20;
const columns: Column[] = [{ name: 'a', type: 'number' }];
const CHANGED = /was changed while it was/;

/** Writes the numbers from `first` on, as many bytes for any. */
async function write(file: string, first: number, rows: number): Promise<void> {
  const values = Float64Array.from({ length: rows }, (_, i) => first + i + 0.5);
  if (file.endsWith('.arrow')) {
    const { tableFromArrays, tableToIPC } = await import('apache-arrow');
    await writeFile(file, tableToIPC(tableFromArrays({ a: values }), 'file'));
    return;
  }
  const format = file.endsWith('.csv') ? 'csv' : 'parquet';
  const encoded = await encodeBatches(columns, [{ rows, columns: [{ type: 'number', values }] }], { format });
  await writeFile(file, await bytesOf(encoded));
  await encoded.dispose();
}

describe('A file on disk that changes while it is read', function () {
  this.timeout(20_000);
  after(() => closeEncoder());

  for (const name of ['a.csv', 'a.parquet', 'a.arrow']) {
    it(`(${name}) between two looks, or during one, is file.unreadable`, () =>
      withFolder(async (folder) => {
        const file = path.join(folder, name);
        await write(file, 100_000, 50_000);
        const read = async (change?: () => Promise<void>): Promise<number> => {
          let rows = 0;
          for await (const batch of readBatches(source, columns, { maxRows: 1000 })) {
            if (rows === 0) {
              await change?.();
            }
            rows += batch.rows;
          }
          return rows;
        };
        let source = await openTableFile(file);
        assert.equal(await read(), 50_000);
        assert.equal((await readRows(source)).length, 50_000);
        await rejectsWith(
          read(() => write(file, 200_000, 50_000)),
          'file.unreadable',
          CHANGED,
        );
        await rejectsWith(read(), 'file.unreadable', CHANGED);
        await rejectsWith(readRows(source), 'file.unreadable', CHANGED);
        // A file that takes the place of another, with the same time and size.
        source = await openTableFile(file);
        assert.equal(await read(), 50_000);
        await copyFile(file, `${file}.new`);
        const then = new Date(1e12);
        await utimes(file, then, then);
        source = await openTableFile(file);
        await utimes(`${file}.new`, then, then);
        await rename(`${file}.new`, file);
        await rejectsWith(read(), 'file.unreadable', CHANGED);
      }));
  }

  it('does not go up as it is, by the table that was opened from it', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'a.parquet');
      await write(file, 1, 10);
      const source = await openTableFile(file);
      assert.equal((await fileAsIs(source, columns))?.rows, 10);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await write(file, 2, 10);
      await rejectsWith(fileAsIs(source, columns), 'file.unreadable', CHANGED);
      assert.equal((await fileAsIs(file, columns))?.rows, 10);
      assert.equal(await fileAsIs(await openTable([{ a: 1 }]), columns), undefined);
    }));

  it('does not go up as it is where its checksum is that of another file', () =>
    withFolder(async (folder) => {
      const file = path.join(folder, 'a.parquet');
      await write(file, 1, 10);
      await write(path.join(folder, 'b.parquet'), 1, 20);
      const checksums = createRequire(__filename)('../../../dist/src/table/storage/file-checksum') as {
        fileChecksum: typeof fileChecksum;
      };
      const real = checksums.fileChecksum;
      checksums.fileChecksum = async (...given) => {
        await rename(path.join(folder, 'b.parquet'), file);
        return real(...given);
      };
      try {
        await rejectsWith(checkAsIs({ kind: 'path', path: file }, columns), 'file.unreadable', CHANGED);
      } finally {
        checksums.fileChecksum = real;
      }
    }));

  for (const bytes of [8 * MiB, 1000]) {
    it(`is never sent whole under the checksum of what it was (${bytes} bytes)`, () =>
      withFolder(async (folder) => {
        const where = path.join(folder, 'u.bin');
        await writeFile(where, Buffer.alloc(bytes, 1));
        const file = userFile(where, 'parquet', { ...(await fileChecksum(where)), rows: 1 });
        assert.equal((await bytesOf(file)).length, bytes);
        let sent = 0;
        const send = async (): Promise<void> => {
          for await (const piece of file.open()) {
            if (sent === 0 && bytes > MiB) {
              const handle = await open(where, 'r+');
              await handle.write(Buffer.alloc(10, 2), 0, 10, bytes - 10);
              await handle.close();
            }
            sent += (piece as Buffer).length;
          }
        };
        if (bytes < MiB) {
          await utimes(where, new Date(), new Date(1e12));
        }
        await rejectsWith(send(), 'file.unreadable', CHANGED);
        assert.ok(sent < bytes, `${sent} bytes`);
      }));
  }
});
