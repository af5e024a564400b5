import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';

import { NO_FOLLOW, streamOwnFile, writeAll } from '../../../util/files';
import type { DiskAccount } from './disk-account';

/** Bytes that are hashed at a time: a millisecond of the thread. */
const DIGEST_BYTES = 512 * 1024;

/** Where the bytes of one file of an upload go. */
export interface PartStore {
  /** Opens it for the bytes of one PUT. */
  open(): Promise<PartHandle>;
  /** Gives up what is there. */
  remove(): Promise<void>;
  /** Makes what is there survive a power cut. */
  sync(): Promise<void>;
  /** The SHA-256 of what is there. */
  sha256(): Promise<Uint8Array>;
  /** The upload is complete, or its files are gone: their bytes are counted elsewhere, or not at all. */
  settle(): void;
}

interface PartHandle {
  /** Writes all of the bytes. @throws as the file system does, `ENOSPC` among others; Refusal 503 over the size cap */
  write(data: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file on disk.
 *
 * @param file its path, asked for when the first byte comes
 * @param whole a PUT replaces what an earlier one left; else it writes at its own place between the others
 * @param account counts its bytes until it is settled
 */
export function fileStore(file: () => string, whole: boolean, account: DiskAccount): PartStore {
  const { O_CREAT, O_RDWR, O_TRUNC } = constants;
  /** Bytes on disk from each place where a PUT begins. */
  const extents = new Map<number, number>();
  const settle = (): void => {
    for (const bytes of extents.values()) {
      account.give(bytes);
    }
    extents.clear();
  };
  const count = (start: number, end: number): void => {
    const known = extents.get(start) ?? 0;
    if (end - start > known) {
      account.take(end - start - known);
      extents.set(start, end - start);
    }
  };
  return {
    async open() {
      const handle = await open(file(), O_CREAT | O_RDWR | NO_FOLLOW | (whole ? O_TRUNC : 0), 0o600);
      if (whole) {
        settle();
      }
      let start: number | undefined;
      return {
        async write(data, position) {
          start ??= position;
          count(start, position + data.length);
          await writeAll(handle, data, position);
          account.written();
        },
        close: () => handle.close(),
      };
    },
    async remove() {
      await rm(file(), { force: true });
      settle();
    },
    async sync() {
      const handle = await open(file(), 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async sha256() {
      const hash = createHash('sha256');
      for await (const data of streamOwnFile(file(), DIGEST_BYTES)) {
        hash.update(data);
      }
      return hash.digest();
    },
    settle,
  };
}

/** A small file in memory: every write wears a memory card. */
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
    sha256: () => Promise.resolve(createHash('sha256').update(content.subarray(0, end)).digest()),
    settle: () => undefined,
    bytes: () => (end === size ? content : content.slice(0, end)),
  };
}
