import { rm } from 'node:fs/promises';

import type { Column, FileFormat } from '../cells/types';
import { batchBytes, type ColumnBatch, transferList } from '../columns/column-batch';
import { batchesOf } from '../columns/read-batches';
import type { SliceSource, TableSource } from '../columns/slices';
import type { TableProfile } from '../inference/profile';
import { isSmall, smallParquet } from '../parquet/small-writer';
import { crc32c, crc32cToBase64 } from '../storage/crc32c';
import { type Spill, storageError, type Written } from '../storage/sink';
import { type TableFile, tableFile } from '../storage/table-file';
import { newTempPath } from '../storage/temp-folder';
import { type Job, retried, startJob } from './host';
import { isRemote } from './remote-source';
import { splitBatch, trainColumns } from './split-columns';

export interface EncodeOptions {
  format?: FileFormat;
  signal?: AbortSignal;
  /** Told the number of rows that are in the file. */
  onProgress?: (rows: number) => void;
}

/** Batches on their way to the encoder thread at most: one is written while the next is made. */
const WINDOW = 2;
/** What is sent in one message, without waiting for acknowledgements. */
const ONE_MESSAGE = 4 * 1024 * 1024;

/**
 * Writes batches to a file, in the encoder thread, but for a few rows, which are written before they could be there. Batches of an array are copied; those of an asynchronous
 * sequence are transferred and cannot be used afterwards. An `integer` column that holds fractions is
 * written as `number`. Errors: `storage.failed`, `table.invalid` where the thread ended under it.
 */
export async function encodeBatches(
  columns: readonly Column[],
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  options: EncodeOptions = {},
): Promise<TableFile> {
  if (Symbol.iterator in batches) {
    const list = [...batches];
    return retried(() => encodeStream(stored(columns, list), list, options));
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
      return retried(() => encodeStream(stored(columns, head), head, options));
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

/** The columns as they are stored: an `integer` column with fractions as `number`. */
function stored(columns: readonly Column[], batches: readonly ColumnBatch[]): Column[] {
  return columns.map((column, index) =>
    column.type === 'integer' && batches.some((batch) => batch.columns[index]!.type === 'number')
      ? { ...column, type: 'number' }
      : column,
  );
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
  { format = 'parquet', signal, onProgress }: EncodeOptions,
): Promise<TableFile> {
  const task = { name: 'encode' as const, columns, format, spill: newSpill(format) };
  if (Array.isArray(batches) && total(batches, batchBytes) <= ONE_MESSAGE) {
    const list = batches as ColumnBatch[];
    const rows = total(list, (batch) => batch.rows);
    if (format === 'parquet' && list.length === 1 && isSmall(list[0]!, batchBytes(list[0]!))) {
      signal?.throwIfAborted();
      const data = smallParquet(columns, list[0]!);
      onProgress?.(rows);
      return tableFile(format, rows, { bytes: data.length, hash: crc32cToBase64(crc32c(data)), data });
    }
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

/** Where a file goes that is too large for memory. A folder that cannot be made matters only then. */
function newSpill(format: FileFormat): Spill {
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
    this.job.send({ kind: 'batch', batch }, transfer);
  }

  finish(): Promise<Written> {
    this.job.send({ kind: 'end' });
    return this.job.result<Written>();
  }

  /** Ends the job and waits until it has removed its file. */
  async abandon(): Promise<void> {
    this.job.abort();
    await this.job.result().catch(() => undefined);
    await removeSpill(this.spill);
  }
}

/**
 * Encodes a train set in one pass: the features (X) and the target (y), a file each. Errors: those of
 * readBatches and encodeBatches.
 */
export function encodeTrainSet(
  source: TableSource,
  profile: TableProfile,
  options: EncodeOptions & { target: string },
): Promise<{ x: TableFile; y: TableFile }> {
  return retried(() =>
    isRemote(source)
      ? encodeRemote(source, profile, options)
      : encodeLocal(source as SliceSource, profile, options),
  );
}

function encodeLocal(
  source: SliceSource,
  profile: TableProfile,
  options: EncodeOptions & { target: string },
): Promise<{ x: TableFile; y: TableFile }> {
  const batches = batchesOf(source, profile.columns, { signal: options.signal });
  return encodeTrainBatches(profile.columns, batches, options);
}

/** The same from batches of these columns, which are transferred and cannot be used afterwards. */
export async function encodeTrainBatches(
  all: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  { target, format = 'parquet', signal, onProgress }: EncodeOptions & { target: string },
): Promise<{ x: TableFile; y: TableFile }> {
  const columns = trainColumns(all, target);
  const start = (part: Column[]): BatchWriter => {
    const spill = newSpill(format);
    return new BatchWriter(startJob({ name: 'encode', columns: part, format, spill }, signal), spill);
  };
  const x = start(columns.x);
  const y = start(columns.y);
  try {
    for await (const batch of batches) {
      const parts = splitBatch(all, target, batch);
      await Promise.all([x.write(parts.x, transferList(parts.x)), y.write(parts.y, transferList(parts.y))]);
      onProgress?.(x.rows);
    }
    const [writtenX, writtenY] = await Promise.all([x.finish(), y.finish()]);
    return { x: tableFile(format, x.rows, writtenX), y: tableFile(format, y.rows, writtenY) };
  } catch (error) {
    await Promise.all([x.abandon(), y.abandon()]);
    throw error;
  }
}

async function encodeRemote(
  source: TableSource,
  profile: TableProfile,
  { target, format = 'parquet', signal, onProgress }: EncodeOptions & { target: string },
): Promise<{ x: TableFile; y: TableFile }> {
  if (!isRemote(source)) {
    throw new TypeError('Not a table of the encoder thread');
  }
  const spills = { x: newSpill(format), y: newSpill(format) };
  const task = { name: 'trainSet' as const, origin: source.origin, profile, target, format, spills };
  try {
    const written = await startJob(task, signal).result<{ x: Written; y: Written }>((answer) => {
      if (answer.kind === 'progress') {
        onProgress?.(answer.rows);
      }
    });
    return {
      x: tableFile(format, profile.rows, written.x),
      y: tableFile(format, profile.rows, written.y),
    };
  } catch (error) {
    await Promise.all([removeSpill(spills.x), removeSpill(spills.y)]);
    throw error;
  }
}
