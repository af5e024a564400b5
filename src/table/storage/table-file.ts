import { rm, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';

import { ServiceError } from '../../wire/service-error';
import type { FileFormat } from '../cells/types';
import { type FileVersion, fileVersion, isSameVersion } from './file-version';
import { readAhead } from './read-ahead';
import type { Written } from './sink';

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
