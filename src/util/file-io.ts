import type { FileHandle } from 'node:fs/promises';

/** Writes all of the bytes: a single write may take fewer. @param position absent: where the file stands */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position?: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const at = position === undefined ? undefined : position + done;
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
    done += bytesWritten;
  }
}

/** Writes all bytes of several pieces, one after the other, where the file stands: in one call, unless that takes fewer. */
export async function writePieces(file: FileHandle, pieces: readonly Uint8Array[]): Promise<void> {
  const { bytesWritten } = await file.writev(pieces);
  if (bytesWritten < pieces.reduce((sum, { length }) => sum + length, 0)) {
    await writeAll(file, Buffer.concat(pieces).subarray(bytesWritten));
  }
}

/**
 * Fills all of `target` from `position` on: a single read may bring fewer bytes.
 *
 * @returns the bytes read, fewer than asked for only where the file ends before
 */
export async function readFully(file: FileHandle, target: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < target.length;) {
    const { bytesRead } = await file.read(target, done, target.length - done, position + done);
    if (bytesRead === 0) {
      return done;
    }
    done += bytesRead;
  }
  return target.length;
}
