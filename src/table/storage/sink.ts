import { type FileHandle, open, rm } from 'node:fs/promises';

import { writePieces } from '../../util/files';
import { ServiceError } from '../../wire/service-error';
import { crc32c, crc32cToBase64 } from './crc32c';

/** A file stays in memory up to this size. */
const MEMORY_LIMIT = 32 * 1024 * 1024;

/** Where a file too large for memory goes, or why there is no such place. */
export interface Spill {
  path?: string;
  problem?: string;
  /** Bytes that stay in memory; default 32 MiB. */
  limit?: number;
}

/** A finished file: its bytes in memory, or the path of a temporary file. */
export interface Written {
  bytes: number;
  hash: string;
  data?: Uint8Array<ArrayBuffer>;
  path?: string;
}

/** Takes the bytes of a file in order, with their CRC32C: into memory first, beyond the limit into a file. */
export class Sink {
  private chunks: Uint8Array[] = [];
  private bytes = 0;
  private checksum = 0;
  private file: FileHandle | undefined;
  private pending: Promise<void> = Promise.resolve();

  constructor(private readonly spill: Spill) {}

  /** Resolves when the bytes are in memory, where they stay as they are, or written. Errors: `storage.failed`. */
  write(...chunks: Uint8Array[]): Promise<void> {
    this.pending = this.pending.then(() => this.take(chunks));
    return this.pending;
  }

  async finish(): Promise<Written> {
    await this.pending;
    const result = { bytes: this.bytes, hash: crc32cToBase64(this.checksum) };
    if (this.file === undefined) {
      return { ...result, data: joined(this.chunks, this.bytes) };
    }
    const { file } = this;
    this.file = undefined;
    await this.storing(() => file.close());
    return { ...result, path: this.spill.path };
  }

  /** Gives up: closes and removes what was written. */
  async discard(): Promise<void> {
    await this.pending.catch(() => undefined);
    this.chunks = [];
    const { file } = this;
    this.file = undefined;
    await file?.close().catch(() => undefined);
    if (this.spill.path !== undefined) {
      await rm(this.spill.path, { force: true }).catch(() => undefined);
    }
  }

  private async take(chunks: readonly Uint8Array[]): Promise<void> {
    for (const chunk of chunks) {
      this.checksum = crc32c(chunk, this.checksum);
      this.bytes += chunk.length;
    }
    if (this.file === undefined && this.bytes <= (this.spill.limit ?? MEMORY_LIMIT)) {
      this.chunks.push(...chunks);
      return;
    }
    await this.storing(async () => {
      if (this.file === undefined) {
        this.file = await this.openFile();
        await writePieces(this.file, this.chunks);
        this.chunks = [];
      }
      await writePieces(this.file, chunks);
    });
  }

  private async openFile(): Promise<FileHandle> {
    const { path, problem } = this.spill;
    if (path === undefined) {
      throw new ServiceError('storage.failed', problem ?? 'There is no folder for temporary files.');
    }
    return open(path, 'w', 0o600);
  }

  private async storing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw storageError(error, this.bytes);
    }
  }
}

/** The chunks in one buffer of their own, which can be transferred. */
function joined(chunks: readonly Uint8Array[], bytes: number): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    data.set(chunk, at);
    at += chunk.length;
  }
  return data;
}

/** What went wrong in storing a temporary file, as a sentence. */
export function storageError(error: unknown, bytes?: number): ServiceError {
  if (error instanceof ServiceError) {
    return error;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    const after = bytes === undefined ? '' : ` after ${Math.ceil(bytes / 2 ** 20)} MiB`;
    return new ServiceError(
      'storage.failed',
      `The disk with the temporary folder is full${after}. Free some space, or set TMPDIR to a folder on a larger disk.`,
    );
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new ServiceError(
      'storage.failed',
      `The temporary folder cannot be written (${code}). Set TMPDIR to a folder that Node-RED may write to.`,
    );
  }
  return new ServiceError('storage.failed', `A temporary file could not be written: ${message}.`);
}
