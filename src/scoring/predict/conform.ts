import {
  type Column,
  type ColumnBatch,
  joinBatches,
  openTable,
  readBatches,
  type TableSource,
} from '../../table';
import { toServiceError } from '../../wire/service-error';
import type { ResolvedModel } from '../models/model-request';
import type { QueuedPredict } from './message';
import { mayJoin } from './small-rows';

export interface Conformed {
  /** In the order of their rows in the batch. */
  jobs: QueuedPredict[];
  batch: ColumnBatch;
}

type Fail = (job: QueuedPredict, error: unknown) => void;

/**
 * Reads messages into one batch of the target's columns. A message that does not fit them is failed, alone, with the
 * row counted in its own table.
 */
export async function conformAll(
  jobs: readonly QueuedPredict[],
  target: ResolvedModel,
  signal: AbortSignal,
  fail: Fail,
): Promise<Conformed> {
  const columns = columnsOf(jobs, target);
  const small: QueuedPredict[] = [];
  const read: Conformed[] = [];
  for (const job of jobs) {
    const { table, request } = job.payload;
    if (table?.kind === 'small') {
      if (table.checked === columns || mayJoin(table.small.rows, columns, request.missingColumns)) {
        small.push(job);
      } else {
        read.push(await conformSmall([job], columns, signal, fail));
      }
    } else if (table?.kind === 'batch') {
      const fitting = table.columns === columns || sameColumns(table.columns, columns);
      const batch = fitting ? table.batch : await readOne(job, table.source, columns, signal, fail);
      if (batch !== undefined) {
        job.payload.cleaned = batch.cleaned;
        read.push({ jobs: [job], batch });
      }
    }
  }
  read.unshift(await conformSmall(small, columns, signal, fail));
  const parts = read.filter((part) => part.jobs.length > 0);
  return { jobs: parts.flatMap((part) => part.jobs), batch: joinBatches(parts.map((part) => part.batch)) };
}

/** Columns of a batch: the card's, or for a model without a card those of its messages, which are alike. */
export function columnsOf(jobs: readonly QueuedPredict[], target: ResolvedModel): readonly Column[] {
  if (target.columns.length > 0) {
    return target.columns;
  }
  const table = jobs[0]?.payload.table;
  return table?.kind === 'batch' || table?.kind === 'stream' ? table.columns : [];
}

export function sameColumns(a: readonly Column[], b: readonly Column[]): boolean {
  return (
    a.length === b.length && a.every((column, index) => JSON.stringify(column) === JSON.stringify(b[index]))
  );
}

/** All rows of a source as one batch. */
export async function readWhole(
  source: TableSource,
  columns: readonly Column[],
  options: { missingColumns?: 'error' | 'fill'; signal?: AbortSignal },
): Promise<ColumnBatch> {
  return (await readAtMost(source, columns, Infinity, options))!;
}

/** All rows of a source as one batch; undefined where there are more than `rows`. */
export async function readAtMost(
  source: TableSource,
  columns: readonly Column[],
  rows: number,
  options: { missingColumns?: 'error' | 'fill'; signal?: AbortSignal },
): Promise<ColumnBatch | undefined> {
  const batches: ColumnBatch[] = [];
  if ((source.rowCount ?? 0) > rows) {
    return undefined;
  }
  let count = 0;
  for await (const batch of readBatches(source, columns, options)) {
    count += batch.rows;
    if (count > rows) {
      return undefined;
    }
    batches.push(batch);
  }
  return joinBatches(batches);
}

/** Reads them all at once, which is quick; where that fails, halves, down to the message that is to blame. */
async function conformSmall(
  jobs: QueuedPredict[],
  columns: readonly Column[],
  signal: AbortSignal,
  fail: Fail,
): Promise<Conformed> {
  if (jobs.length === 0) {
    return { jobs, batch: joinBatches([]) };
  }
  try {
    const rows = jobs.flatMap(({ payload }) =>
      payload.table?.kind === 'small' ? payload.table.small.rows : [],
    );
    const batch = await readWhole(await openTable(rows, { signal }), columns, {
      missingColumns: jobs[0]!.payload.request.missingColumns,
      signal,
    });
    if (batch.cleaned === undefined || jobs.length === 1) {
      jobs[0]!.payload.cleaned = batch.cleaned;
      return { jobs, batch };
    }
  } catch (error) {
    signal.throwIfAborted();
    if (jobs.length === 1 || toServiceError(error).code === 'internal') {
      for (const job of jobs) {
        fail(job, error);
      }
      return { jobs: [], batch: joinBatches([]) };
    }
  }
  // One by one in the end, so that a message alone is failed, and each knows of its own cells.
  return conformHalves(jobs, columns, signal, fail);
}

async function conformHalves(
  jobs: QueuedPredict[],
  columns: readonly Column[],
  signal: AbortSignal,
  fail: Fail,
): Promise<Conformed> {
  const middle = jobs.length >> 1;
  const first = await conformSmall(jobs.slice(0, middle), columns, signal, fail);
  const second = await conformSmall(jobs.slice(middle), columns, signal, fail);
  const parts = [first, second].filter((part) => part.jobs.length > 0);
  return { jobs: parts.flatMap((part) => part.jobs), batch: joinBatches(parts.map((part) => part.batch)) };
}

/** The model was fitted again with other columns while the message waited. */
async function readOne(
  job: QueuedPredict,
  source: TableSource,
  columns: readonly Column[],
  signal: AbortSignal,
  fail: Fail,
): Promise<ColumnBatch | undefined> {
  try {
    const { missingColumns } = job.payload.request;
    return await readWhole(source, columns, { missingColumns, signal });
  } catch (error) {
    signal.throwIfAborted();
    fail(job, error);
    return undefined;
  }
}
