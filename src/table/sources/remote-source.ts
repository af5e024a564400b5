import { yieldToEventLoop } from '../../util/concurrency';
import type { Column, Row } from '../cells/types';
import { cellsOf, type ColumnBatch } from '../columns/column-batch';
import type { ReadOptions } from '../columns/read-batches';
import type { TableForm } from '../columns/slices';
import {
  encodeTrainOrigin,
  type TrainSetFiles,
  type TrainSetFilesOptions,
} from '../encoder/encode-train-set';
import { retried, startJob } from '../encoder/host';
import type { OpenedTable } from '../encoder/protocol';
import type { Origin } from '../files/origin';
import type { ProfileOptions, TableProfile } from '../inference/profile';
import { typedRows } from './read-rows';
import type { Block, ParquetOnDisk, TableSource } from './table-source';

/** Rows of a block. */
const BLOCK_ROWS = 2000;

/** A table that the encoder thread reads; this thread only ever sees batches of it. */
export class RemoteSource implements TableSource {
  readonly names: readonly string[];
  readonly rowCount: number | undefined;
  readonly parquet: ParquetOnDisk | undefined;

  private constructor(
    readonly form: TableForm,
    private readonly origin: Origin,
    { names, rowCount, parquet }: OpenedTable,
  ) {
    this.names = names;
    this.rowCount = rowCount;
    this.parquet = origin.kind === 'path' && parquet !== undefined ? { origin, ...parquet } : undefined;
  }

  /** Opens a table in the encoder thread. Errors: `file.unreadable`, `table.invalid`, `table.empty`. */
  static async open(
    origin: Origin,
    signal?: AbortSignal,
    form: TableForm = origin.kind === 'path' ? 'file' : 'parsed',
  ): Promise<RemoteSource> {
    const sendable = origin.kind === 'bytes' ? { ...origin, bytes: await shared(origin.bytes) } : origin;
    const opened = await retried(() =>
      startJob({ name: 'open', origin: sendable }, signal).result<OpenedTable>(),
    );
    // The file must not change between passes: their rows are joined.
    const known = sendable.kind === 'path' ? { ...sendable, version: opened.version } : sendable;
    return new RemoteSource(form, known, opened);
  }

  profile({ signal, onRead, ...options }: ProfileOptions): Promise<TableProfile> {
    return retried(() =>
      startJob({ name: 'profile', origin: this.origin, options }, signal).result<TableProfile>((answer) => {
        if (answer.kind === 'read') {
          onRead?.(answer.part);
        }
      }),
    );
  }

  /** Batches, each asked for when it is needed. */
  async *batches(
    columns: readonly Column[],
    { signal, onRead, ...options }: ReadOptions,
  ): AsyncIterable<ColumnBatch> {
    const job = startJob({ name: 'read', origin: this.origin, columns: [...columns], options }, signal);
    let done = false;
    try {
      for (;;) {
        job.send({ kind: 'pull' });
        const answer = await job.next();
        if (answer.kind !== 'batch') {
          done = true;
          return;
        }
        if (answer.part !== undefined) {
          onRead?.(answer.part);
        }
        yield answer.batch;
      }
    } catch (error) {
      done = true;
      throw error;
    } finally {
      if (!done) {
        job.abort();
      }
    }
  }

  readRows(signal?: AbortSignal): Promise<Row[]> {
    return typedRows(this, signal);
  }

  async *blocks(signal?: AbortSignal): AsyncIterable<Block> {
    const { columns } = await this.profile({ signal });
    const names = columns.map(({ name }) => name);
    for await (const batch of this.batches(columns, { maxRows: BLOCK_ROWS, signal })) {
      const cells = batch.columns.map((data) => ({ kind: 'values' as const, cells: cellsOf(data) }));
      yield { rows: batch.rows, names, columns: cells };
    }
  }

  encodeTrainSet(profile: TableProfile, options: TrainSetFilesOptions): Promise<TrainSetFiles> {
    return retried(() => encodeTrainOrigin(this.origin, profile, options));
  }
}

const COPY = 8 * 1024 * 1024;

/** The bytes in shared memory, so that they are copied once and not for every look at them. */
async function shared(bytes: Uint8Array): Promise<Uint8Array> {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  for (let at = 0; at < bytes.length; at += COPY) {
    copy.set(bytes.subarray(at, at + COPY), at);
    await yieldToEventLoop();
  }
  return copy;
}
