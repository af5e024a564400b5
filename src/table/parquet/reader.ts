import type { ParquetFile, ParquetMetaData, RecordBatch as WasmBatch } from 'parquet-wasm';

import { invalidTable } from '../cells/errors';
import { parquet } from '../packages/heavy-modules';
import { type BlobLike, BlockStore, type Place } from '../storage/blob';
import { withWholeTimes } from './int96';
import { readError } from './read-error';
import { type GroupPlan, planGroup } from './read-plan';
import {
  fieldsOf,
  joinedBatches,
  type NamedBatch,
  type ParquetField,
  type ParquetReader,
} from './record-batches';
import { untilTrap } from './traps';
import { WHOLE_LIMIT, WholeReader } from './whole-reader';

/**
 * Opens a Parquet file of any writer. Errors: `table.invalid`, `file.unreadable`, `limit.exceeded` where reading it
 * takes more memory than it may have.
 */
export async function openParquet(blob: BlobLike): Promise<ParquetReader> {
  const reader = await openGroups(blob);
  const most = ROWS_OF_ANY_FILE + blob.size * ROWS_PER_BYTE;
  if (!(reader.rows >= 0 && reader.rows <= most)) {
    reader.close();
    throw invalidTable(
      `The Parquet file says that it has ${reader.rows} rows, more than its ${blob.size} bytes can hold.`,
    );
  }
  return reader;
}

/** A table worth having has at least a bit that differs in a thousand rows. */
const ROWS_PER_BYTE = 1000;
const ROWS_OF_ANY_FILE = 1_000_000;

async function openGroups(blob: BlobLike): Promise<ParquetReader> {
  try {
    const file = await fileOf(blob);
    const fields = fieldsOf(file.schema().intoIPCStream());
    const whole = await withWholeTimes(blob, fields);
    if (whole === undefined) {
      return new GroupReader(file, fields);
    }
    file.free();
    const own = await fileOf(whole);
    return new GroupReader(own, fieldsOf(own.schema().intoIPCStream()));
  } catch (error) {
    // Its reader insists on the optional page index, which parquetjs writes without a required field.
    if (!String(error).includes('null_pages') || blob.size > WHOLE_LIMIT) {
      throw readError(error);
    }
    return new WholeReader(new Uint8Array(await blob.arrayBuffer()));
  }
}

function fileOf(blob: BlobLike): Promise<ParquetFile> {
  return untilTrap(parquet().ParquetFile.fromFile(blob as never));
}

/** Reads row group by row group, and of a large one some columns at a time (`planGroup`). */
class GroupReader implements ParquetReader {
  readonly rows: number;
  private readonly names: readonly string[];
  private trapped = false;

  constructor(
    private readonly file: ParquetFile,
    readonly fields: readonly ParquetField[],
  ) {
    this.names = fields.map(({ name }) => name);
    const metadata = file.metadata();
    try {
      this.rows = metadata.fileMetadata().numRows();
      assertGroups(metadata, this.rows);
    } finally {
      metadata.free();
    }
  }

  async *batches(columns?: string[], signal?: AbortSignal): AsyncIterable<NamedBatch> {
    // A copy of what the footer says of all row groups: one for each of them would be quadratic.
    const metadata = this.file.metadata();
    try {
      const groups = metadata.numRowGroups();
      for (let group = 0; group < groups; group++) {
        signal?.throwIfAborted();
        const plan = planGroup(metadata, group, this.names, columns);
        const { bands } = plan;
        const read = (band: string[] | undefined) => this.blocks(group, plan, band, signal);
        let rows = 0;
        for await (const blocks of bands.length === 1 ? alone(read(bands[0])) : sideBySide(bands, read)) {
          for (const named of joinedBatches(blocks)) {
            rows += named.batch.numRows;
            if (rows > plan.rows) {
              throw lostRows(group, plan.rows, 'more follow');
            }
            yield named;
          }
        }
        if (rows < plan.rows) {
          throw lostRows(group, plan.rows, `${rows} are there`);
        }
      }
    } catch (error) {
      throw signal?.aborted === true ? error : this.failed(error);
    } finally {
      if (!this.trapped) {
        metadata.free();
      }
    }
  }

  close(): void {
    if (!this.trapped) {
      this.file.free();
    }
  }

  /** Nothing of an instance that has trapped may be used again, not even to free it. */
  private failed(error: unknown): Error {
    this.trapped ||= error instanceof WebAssembly.RuntimeError;
    return readError(error);
  }

  /** Record batches of some columns of a row group, in Arrow's IPC format. */
  private async *blocks(
    group: number,
    { rows, batchRows }: GroupPlan,
    columns: string[] | undefined,
    signal: AbortSignal | undefined,
  ) {
    // The decoder is ahead of its reader: what the footer did not tell of must not be decoded either.
    const options = { rowGroups: [group], batchSize: batchRows, limit: rows + 1, columns, concurrency: 1 };
    const reader = (await this.decoding(() => this.file.stream(options))).getReader();
    try {
      for (;;) {
        const read = (await this.decoding(() => reader.read())) as { done: boolean; value: WasmBatch };
        if (read.done) {
          return;
        }
        // Of a group in bands all but the last are read before anyone sees a row.
        signal?.throwIfAborted();
        yield read.value.intoIPCStream();
      }
    } finally {
      if (!this.trapped) {
        await reader.cancel().catch(() => undefined);
      }
    }
  }

  private async decoding<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await untilTrap(work());
    } catch (error) {
      throw this.failed(error);
    }
  }
}

/** Refuses row groups that together have not the rows of the file. What takes a table looks at those first. */
function assertGroups(metadata: ParquetMetaData, rows: number): void {
  let sum = 0;
  let least = 0;
  for (const group of metadata.rowGroups()) {
    const own = group.numRows();
    group.free();
    sum += own;
    least = Math.min(least, own);
  }
  if (sum !== rows || least < 0) {
    throw invalidTable(
      `The Parquet file is damaged: its footer says ${rows} rows, its row groups have ${sum} together.`,
    );
  }
}

function lostRows(group: number, told: number, found: string): Error {
  return invalidTable(
    `The Parquet file is damaged: its footer says ${told} rows in row group ${group + 1}, but ${found}.`,
  );
}

async function* alone(blocks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array[]> {
  for await (const block of blocks) {
    yield [block];
  }
}

/**
 * Reads one band after the other, so that the columns of one alone are in memory, and keeps all but the last in a
 * temporary file; answers the blocks of the same rows of all bands.
 */
async function* sideBySide(
  bands: readonly (string[] | undefined)[],
  read: (band: string[] | undefined) => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array[]> {
  const store = new BlockStore();
  try {
    const places: Place[][] = [];
    for (const band of bands.slice(0, -1)) {
      const own: Place[] = [];
      for await (const block of read(band)) {
        own.push(await store.append(block));
      }
      places.push(own);
    }
    let index = 0;
    for await (const last of read(bands.at(-1))) {
      const blocks: Uint8Array[] = [];
      for (const own of places) {
        blocks.push(await store.read(own[index]!));
      }
      index++;
      yield [...blocks, last];
    }
  } finally {
    await store.dispose();
  }
}
