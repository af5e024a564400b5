import { rm } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

import type { Column, FileFormat } from '../cells/types';
import { batchBytes, type ColumnBatch, transferList } from '../columns/column-batch';
import type { SampleChoice, TableSample } from '../columns/table-sample';
import { encodeParquet } from '../parquet/writer';
import { crc32c, crc32cToBase64 } from '../storage/crc32c';
import {
  newTempPath,
  type Spill,
  storageError,
  type TableFile,
  tableFile,
  type Written,
} from '../storage/table-file';
import type { Origin } from './files';
import { encoder, type Job, retried } from './host';
import type { WrittenTrainSet } from './protocol';

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
  const data = encodeParquet(columns, batch);
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
  const spill = newSpill(format);
  const task = { name: 'encode' as const, columns, format, compress, spill };
  if (Array.isArray(batches) && total(batches, batchBytes) <= ONE_MESSAGE) {
    const list = batches as ColumnBatch[];
    const rows = total(list, (batch) => batch.rows);
    const result = await encoder.start({ ...task, batches: list }, signal).result<Written>();
    onProgress?.(rows);
    return tableFile(format, rows, result);
  }
  const job = encoder.start(task, signal);
  try {
    const rows = await sendBatches(job, batches, onProgress);
    return tableFile(format, rows, await job.result<Written>());
  } catch (error) {
    await abandon(job, [spill]);
    throw error;
  }
}

function total<T>(list: readonly T[], size: (item: T) => number): number {
  return list.reduce((sum, item) => sum + size(item), 0);
}

/** Where a file goes that is too large for memory. A folder that cannot be made matters only then. */
function newSpill(format: FileFormat | 'json'): Spill {
  try {
    return { path: newTempPath(format) };
  } catch (error) {
    return { problem: storageError(error).message };
  }
}

/** Batches on their way to the encoder thread at most: one is written while the next is made. */
const WINDOW = 2;

/** Sends batches to a job, a few ahead of what is written; those of a sequence are transferred. Tells how many rows there were. */
async function sendBatches(
  job: Job,
  batches: readonly ColumnBatch[] | AsyncIterable<ColumnBatch>,
  onProgress: EncodeOptions['onProgress'],
): Promise<number> {
  let rows = 0;
  let open = 0;
  for await (const batch of batches) {
    if (open === WINDOW) {
      await job.next();
      open--;
    }
    rows += batch.rows;
    open++;
    job.bytes += batchBytes(batch);
    job.send({ kind: 'batch', batch }, Array.isArray(batches) ? [] : transferList(batch));
    onProgress?.(rows);
  }
  job.send({ kind: 'end' });
  return rows;
}

/** Ends a job and waits until it has removed its files; it does so when it gives up, but not when its thread is killed. */
async function abandon(job: Job, spills: readonly Spill[]): Promise<void> {
  job.abort();
  await job.result().catch(() => undefined);
  for (const { path } of spills) {
    if (path !== undefined) {
      await rm(path, { force: true });
    }
  }
}

/** Rows as JSON arrays with `ROW_SEPARATOR` between; no brackets around. */
export interface JsonRows extends TableFile<'json'> {
  /** The columns of a row, in their order. */
  names: string[];
}

/**
 * The rows of a Parquet file as JSON, made in the encoder thread, which holds the file in memory.
 *
 * @param names the columns that a row is to have, in their order; left out: those of the file
 */
export async function encodeJsonRows(
  file: Pick<TableFile, 'content' | 'open'>,
  names: readonly string[] | undefined,
  signal?: AbortSignal,
): Promise<JsonRows> {
  const bytes = file.content ?? new Uint8Array(await buffer(file.open()));
  return retried(async () => {
    const spill = newSpill('json');
    const origin = { kind: 'bytes' as const, bytes };
    const job = encoder.start({ name: 'jsonRows', origin, names: names && [...names], spill }, signal);
    try {
      const written = await job.result<{ file: Written; rows: number; names: string[] }>();
      return Object.assign(tableFile('json', written.rows, written.file), { names: written.names });
    } catch (error) {
      await abandon(job, [spill]);
      throw error;
    }
  });
}

/** The files of a train set: the features and the target. */
export interface TrainSetFiles {
  x: TableFile;
  y: TableFile;
  /** Cells that were made missing, by column. */
  cleaned: Record<string, number>;
  /** Of the rows that were written, where one was asked for. */
  sample?: TableSample;
}

export interface TrainSetFilesOptions extends EncodeOptions {
  target: string;
  /** What to take of the rows; the target, where it is taken, is the last column. */
  sample?: SampleChoice;
}

/**
 * Writes features and target, a file each, in one pass over a table of these columns: one that the encoder thread
 * reads by itself, or batches, which are transferred and cannot be used afterwards. Errors: as `encodeBatches`.
 */
export async function encodeTrainColumns(
  columns: readonly Column[],
  from: Origin | AsyncIterable<ColumnBatch>,
  { target, format = 'parquet', compress = true, sample: choice, signal, onProgress }: TrainSetFilesOptions,
): Promise<TrainSetFiles> {
  const spills = { x: newSpill(format), y: newSpill(format) };
  const origin = 'kind' in from ? from : undefined;
  const task = { name: 'trainSet' as const, columns: [...columns], origin, target, format, compress, spills };
  const job = encoder.start({ ...task, sample: choice }, signal);
  try {
    if (!('kind' in from)) {
      await sendBatches(job, from, onProgress);
    }
    let sample: TableSample | undefined;
    const { x, y, rows, cleaned } = await job.result<WrittenTrainSet>((answer) => {
      if (answer.kind === 'sample') {
        ({ sample } = answer);
      } else if (answer.kind === 'written' && origin !== undefined) {
        onProgress?.(answer.rows);
      }
    });
    return { x: tableFile(format, rows, x), y: tableFile(format, rows, y), cleaned, sample };
  } catch (error) {
    await abandon(job, [spills.x, spills.y]);
    throw error;
  }
}
