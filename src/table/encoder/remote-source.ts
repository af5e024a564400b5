import { yieldToEventLoop } from '../../util/event-loop';
import type { Column } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';
import type { BatchOptions } from '../columns/read-batches';
import type { TableForm, TableSource } from '../columns/slices';
import type { Origin } from '../files/origin';
import type { ProfileOptions, TableProfile } from '../inference/profile';
import { retried, startJob } from './host';
import type { OpenedTable } from './protocol';

/** A table that the encoder thread reads by itself, so that this thread never sees more than its batches. */
export class RemoteSource implements TableSource {
  constructor(
    readonly form: TableForm,
    readonly origin: Origin,
    readonly names: readonly string[],
    readonly rowCount: number | undefined,
    readonly parquet?: OpenedTable['parquet'],
  ) {}

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
    { signal, onRead, ...options }: BatchOptions,
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
}

/** Opens a table in the encoder thread. Errors: `file.unreadable`, `table.invalid`, `table.empty`. */
export async function openRemote(
  origin: Origin,
  signal?: AbortSignal,
  form: TableForm = origin.kind === 'path' ? 'file' : 'parsed',
): Promise<RemoteSource> {
  const sendable =
    origin.kind === 'bytes' ? { kind: origin.kind, bytes: await shared(origin.bytes) } : origin;
  const { names, rowCount, version, parquet } = await retried(() =>
    startJob({ name: 'open', origin: sendable }, signal).result<OpenedTable>(),
  );
  // Every later look at a file must find it as it is now: its rows are joined to what was read before.
  const known = sendable.kind === 'path' ? { ...sendable, version } : sendable;
  return new RemoteSource(form, known, names, rowCount, parquet);
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

export function isRemote(source: TableSource): source is RemoteSource {
  return source instanceof RemoteSource;
}
