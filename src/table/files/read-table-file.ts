import { ServiceError } from '../../wire/service-error';
import type { Column, ColumnType, FileFormat } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';
import { batchesOf } from '../columns/read-batches';
import type { SliceSource } from '../columns/slices';
import { CsvSource } from '../csv/source';
import { profileSource } from '../inference/profile';
import { ParquetSource } from '../parquet/source';
import { type Opened, openFile } from '../encoder/files';

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
        yield* batchesOf(source, named(columns, names), { signal });
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
