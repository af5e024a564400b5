import type { FileHandle } from 'node:fs/promises';

import { readFully } from '../../util/files';
import { openRegular } from './open-regular';

/** Bytes per piece: smaller ones cost more system calls, larger ones are no faster (measured on uploads). */
const PIECE = 1024 * 1024;
/** Reads in flight while a piece is being sent; a Node stream waits for disk and socket in turn. */
const AHEAD = 2;

/**
 * The bytes `start` to `end` (exclusive) of a file in pieces of 1 MiB, the next two already being read. A file that
 * has become shorter ends early.
 */
export async function* readAhead(path: string, start: number, end: number): AsyncGenerator<Buffer, void> {
  const file = await openRegular(path);
  const reads: Promise<Buffer>[] = [];
  let at = start;
  const begin = (): void => {
    if (at >= end) {
      return;
    }
    const length = Math.min(PIECE, end - at);
    const read = pieceOf(file, at, length);
    // A failure waits for its turn.
    read.catch(() => undefined);
    reads.push(read);
    at += length;
  };
  try {
    for (let i = 0; i < AHEAD; i++) {
      begin();
    }
    for (let piece = reads.shift(); piece !== undefined; piece = reads.shift()) {
      const bytes = await piece;
      begin();
      if (bytes.length > 0) {
        yield bytes;
      }
    }
  } finally {
    await Promise.allSettled(reads);
    await file.close();
  }
}

async function pieceOf(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafeSlow(length);
  return piece.subarray(0, await readFully(file, piece, at));
}
