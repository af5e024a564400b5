import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readFully, writeAll } from '../../util/files';
import { storageError } from './sink';

/** Where a block lies in its store. */
export interface Place {
  offset: number;
  bytes: number;
}

export interface BlockStoreOptions {
  /** Bytes that stay in memory; default 0. */
  memoryBytes?: number;
  /**
   * Makes the path of the file for the rest. Without it the file is unlinked as soon as it is open, so that nothing
   * is left behind however the thread or the process ends.
   */
  newPath?: () => string;
}

/** Blocks of bytes, one after the other: in memory up to a limit, all of them in a temporary file beyond it. */
export class BlockStore {
  /** Of the file, once there is one that has a name. */
  path: string | undefined;
  private readonly inMemory = new Map<number, Uint8Array>();
  private size = 0;
  private file: FileHandle | undefined;

  constructor(private readonly options: BlockStoreOptions = {}) {}

  /** Not to be called again before it has resolved. Errors: `storage.failed`. */
  async append(block: Uint8Array): Promise<Place> {
    const place = { offset: this.size, bytes: block.length };
    if (this.file === undefined && this.size + block.length <= (this.options.memoryBytes ?? 0)) {
      this.inMemory.set(place.offset, block);
    } else {
      await this.writeToFile(block);
    }
    this.size += block.length;
    return place;
  }

  /** Errors: `storage.failed`. */
  async read({ offset, bytes }: Place): Promise<Uint8Array> {
    if (this.file === undefined) {
      return this.inMemory.get(offset)!;
    }
    const block = new Uint8Array(bytes);
    try {
      if ((await readFully(this.file, block, offset)) < bytes) {
        throw new Error('it was cut off');
      }
    } catch (error) {
      throw storageError(error);
    }
    return block;
  }

  /** All blocks joined, while none of them is in a file. */
  memory(): Buffer {
    return Buffer.concat([...this.inMemory.values()]);
  }

  async dispose(): Promise<void> {
    const { file, path } = this;
    this.file = undefined;
    this.inMemory.clear();
    await file?.close();
    if (path !== undefined) {
      await rm(path, { force: true });
    }
  }

  private async writeToFile(block: Uint8Array): Promise<void> {
    try {
      this.file ??= await this.openFile();
      for (const [offset, earlier] of this.inMemory) {
        await writeAll(this.file, earlier, offset);
      }
      this.inMemory.clear();
      await writeAll(this.file, block, this.size);
    } catch (error) {
      throw storageError(error, this.size);
    }
  }

  private async openFile(): Promise<FileHandle> {
    this.path ??= this.options.newPath?.();
    const path = this.path ?? join(tmpdir(), `tabular-blocks-${randomUUID()}`);
    const file = await open(path, 'wx+', 0o600);
    if (this.path === undefined) {
      await rm(path, { force: true });
    }
    return file;
  }
}
