import type { FileHandle } from 'node:fs/promises';

import { ServiceError } from '../../wire/service-error';
import { ArrowFileSource } from '../arrow/ipc';
import { type Column, type ColumnType, emptyTable, type FileFormat, invalidTable } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';
import { gatherBatches } from '../columns/read-batches';
import type { SliceSource } from '../columns/slices';
import { CsvSource } from '../csv/source';
import { profileSource } from '../inference/profile';
import { ParquetSource, storedAs } from '../parquet/source';
import { BytesBlob, FileBlob } from '../storage/blob';
import { type FileChecksum, fileChecksum } from '../storage/file-checksum';
import { demandSame, type FileVersion, fileVersion, openRegular, unreadable } from '../storage/table-file';
import { decodedPieces } from '../text/decode';
import { findContent, noTable, packedContent, toldSize, unpacked } from '../text/sniff';

/** A file on disk; `version` is what it was when it was opened first: it must be that still. */
export interface PathOrigin {
  kind: 'path';
  path: string;
  version?: FileVersion;
}

/** A table that the worker opens by itself: a file on disk, or bytes in shared memory. */
export type Origin = PathOrigin | { kind: 'bytes'; bytes: Uint8Array };

/** A file beyond these does not go up as it is. */
export interface AsIsBounds {
  rows?: number;
  bytes?: number;
}

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
async function openFile(file: string | Uint8Array): Promise<Opened> {
  if (typeof file === 'string') {
    return openPath(file);
  }
  if (file.length === 0) {
    throw emptyTable('The file is empty.');
  }
  switch (findContent(file)) {
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
  if (findContent(bytes) === 'arrow') {
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
async function openPath(path: string, expected?: FileVersion): Promise<Opened & { version: FileVersion }> {
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
    switch (findContent(head)) {
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
          source: await openCsv(path, file, size, findContent(head) === 'gzip'),
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

/** What is known of a file that goes up byte for byte. */
export interface AsIs extends FileChecksum {
  rows: number;
}

/**
 * Checks whether a file is Parquet whose columns are these, in this order, and takes its CRC32C;
 * undefined where the file must be encoded again, or is beyond the bounds. Must run in a worker thread.
 */
export async function checkAsIs(
  { path, version }: PathOrigin,
  columns: readonly Column[],
  most: AsIsBounds = {},
  { signal, onRead }: { signal?: AbortSignal; onRead?: (part: number) => void } = {},
): Promise<AsIs | undefined> {
  const { source, version: opened, close } = await openPath(path, version);
  try {
    if (!(source instanceof ParquetSource) || !fits(source, columns)) {
      return undefined;
    }
    if (source.rowCount > (most.rows ?? Infinity) || source.bytes > (most.bytes ?? Infinity)) {
      return undefined;
    }
    const sum = await fileChecksum(path, signal, onRead);
    // The columns were looked at through one handle, the bytes by their name.
    demandSame(path, opened, sum.version);
    return { ...sum, rows: source.rowCount };
  } finally {
    await close();
  }
}

function fits({ names, fields }: ParquetSource, columns: readonly Column[]): boolean {
  return storedAs(
    columns,
    names,
    fields.map(({ type }) => type.typeId),
  );
}

/** A file as the embedded service reads it. */
export interface TableContent {
  columns: Column[];
  rows: number;
  /** The rows from the beginning, each time it is called: of all columns, or of these by name. */
  batches(names?: readonly string[]): AsyncIterable<ColumnBatch>;
}

export interface ReadFileOptions {
  signal?: AbortSignal;
  /** Sets the types of columns that would otherwise be inferred from their values. */
  types?: Readonly<Record<string, ColumnType>>;
  /** The columns whose rows will be read (default: all). Of the others nothing is looked at, and `text` stands for their type. */
  wanted?: readonly string[];
  /** Told what is known before anything is read; what it throws is thrown. `rows`: of Parquet alone. */
  onOpen?: (names: readonly string[], rows: number | undefined) => void;
}

/**
 * Reads a Parquet file of any writer, or CSV, as a stream: by its path, or its bytes. Must be called in a worker
 * thread: it decodes in the thread that calls it. A file without rows has no batches. Errors: `file.unreadable`,
 * `table.invalid` (not of this format, nested columns), `table.empty` (CSV without even a header).
 */
export async function readTableFile(
  file: string | Uint8Array,
  format: FileFormat,
  options: ReadFileOptions = {},
): Promise<TableContent> {
  const { signal } = options;
  let spare: Opened | undefined = await openAs(file, format);
  let described: { columns: Column[]; rows: number } | undefined;
  try {
    options.onOpen?.(spare.source.names, spare.source.rowCount);
    described = await describe(spare.source, options);
  } finally {
    // Bytes in memory stay open for the rows: no file is held by them.
    if (described === undefined || typeof file === 'string') {
      await spare.close();
      spare = undefined;
    }
  }
  const { columns, rows } = described;
  return {
    columns,
    rows,
    async *batches(names) {
      const { source, close } = spare ?? (await openFile(file));
      spare = undefined;
      try {
        yield* gatherBatches(source, named(columns, names), { signal });
      } finally {
        await close();
      }
    },
  };
}

async function openAs(file: string | Uint8Array, format: FileFormat): Promise<Opened> {
  const opened = await openFile(file);
  const { source } = opened;
  if (format === 'csv' ? source instanceof CsvSource : source instanceof ParquetSource) {
    return opened;
  }
  await opened.close();
  throw new ServiceError('table.invalid', `The file is not ${format === 'csv' ? 'CSV' : 'Parquet'}.`);
}

function named(columns: readonly Column[], names: readonly string[] | undefined): readonly Column[] {
  if (names === undefined) {
    return columns;
  }
  const known = new Map(columns.map((column) => [column.name, column]));
  return names.map((name) => known.get(name)!);
}

/** Types that a Parquet file tells of itself, by Arrow's type enumeration: floats, booleans, text, dates and times. */
const STORED: Record<number, ColumnType> = {
  3: 'number',
  5: 'text',
  6: 'boolean',
  8: 'date',
  10: 'date',
  20: 'text',
  24: 'text',
};

async function describe(
  source: SliceSource,
  options: ReadFileOptions,
): Promise<{ columns: Column[]; rows: number }> {
  const known = knownTypes(source, options.wanted);
  // The other columns, such as whole numbers that may be beyond 2^53, are settled by their values.
  const found =
    known.size < source.names.length
      ? await settled(source, { ...options, ignore: [...known.keys()] })
      : { columns: [], rows: source.rowCount ?? 0 };
  const types = new Map(found.columns.map(({ name, type }) => [name, type]));
  return {
    columns: source.names.map((name) => ({ name, type: (known.get(name) ?? types.get(name))! })),
    rows: found.rows,
  };
}

/** Types of columns that need no look at their values. */
function knownTypes(source: SliceSource, wanted: readonly string[] = source.names): Map<string, ColumnType> {
  const known = new Map<string, ColumnType>();
  if (source instanceof ParquetSource && source.rowCount > 0) {
    for (const { name, type } of source.fields) {
      const stored = STORED[type.typeId];
      if (stored !== undefined) {
        known.set(name, stored);
      }
    }
  }
  const looked = new Set(wanted);
  for (const name of source.names) {
    if (!looked.has(name)) {
      known.set(name, 'text');
    }
  }
  return known;
}

async function settled(
  source: SliceSource,
  options: ReadFileOptions & { ignore?: readonly string[] },
): Promise<{ columns: Column[]; rows: number }> {
  if (source.rowCount === 0) {
    return { columns: source.names.map((name) => ({ name, type: 'text' })), rows: 0 };
  }
  try {
    const { columns, rows } = await profileSource(source, options);
    return { columns, rows };
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'table.empty') {
      return { columns: source.names.map((name) => ({ name, type: 'text' })), rows: 0 };
    }
    throw error;
  }
}
