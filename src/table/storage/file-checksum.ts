import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';

import type { ChecksumPart, PartChecksum } from './checksum-worker';
import { combineCrc32c, crc32c, crc32cToBase64 } from './crc32c';
import { type FileVersion, fileVersion, unreadable } from './table-file';

export interface FileChecksum {
  bytes: number;
  hash: string;
  /** Before the first byte was read. */
  version: FileVersion;
}

/** Smaller files are read by this thread: starting others would take as long. */
const PARALLEL_BYTES = 128 * 1024 * 1024;
const MOST_THREADS = 4;
const READ_SIZE = 1024 * 1024;
/** How often the parts are asked how far they are, milliseconds. */
const TELL_MS = 200;

/**
 * The CRC32C of a file on disk. A large one is read in parts by several threads: an upload waits for the checksum,
 * since the service wants to know it before it gives an address. Errors: `file.unreadable`.
 *
 * @param onRead called with how much of the file has been read, 0 to 1
 */
export async function fileChecksum(
  path: string,
  signal?: AbortSignal,
  onRead?: (part: number) => void,
): Promise<FileChecksum> {
  try {
    const version = fileVersion(await stat(path));
    signal?.throwIfAborted();
    const { size } = version;
    const threads = size < PARALLEL_BYTES ? 1 : Math.min(MOST_THREADS, availableParallelism());
    const crc =
      threads === 1
        ? await streamed(path, size, signal, onRead)
        : await inParts({ path, size }, threads, signal, onRead);
    onRead?.(1);
    return { bytes: size, hash: crc32cToBase64(crc), version };
  } catch (error) {
    signal?.throwIfAborted();
    throw unreadable(path, error);
  }
}

async function streamed(
  path: string,
  size: number,
  signal: AbortSignal | undefined,
  onRead: ((part: number) => void) | undefined,
): Promise<number> {
  let crc = 0;
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: READ_SIZE, signal })) {
    crc = crc32c(chunk as Uint8Array, crc);
    bytes += (chunk as Uint8Array).length;
    onRead?.(Math.min(1, bytes / size));
  }
  demand(bytes, size);
  return crc;
}

async function inParts(
  { path, size }: { path: string; size: number },
  threads: number,
  signal: AbortSignal | undefined,
  onRead: ((part: number) => void) | undefined,
): Promise<number> {
  const reached = new Int32Array(new SharedArrayBuffer(4));
  const length = Math.ceil(size / threads);
  const parts = Array.from({ length: threads }, (_, i): ChecksumPart => {
    const start = i * length;
    return { path, start, end: Math.min(size, start + length), reached };
  });
  // The build puts this into the script of the encoder's thread, in a folder beside this one.
  const script = join(__dirname, '..', 'storage', 'checksum-worker.js');
  const workers = parts.map((part) => new Worker(script, { execArgv: [], workerData: part }));
  const stop = (): Promise<unknown> => Promise.all(workers.map((worker) => worker.terminate()));
  const onAbort = (): void => void stop();
  signal?.addEventListener('abort', onAbort, { once: true });
  const telling = setInterval(
    () => onRead?.(Math.min(1, (Atomics.load(reached, 0) * READ_SIZE) / size)),
    TELL_MS,
  );
  try {
    const sums = await Promise.all(workers.map(awaitSum));
    let crc = 0;
    sums.forEach((sum, i) => {
      demand(sum.bytes, parts[i]!.end - parts[i]!.start);
      crc = combineCrc32c(crc, sum.crc, sum.bytes);
    });
    return crc;
  } finally {
    clearInterval(telling);
    signal?.removeEventListener('abort', onAbort);
    // Once one part cannot be read, the others need not go on.
    await stop();
  }
}

function awaitSum(worker: Worker): Promise<{ bytes: number; crc: number }> {
  return new Promise((resolve, reject) => {
    worker.once('message', (sum: PartChecksum) =>
      'error' in sum ? reject(Object.assign(new Error(sum.error.message), sum.error)) : resolve(sum),
    );
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the thread that reads it ended')));
  });
}

function demand(bytes: number, expected: number): void {
  if (bytes !== expected) {
    throw new Error('its size changed while it was read');
  }
}
