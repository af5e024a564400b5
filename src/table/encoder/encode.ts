import type { Column, FileFormat } from '../cells/types';
import { batchBytes, type ColumnBatch, transferList } from '../columns/column-batch';
import { parquetOf } from '../parquet/writer';
import { crc32c, crc32cToBase64 } from '../storage/crc32c';
import type { Written } from '../storage/sink';
import { type TableFile, tableFile } from '../storage/table-file';
import { BatchWriter, newSpill } from './batch-writer';
import { retried, startJob } from './host';

export interface EncodeOptions {
  format?: FileFormat;
  /** Whether the pages of a Parquet file are compressed, unless there are few rows; default true. */
  compress?: boolean;
  signal?: AbortSignal;
  /** Told the number of rows that are in the file. */
  onProgress?: (rows: number) => void;
}

/** Rows, cells and bytes that are written here at most: a millisecond's work, and too little to be compressed. */
const FEW_ROWS = 64;
const FEW_CELLS = 2_000;
const FEW_BYTES = 16 * 1024;

/** What is sent in one message, without waiting for acknowledgements. */
const ONE_MESSAGE = 4 * 1024 * 1024;

/**
 * Writes batches to a file in the encoder thread. A few rows are written right here: that is faster than handing
 * them over. Batches of an array are copied; those of an asynchronous sequence are transferred and cannot be used
 * afterwards. An `integer` column that holds fractions is written as `number`. Errors: `storage.failed`,
 * `internal` where the thread ended under it, twice.
 */
export async function encodeBatches(
  columns: readonly Column[],
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  options: EncodeOptions = {},
): Promise<TableFile> {
  if (Symbol.iterator in batches) {
    return encodeList(columns, [...batches], options);
  }
  const iterator = batches[Symbol.asyncIterator]();
  try {
    return await encodeSequence(columns, iterator, options);
  } finally {
    // A reader that is left in the middle keeps its file open.
    await iterator.return?.();
  }
}

async function encodeSequence(
  columns: readonly Column[],
  iterator: AsyncIterator<ColumnBatch>,
  options: EncodeOptions,
): Promise<TableFile> {
  const head: ColumnBatch[] = [];
  let bytes = 0;
  while (bytes < ONE_MESSAGE) {
    const next = await iterator.next();
    if (next.done === true) {
      return encodeList(columns, head, options);
    }
    head.push(next.value);
    bytes += batchBytes(next.value);
  }
  // What is to come may hold fractions, and the file's columns are fixed with its first rows.
  const wide = columns.map((column) =>
    column.type === 'integer' ? { ...column, type: 'number' as const } : column,
  );
  return encodeStream(wide, chained(head, iterator), options);
}

async function encodeList(
  columns: readonly Column[],
  list: readonly ColumnBatch[],
  options: EncodeOptions,
): Promise<TableFile> {
  const own = stored(columns, list);
  return fewRows(own, list, options) ?? retried(() => encodeStream(own, list, options));
}

/** The columns as they are stored: an `integer` column with fractions as `number`. */
function stored(columns: readonly Column[], batches: readonly ColumnBatch[]): Column[] {
  const result = [...columns];
  for (const batch of batches) {
    for (let index = 0; index < result.length; index++) {
      if (result[index]!.type === 'integer' && batch.columns[index]!.type === 'number') {
        result[index] = { ...result[index]!, type: 'number' };
      }
    }
  }
  return result;
}

/** The file of a few rows, where handing them to the encoder thread would take longer than writing them; else undefined. */
function fewRows(
  columns: readonly Column[],
  [batch, ...others]: readonly ColumnBatch[],
  { format = 'parquet', signal, onProgress }: EncodeOptions,
): TableFile | undefined {
  if (
    batch === undefined ||
    others.length > 0 ||
    format !== 'parquet' ||
    batch.rows > FEW_ROWS ||
    batch.rows * columns.length > FEW_CELLS ||
    batchBytes(batch) > FEW_BYTES
  ) {
    return undefined;
  }
  signal?.throwIfAborted();
  const data = parquetOf(columns, batch);
  onProgress?.(batch.rows);
  return tableFile(format, batch.rows, { bytes: data.length, hash: crc32cToBase64(crc32c(data)), data });
}

async function* chained(head: ColumnBatch[], rest: AsyncIterator<ColumnBatch>): AsyncIterable<ColumnBatch> {
  yield* head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) {
    yield next.value;
  }
}

async function encodeStream(
  columns: Column[],
  batches: readonly ColumnBatch[] | AsyncIterable<ColumnBatch>,
  { format = 'parquet', compress = true, signal, onProgress }: EncodeOptions,
): Promise<TableFile> {
  const task = { name: 'encode' as const, columns, format, compress, spill: newSpill(format) };
  if (Array.isArray(batches) && total(batches, batchBytes) <= ONE_MESSAGE) {
    const list = batches as ColumnBatch[];
    const rows = total(list, (batch) => batch.rows);
    const result = await startJob({ ...task, batches: list }, signal).result<Written>();
    onProgress?.(rows);
    return tableFile(format, rows, result);
  }
  const writer = new BatchWriter(startJob(task, signal), task.spill);
  try {
    for await (const batch of batches) {
      await writer.write(batch, Array.isArray(batches) ? [] : transferList(batch));
      onProgress?.(writer.rows);
    }
    return tableFile(format, writer.rows, await writer.finish());
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

function total<T>(list: readonly T[], size: (item: T) => number): number {
  return list.reduce((sum, item) => sum + size(item), 0);
}
