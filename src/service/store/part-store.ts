import { constants } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';

/** Where the bytes of one file of an upload go. */
export interface PartStore {
  /** Opens it for the bytes of one PUT. */
  open(): Promise<PartHandle>;
  /** Gives up what is there. */
  remove(): Promise<void>;
  /** Makes what is there survive a power cut. */
  sync(): Promise<void>;
}

export interface PartHandle {
  /** Writes all of the bytes. @throws as the file system does, `ENOSPC` among others */
  write(data: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file on disk.
 *
 * @param file its path, asked for when the first byte comes
 * @param whole a PUT replaces what an earlier one left; else it writes at its own place between the others
 */
export function fileStore(file: () => string, whole: boolean): PartStore {
  const { O_CREAT, O_RDWR, O_TRUNC } = constants;
  return {
    async open() {
      const handle = await open(file(), O_CREAT | O_RDWR | (whole ? O_TRUNC : 0), 0o600);
      return {
        write: (data, position) => writeAll(handle, data, position),
        close: () => handle.close(),
      };
    },
    remove: () => rm(file(), { force: true }),
    async sync() {
      const handle = await open(file(), 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  };
}

/** A disk that runs full takes the first part of a write and says so only by its length. */
async function writeAll(handle: FileHandle, data: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < data.length) {
    const { bytesWritten } = await handle.write(data, done, data.length - done, position + done);
    done += bytesWritten;
  }
}

/** A small file that is kept in memory: a memory card wears with every write. */
export interface MemoryStore extends PartStore {
  /** How many bytes it may hold. */
  readonly size: number;
  /** Its bytes so far. */
  bytes(): Uint8Array;
}

/** @param size how many bytes will come at most */
export function memoryStore(size: number): MemoryStore {
  let content = new Uint8Array(0);
  let end = 0;
  return {
    size,
    open() {
      // What comes from a socket is a piece of a larger buffer, which would be held as a whole.
      content = new Uint8Array(size);
      end = 0;
      return Promise.resolve({
        write(data, position) {
          content.set(data, position);
          end = position + data.length;
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      });
    },
    remove() {
      content = new Uint8Array(0);
      end = 0;
      return Promise.resolve();
    },
    sync: () => Promise.resolve(),
    bytes: () => (end === size ? content : content.slice(0, end)),
  };
}
