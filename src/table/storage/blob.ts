import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readFully, writeAll } from '../../util/files';
import { ServiceError } from '../../wire/service-error';
import { storageError, unreadable } from './table-file';

/** What parquet-wasm asks of a Blob: its size and the bytes of a range. */
export interface BlobLike {
  readonly size: number;
  slice(start?: number, end?: number): BlobLike;
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** Bytes of a table by their place. */
export interface Bytes {
  readonly size: number;
  /** Not copied where they are in memory. Errors: `file.unreadable`. */
  bytes(start: number, end: number): Promise<Uint8Array>;
}

/** A range of a file on disk as a Blob. */
export class FileBlob implements BlobLike, Bytes {
  constructor(
    private readonly file: FileHandle,
    readonly size: number,
    readonly path: string,
    private readonly start = 0,
  ) {}

  slice(start = 0, end = this.size): FileBlob {
    return new FileBlob(this.file, Math.min(end, this.size) - start, this.path, this.start + start);
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = new Uint8Array(this.size);
    if ((await readFully(this.file, bytes, this.start)) < this.size) {
      throw new ServiceError('file.unreadable', `The file "${this.path}" became shorter while it was read.`);
    }
    return bytes.buffer;
  }

  async bytes(start: number, end: number): Promise<Uint8Array> {
    try {
      return new Uint8Array(await this.slice(start, end).arrayBuffer());
    } catch (error) {
      throw unreadable(this.path, error);
    }
  }
}

/** Bytes, also in shared memory, as a Blob. */
export class BytesBlob implements BlobLike, Bytes {
  constructor(private readonly all: Uint8Array) {}

  get size(): number {
    return this.all.length;
  }

  slice(start = 0, end = this.size): BytesBlob {
    return new BytesBlob(this.all.subarray(start, end));
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return Promise.resolve(new Uint8Array(this.all).buffer);
  }

  bytes(start: number, end: number): Promise<Uint8Array> {
    return Promise.resolve(this.all.subarray(start, end));
  }
}

/** Where a block lies in its store. */
export interface Place {
  offset: number;
  bytes: number;
}

interface BlockStoreOptions {
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
