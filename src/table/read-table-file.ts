import { ServiceError } from '../wire/service-error';
import type { ColumnBatch } from './batch';
import { batchesOf } from './batches';
import { CsvSource } from './csv-source';
import { openFile } from './local-file';
import { ParquetSource } from './parquet-source';
import { profileSource } from './profile';
import type { LocalSource } from './source';
import type { Column, ColumnType, FileFormat } from './types';

/** A file as the embedded service reads it. */
export interface TableContent {
  columns: Column[];
  rows: number;
  /** The rows from the beginning, each time it is called. */
  batches(): AsyncIterable<ColumnBatch>;
}

/**
 * Reads a Parquet file of any writer, or CSV, as a stream: by its path, or its bytes. Must be called in a worker thread: it decodes in
 * the thread that calls it. `types` settles the types of columns that would else be told from their values. A file without rows has no batches. Errors: `file.unreadable`, `table.invalid`
 * (not of this format, nested columns), `table.empty` (CSV without even a header).
 */
export async function readTableFile(
  file: string | Uint8Array,
  format: FileFormat,
  options: { signal?: AbortSignal; types?: Readonly<Record<string, ColumnType>> } = {},
): Promise<TableContent> {
  const { signal } = options;
  const { columns, rows } = await reading(file, format, (source) => describe(source, options));
  return {
    columns,
    rows,
    async *batches() {
      const { source, close } = await openFile(file);
      try {
        yield* batchesOf(source, columns, { signal });
      } finally {
        await close();
      }
    },
  };
}

async function reading<T>(
  file: string | Uint8Array,
  format: FileFormat,
  work: (source: LocalSource) => Promise<T>,
): Promise<T> {
  const { source, close } = await openFile(file);
  try {
    if (!(format === 'csv' ? source instanceof CsvSource : source instanceof ParquetSource)) {
      throw new ServiceError('table.invalid', `The file is not ${format === 'csv' ? 'CSV' : 'Parquet'}.`);
    }
    return await work(source);
  } finally {
    await close();
  }
}

async function describe(
  source: LocalSource,
  options: { signal?: AbortSignal; types?: Readonly<Record<string, ColumnType>> },
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
