import { type FileHandle, open, rm } from 'node:fs/promises';

import { storageError } from './sink';
import { newTempPath } from './temp-folder';

/** Bytes in order: in memory, and in a temporary file from the moment that they are too many. */
export class ByteStore {
  path: string | undefined;
  private chunks: Buffer[] = [];
  private readonly byStart = new Map<number, Buffer>();
  private size = 0;
  private file: FileHandle | undefined;

  constructor(private readonly limit: number) {}

  /** Answers where the bytes begin. Errors: `storage.failed`. */
  async append(bytes: Buffer): Promise<number> {
    const offset = this.size;
    if (this.file === undefined && offset + bytes.length <= this.limit) {
      this.byStart.set(offset, bytes);
      this.chunks.push(bytes);
    } else {
      await this.writeToFile(bytes);
    }
    this.size += bytes.length;
    return offset;
  }

  async read(offset: number, bytes: number): Promise<Buffer> {
    if (this.file === undefined) {
      return this.byStart.get(offset)!;
    }
    const buffer = Buffer.allocUnsafe(bytes);
    try {
      for (let at = 0; at < bytes;) {
        const { bytesRead } = await this.file.read(buffer, at, bytes - at, offset + at);
        if (bytesRead === 0) {
          throw new Error('it was cut off');
        }
        at += bytesRead;
      }
    } catch (error) {
      throw storageError(error);
    }
    return buffer;
  }

  memory(): Buffer {
    return Buffer.concat(this.chunks);
  }

  async dispose(): Promise<void> {
    const { file, path } = this;
    this.file = undefined;
    this.chunks = [];
    this.byStart.clear();
    await file?.close();
    if (path !== undefined) {
      await rm(path, { force: true });
    }
  }

  private async writeToFile(bytes: Buffer): Promise<void> {
    try {
      if (this.file === undefined) {
        this.path ??= newTempPath('spool');
        this.file = await open(this.path, 'w+', 0o600);
        await writeAll(this.file, Buffer.concat(this.chunks), 0);
        this.chunks = [];
        this.byStart.clear();
      }
      await writeAll(this.file, bytes, this.size);
    } catch (error) {
      throw storageError(error, this.size);
    }
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}
