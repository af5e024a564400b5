import { createHash, webcrypto } from 'node:crypto';
import { constants, mkdtempSync, readdirSync, rmSync, type Stats, statSync, utimesSync } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';

import { makeFolderSync, readFully, writePieces } from '../../util/files';
import { ServiceError } from '../../wire/service-error';
import type { FileFormat } from '../cells/types';
import { crc32c, crc32cToBase64 } from './crc32c';

/** The state of a file: one that is replaced has another inode, one written in place another time or size. */
export interface FileVersion {
  size: number;
  mtimeMs: number;
  ino: number;
}

export function fileVersion({ size, mtimeMs, ino }: Stats): FileVersion {
  return { size, mtimeMs, ino };
}

function isSameVersion(a: FileVersion, b: FileVersion): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino;
}

/** Throws `file.unreadable` where a file is not the one that was opened first. */
export function demandSame(path: string, expected: FileVersion, found: FileVersion): void {
  if (!isSameVersion(expected, found)) {
    throw new ServiceError(
      'file.unreadable',
      `The file "${path}" was changed while it was read. Give a new table a name of its own, or write it only when the message is done.`,
    );
  }
}

/** Why a file cannot be read, as a sentence. */
export function unreadable(path: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    return error;
  }
  const { code, message } = error as NodeJS.ErrnoException;
  const reason =
    code === 'ENOENT'
      ? 'there is no such file'
      : code === 'EACCES' || code === 'EPERM'
        ? 'Node-RED may not read it'
        : message;
  return new ServiceError('file.unreadable', `The file "${path}" cannot be read: ${reason}.`);
}

/**
 * Opens a file for reading. A named pipe or device is refused before anything is read from it: it may never answer,
 * and would block one of the few threads with which Node reads files. Errors: `file.unreadable` for anything but a regular
 * file, else those of the file system.
 */
