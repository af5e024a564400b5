import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

import { crc32c } from './crc32c';

/* A thread for the checksum of one part of a large file. It may block: it does nothing else. */

export interface ChecksumPart {
  path: string;
  start: number;
  /** Exclusive. */
  end: number;
  /** In shared memory, one number: buffers of a MiB that all parts have read so far. */
  reached: Int32Array;
}

/** Bytes read before the end of the part or of the file, and their CRC32C; or why the file cannot be read. */
export type PartChecksum =
  | { bytes: number; crc: number }
  | { error: { code: string | undefined; message: string } };

const BUFFER = 1024 * 1024;

function checksum({ path, start, end, reached }: ChecksumPart): PartChecksum {
  const buffer = Buffer.allocUnsafeSlow(BUFFER);
  const file = openSync(path, 'r');
  let crc = 0;
  let at = start;
  try {
    while (at < end) {
      const read = readSync(file, buffer, 0, Math.min(BUFFER, end - at), at);
      if (read === 0) {
        break;
      }
      crc = crc32c(buffer.subarray(0, read), crc);
      at += read;
      Atomics.add(reached, 0, 1);
    }
  } finally {
    closeSync(file);
  }
  return { bytes: at - start, crc };
}

function answer(): PartChecksum {
  try {
    return checksum(workerData as ChecksumPart);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { error: { code, message } };
  }
}

parentPort!.postMessage(answer());
