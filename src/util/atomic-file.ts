import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import { readOwnFile } from './own-files';

/**
 * Writes a file so that it holds either its old bytes or its new ones, whatever happens in between: to a
 * temporary name in the same folder, then renamed.
 *
 * @param durable also survive a power cut: fsync the file and its folder
 */
export async function writeFileAtomic(
  file: string,
  data: string | Uint8Array,
  durable: boolean,
): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  if (!durable) {
    // Writing a small file without fsync takes microseconds, less than the trip to libuv's threads and back.
    try {
      writeFileSync(temporary, data, { flag: 'wx', mode: 0o600 });
      renameSync(temporary, file);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
    return;
  }
  try {
    const handle = await open(temporary, 'wx', 0o600);
    try {
      await handle.writeFile(data);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
    await syncFolder(path.dirname(file));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** Makes renames inside a folder survive a power cut. Windows cannot open folders and does not need it. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') {
    return;
  }
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Makes a folder, and at most so many of those above it. A whole path that is gone is a disk that is away: what is made
 * in its place would be hidden, or in the way, when it comes back.
 *
 * @param levels folders that may be missing, this one included
 * @throws Error with the code ENOENT where more are
 */
export async function makeFolder(folder: string, levels: number): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && levels > 1) {
      await makeFolder(path.dirname(folder), levels - 1);
      await makeFolder(folder, 1);
    } else if (code !== 'EEXIST') {
      throw error;
    }
  }
}

/**
 * The value of a JSON file of ours; undefined where there is no such file.
 * @throws SyntaxError when it is not JSON, Error `ELOOP` for a link
 */
export async function readJsonFile(file: string): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = await readOwnFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return undefined;
    }
    throw error;
  }
  return JSON.parse(bytes.toString('utf8'));
}
