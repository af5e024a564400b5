import type { Column } from '../cells/types';
import { addCounts, type ColumnBatch, transferList } from '../columns/column-batch';
import type { SampleChoice, TableSample } from '../columns/table-sample';
import type { Origin } from '../files/origin';
import type { TableProfile } from '../inference/profile';
import { type TableFile, tableFile } from '../storage/table-file';
import { BatchWriter, newSpill, removeSpill } from './batch-writer';
import type { EncodeOptions } from './encode';
import { startJob } from './host';
import type { WrittenTrainSet } from './protocol';
import { splitBatch, trainColumns } from './split-columns';

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
