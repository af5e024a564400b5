import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { storageError } from './sink';

/** Where a block stands in its file. */
export interface Place {
  offset: number;
  bytes: number;
}

/**
 * Blocks of bytes in a temporary file that has no name: it is removed as soon as it is open, so that nothing is left
 * of it however the thread or the process ends. Errors: `storage.failed`.
 */
export class BlockFile {
  private size = 0;

  private constructor(private readonly file: FileHandle) {}

  static async create(): Promise<BlockFile> {
    const path = join(tmpdir(), `tabular-blocks-${randomUUID()}`);
    try {
      const file = await open(path, 'wx+', 0o600);
      await rm(path, { force: true });
      return new BlockFile(file);
    } catch (error) {
      throw storageError(error);
    }
  }

  async append(block: Uint8Array): Promise<Place> {
    const place = { offset: this.size, bytes: block.length };
    try {
      for (let at = 0; at < block.length;) {
        const { bytesWritten } = await this.file.write(block, at, block.length - at, this.size + at);
        at += bytesWritten;
      }
    } catch (error) {
      throw storageError(error, this.size);
    }
    this.size += block.length;
    return place;
  }

  async read({ offset, bytes }: Place): Promise<Uint8Array> {
    const block = new Uint8Array(bytes);
    try {
      for (let at = 0; at < bytes;) {
        const { bytesRead } = await this.file.read(block, at, bytes - at, offset + at);
        if (bytesRead === 0) {
          throw new Error('it was cut off');
        }
        at += bytesRead;
      }
    } catch (error) {
      throw storageError(error);
    }
    return block;
  }

  async close(): Promise<void> {
    await this.file.close();
  }
}
