import { rm } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';

import type { Column, FileFormat } from '../cells/types';
import {
  addCounts,
  batchBytes,
  type ColumnBatch,
  splitBatch,
  trainColumns,
  transferList,
} from '../columns/column-batch';
import type { SampleChoice, TableSample } from '../columns/table-sample';
import type { Origin } from '../files/origin';
import type { TableProfile } from '../inference/profile';
import { parquetOf } from '../parquet/writer';
import { crc32c, crc32cToBase64 } from '../storage/crc32c';
import {
  newTempPath,
  type Spill,
  storageError,
  type TableFile,
  tableFile,
  type Written,
} from '../storage/table-file';
import { type Job, retried, startJob } from './host';
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

/** Batches on their way to the encoder thread at most: one is written while the next is made. */
const WINDOW = 2;
/** Where a file goes that is too large for memory. A folder that cannot be made matters only then. */
function newSpill(format: FileFormat | 'json'): Spill {
  try {
    return { path: newTempPath(format) };
  } catch (error) {
    return { problem: storageError(error).message };
  }
}

/** The encoder thread removes its file when it gives up, but not when it is killed. */
async function removeSpill({ path }: Spill): Promise<void> {
  if (path !== undefined) {
    await rm(path, { force: true });
  }
}

/** Sends batches to a job, a few ahead of what is written. */
class BatchWriter {
  rows = 0;
  /** Once it is finished, where one was asked for. */
  sample: TableSample | undefined;
  private open = 0;

  constructor(
    private readonly job: Job,
    private readonly spill: Spill,
  ) {}

  async write(batch: ColumnBatch, transfer: ArrayBuffer[]): Promise<void> {
    while (this.open >= WINDOW) {
      await this.job.next();
      this.open--;
    }
    this.rows += batch.rows;
    this.open++;
    this.job.bytes += batchBytes(batch);
    this.job.send({ kind: 'batch', batch }, transfer);
  }

  finish(): Promise<Written> {
    this.job.send({ kind: 'end' });
    return this.job.result<Written>((answer) => {
      if (answer.kind === 'sample') {
        this.sample = answer.sample;
      }
    });
  }

  /** Ends the job and waits until it has removed its file. */
  async abandon(): Promise<void> {
    this.job.abort();
    await this.job.result().catch(() => undefined);
    await removeSpill(this.spill);
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
    try {
      const job = startJob({ name: 'jsonRows', origin, names: names && [...names], spill }, signal);
      const written = await job.result<{ file: Written; rows: number; names: string[] }>();
      return Object.assign(tableFile('json', written.rows, written.file), { names: written.names });
    } catch (error) {
      await removeSpill(spill);
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
 * Writes features and target, a file each, in one pass over batches of these columns, which are transferred and
 * cannot be used afterwards. Errors: as `encodeBatches`.
 */
export async function encodeTrainBatches(
  all: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  { target, format = 'parquet', compress = true, sample, signal, onProgress }: TrainSetFilesOptions,
): Promise<TrainSetFiles> {
  const columns = trainColumns(all, target);
  const start = (part: Column[], choice?: SampleChoice): BatchWriter => {
    const spill = newSpill(format);
    const task = { name: 'encode' as const, columns: part, format, compress, spill, sample: choice };
    return new BatchWriter(startJob(task, signal), spill);
  };
  const x = start(columns.x, sampleOf(columns.x, sample));
  const y = start(columns.y, sampleOf(columns.y, sample));
  const cleaned: Record<string, number> = {};
  try {
    for await (const batch of batches) {
      addCounts(cleaned, batch.cleaned);
      const parts = splitBatch(all, target, batch);
      await Promise.all([x.write(parts.x, transferList(parts.x)), y.write(parts.y, transferList(parts.y))]);
      onProgress?.(x.rows);
    }
    const [writtenX, writtenY] = await Promise.all([x.finish(), y.finish()]);
    return {
      x: tableFile(format, x.rows, writtenX),
      y: tableFile(format, y.rows, writtenY),
      cleaned,
      sample: x.sample && { ...x.sample, columns: [...x.sample.columns, ...(y.sample?.columns ?? [])] },
    };
  } catch (error) {
    await Promise.all([x.abandon(), y.abandon()]);
    throw error;
  }
}

/** What of a sample is taken of one of the files. */
function sampleOf(columns: readonly Column[], choice: SampleChoice | undefined): SampleChoice | undefined {
  const names = new Set(columns.map(({ name }) => name));
  return choice && { ...choice, columns: choice.columns.filter((name) => names.has(name)) };
}

/** The same of a table that the encoder thread reads by itself. */
export async function encodeTrainOrigin(
  origin: Origin,
  profile: TableProfile,
  { target, format = 'parquet', compress = true, sample: choice, signal, onProgress }: TrainSetFilesOptions,
): Promise<TrainSetFiles> {
  const spills = { x: newSpill(format), y: newSpill(format) };
  const task = {
    name: 'trainSet' as const,
    origin,
    profile,
    target,
    format,
    compress,
    spills,
    sample: choice,
  };
  let sample: TableSample | undefined;
  try {
    const written = await startJob(task, signal).result<WrittenTrainSet>((answer) => {
      if (answer.kind === 'progress') {
        onProgress?.(answer.rows);
      } else if (answer.kind === 'sample') {
        ({ sample } = answer);
      }
    });
    return {
      x: tableFile(format, written.rows, written.x),
      y: tableFile(format, written.rows, written.y),
      cleaned: written.cleaned,
      sample,
    };
  } catch (error) {
    await Promise.all([removeSpill(spills.x), removeSpill(spills.y)]);
    throw error;
  }
}
