import type { FileHandle } from 'node:fs/promises';

import { readFully } from '../../util/files';
import { ServiceError } from '../../wire/service-error';
import { unreadable } from './file-version';

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