export async function openRegular(path: string): Promise<FileHandle> {
  // Without this flag, which Windows lacks, opening a pipe waits for its writer.
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const info = await file.stat();
    if (!info.isFile()) {
      const kind = info.isDirectory() ? 'a folder' : 'a pipe or device';
      throw new ServiceError('file.unreadable', `"${path}" is ${kind}, not a file.`);
    }
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

const PREFIX = 'tabular-prediction-';
const HEARTBEAT_MS = 30_000;
/** A folder whose process is gone is removed after this long without a heartbeat. */
const STALE_MS = 10 * 60_000;

let folder: string | undefined;
let heartbeat: NodeJS.Timeout | undefined;
let files = 0;

/**
 * The path of a new temporary file in this process's own folder, which only its user can read. The folder
 * is made on first use and removed at the end of the process; folders that killed processes left behind are
 * removed then. Errors: `storage.failed`.
 */
export function newTempPath(extension: string): string {
  files++;
  return join(ownFolder(), `${files}.${extension}`);
}

function ownFolder(): string {
  if (folder === undefined) {
    try {
      folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
    } catch (error) {
      throw storageError(error);
    }
    removeStale();
    heartbeat = setInterval(beat, HEARTBEAT_MS).unref();
    process.once('exit', removeTempFolder);
  }
  return folder;
}

/** The modification time of the folder tells other processes that this one lives. */
function beat(): void {
  try {
    const now = new Date();
    utimesSync(folder!, now, now);
  } catch {
    // The temporary folder was cleaned; make it again.
    makeFolderSync(folder!);
  }
}

/** Removes this process's folder with all that is in it. */
export function removeTempFolder(): void {
  clearInterval(heartbeat);
  heartbeat = undefined;
  process.removeListener('exit', removeTempFolder);
  if (folder !== undefined) {
    rmSync(folder, { recursive: true, force: true });
    folder = undefined;
  }
}

function removeStale(): void {
  const parent = tmpdir();
  for (const name of readdirSync(parent)) {
    const pid = Number(/^tabular-prediction-(\d+)-/.exec(name)?.[1] ?? NaN);
    if (Number.isNaN(pid) || pid === process.pid) {
      continue;
    }
    const path = join(parent, name);
    try {
      if (Date.now() - statSync(path).mtimeMs > STALE_MS && !isAlive(pid)) {
        rmSync(path, { recursive: true, force: true });
      }
    } catch {
      // It belongs to another user, or another process is removing it.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

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

/** An encoded file: in memory up to 32 MiB, beyond that in a temporary file until `dispose`. */
export interface TableFile<Format extends string = FileFormat> {
  readonly format: Format;
  readonly rows: number;
  readonly bytes: number;
  /** CRC32C as the service takes it. */
  readonly hash: string;
  /** The bytes, where they are in memory. */
  readonly content?: Uint8Array;
  /** A stream of bytes `start` to `end` (exclusive); may be called more than once. */
  open(start?: number, end?: number): Readable;
  dispose(): Promise<void>;
}

/** Bytes of a piece of what is in memory. */
const CHUNK = 512 * 1024;

/** The file that the encoder thread has written. */
export function tableFile<Format extends string>(
  format: Format,
  rows: number,
  written: Written,
): TableFile<Format> {
  const { bytes, hash, data, path } = written;
  let content = data;
  return {
    format,
    rows,
    bytes,
    hash,
    get content() {
      return content;
    },
    open(start = 0, end = bytes) {
      if (path !== undefined) {
        return fileStream(path, start, end);
      }
      if (content === undefined) {
        throw new ServiceError('internal', 'The table file was used after it was disposed of.');
      }
      return Readable.from(pieces(content, start, end), { objectMode: false });
    },
    async dispose() {
      content = undefined;
      if (path !== undefined) {
        await rm(path, { force: true });
      }
    },
  };
}

function* pieces(data: Uint8Array, start: number, end: number): Iterable<Buffer> {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  for (let at = start; at < end; at += CHUNK) {
    yield bytes.subarray(at, Math.min(end, at + CHUNK));
  }
}

function fileStream(path: string, start: number, end: number): Readable {
  return Readable.from(end <= start ? [] : readAhead(path, start, end), { objectMode: false });
}

/** The user's own file: uploaded byte for byte, never removed. */
export function userFile(
  path: string,
  format: FileFormat,
  { version, ...known }: { rows: number; bytes: number; hash: string; version: FileVersion },
): TableFile {
  return {
    format,
    ...known,
    open(start = 0, end = known.bytes) {
      return Readable.from(checked(path, version, start, end), { objectMode: false });
    },
    dispose: () => Promise.resolve(),
  };
}

/**
 * The bytes of a file, unless it was changed since its checksum was taken. The last piece is held back until that is
 * known: a body that ends early is no upload, but wrong bytes would be stored under the announced hash.
 */
async function* checked(
  path: string,
  version: FileVersion,
  start: number,
  end: number,
): AsyncIterable<Buffer> {
  await demandVersion(path, version);
  let held: Buffer | undefined;
  for await (const piece of readAhead(path, start, end)) {
    if (held !== undefined) {
      yield held;
    }
    held = piece;
  }
  await demandVersion(path, version);
  if (held !== undefined) {
    yield held;
  }
}

async function demandVersion(path: string, version: FileVersion): Promise<void> {
  const now = await stat(path).catch(() => undefined);
  if (now === undefined || !isSameVersion(version, fileVersion(now))) {
    throw new ServiceError('file.unreadable', `The file "${path}" was changed while it was being uploaded.`);
  }
}

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
    const read = readPiece(file, at, length);
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

async function readPiece(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafeSlow(length);
  return piece.subarray(0, await readFully(file, piece, at));
}

/**
 * The SHA-256 of a file, in hexadecimal: what tells two files apart where a CRC32C of 32 bits is not enough. What is in
 * memory is hashed off this thread, a file on disk as it is read.
 */
export async function sha256(file: Pick<TableFile, 'content' | 'open'>): Promise<string> {
  if (file.content !== undefined) {
    const digest = await webcrypto.subtle.digest('SHA-256', file.content);
    return Buffer.from(digest).toString('hex');
  }
  const hash = createHash('sha256');
  for await (const piece of file.open()) {
    hash.update(piece as Buffer);
  }
  return hash.digest('hex');
}
