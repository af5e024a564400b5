import type { FileHandle } from 'node:fs/promises';

import { ServiceError } from '../../wire/service-error';
import { ArrowFileSource } from '../arrow/ipc';
import { emptyTable, invalidTable } from '../cells/errors';
import type { SliceSource } from '../columns/slices';
import { CsvSource } from '../csv/source';
import { ParquetSource } from '../parquet/source';
import { BytesBlob, FileBlob } from '../storage/blob';
import { demandSame, type FileVersion, fileVersion, openRegular, unreadable } from '../storage/table-file';
import { decodedPieces } from '../text/decode';
import { contentOf, noTable, packedContent, toldSize, unpacked } from '../text/sniff';
import type { Origin } from '../files/origin';

/** A source with what must be closed after it. */
export interface Opened {
  source: SliceSource;
  /** Of a file on disk. */
  version?: FileVersion;
  /** To be called when all is read: throws `file.unreadable` where a file on disk was changed meanwhile. */
  demandUnchanged: () => Promise<void>;
  close: () => Promise<void>;
}

const READ_SIZE = 256 * 1024;

/**
 * Opens a table in this thread, which must be a worker: a file on disk (CSV, TSV, Parquet, Arrow, told apart
 * by content) or bytes. Errors: `file.unreadable`, `table.invalid`, `table.empty`.
 */
export async function openOrigin(origin: Origin): Promise<Opened> {
  return origin.kind === 'path' ? openPath(origin.path, origin.version) : openBytes(origin.bytes);
}

/**
 * Opens CSV or Parquet in this thread, which must be a worker: on disk, or its bytes. Errors as `openOrigin`.
 */
export async function openFile(file: string | Uint8Array): Promise<Opened> {
  if (typeof file === 'string') {
    return openPath(file);
  }
  if (file.length === 0) {
    throw emptyTable('The file is empty.');
  }
  switch (contentOf(file)) {
    case 'parquet':
      return openBytes(file);
    case 'csv': {
      const source = await CsvSource.open(
        'file',
        decodedPieces(() => [file], file.length),
      );
      return { source, demandUnchanged: () => Promise.resolve(), close: () => Promise.resolve() };
    }
    default:
      throw invalidTable('The file is neither CSV nor Parquet.');
  }
}

async function openBytes(bytes: Uint8Array): Promise<Opened> {
  if (contentOf(bytes) === 'arrow') {
    const source = await ArrowFileSource.open(new BytesBlob(bytes));
    return { source, demandUnchanged: () => Promise.resolve(), close: () => Promise.resolve() };
  }
  const source = await ParquetSource.open('parsed', new BytesBlob(bytes));
  return {
    source,
    demandUnchanged: () => Promise.resolve(),
    close: () => {
      source.close();
      return Promise.resolve();
    },
  };
}

/** Opens a file on disk, which must be of the version given. */
export async function openPath(
  path: string,
  expected?: FileVersion,
): Promise<Opened & { version: FileVersion }> {
  const file = await reading(path, () => openRegular(path));
  try {
    const { version, head } = await reading(path, async () => {
      const info = await file.stat();
      const start = Buffer.alloc(4096);
      const { bytesRead } = await file.read(start, 0, start.length, 0);
      return { version: fileVersion(info), head: start.subarray(0, bytesRead) };
    });
    if (expected !== undefined) {
      demandSame(path, expected, version);
    }
    const demandUnchanged = async (): Promise<void> =>
      demandSame(path, version, fileVersion(await file.stat()));
    const { size } = version;
    if (size === 0 && head.length === 0) {
      throw emptyTable(`The file "${path}" is empty.`);
    }
    switch (contentOf(head)) {
      case 'parquet': {
        const source = await ParquetSource.open('file', new FileBlob(file, size, path));
        return {
          source,
          version,
          demandUnchanged,
          close: async () => {
            source.close();
            await file.close();
          },
        };
      }
      case 'arrow':
        return {
          source: await ArrowFileSource.open(new FileBlob(file, size, path)),
          version,
          demandUnchanged,
          close: () => file.close(),
        };
      case 'csv':
      case 'gzip':
        return {
          source: await openCsv(path, file, size, contentOf(head) === 'gzip'),
          version,
          demandUnchanged,
          close: () => file.close(),
        };
      case 'json':
        throw holdsJson(path);
      case 'binary':
        throw noTable(head, `The file "${path}"`, 'is neither CSV nor Parquet nor Arrow.');
    }
  } catch (error) {
    await file.close();
    throw error;
  }
}

function holdsJson(path: string): Error {
  return invalidTable(
    `The file "${path}" holds JSON. Read it with a read file node, as a single Buffer, and give its content as the value.`,
  );
}

async function openCsv(path: string, file: FileHandle, size: number, isGzip: boolean): Promise<CsvSource> {
  const chunks = async function* (): AsyncIterable<Uint8Array> {
    // By the handle whose version is known: another file may have the path by now.
    for (let at = 0; ;) {
      const { bytesRead, buffer } = await reading(path, () =>
        file.read(Buffer.allocUnsafe(READ_SIZE), 0, READ_SIZE, at),
      );
      if (bytesRead === 0) {
        return;
      }
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  };
  const tabs = /\.(tsv|tab)(\.gz)?$/i.test(path) ? '\t' : undefined;
  if (!isGzip) {
    return CsvSource.open('file', decodedPieces(chunks, size), tabs);
  }
  if ((await packedContent(`The file "${path}"`, chunks)) === 'json') {
    throw holdsJson(path);
  }
  const tail = await new FileBlob(file, size, path).bytes(Math.max(0, size - 4), size);
  return CsvSource.open('file', decodedPieces(unpacked(chunks), toldSize(tail)), tabs);
}

async function reading<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ServiceError ? error : unreadable(path, error);
  }
}
