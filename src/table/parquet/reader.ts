import type { ParquetFile, ParquetMetaData, RecordBatch as WasmBatch } from 'parquet-wasm';

import { parquet } from '../arrow/heavy-modules';
import { invalidTable } from '../cells/types';
import { type BlobLike, BlockStore, type Place } from '../storage/blob';
import { withWholeTimes } from './int96';
import {
  arrowBatches,
  joinedBatches,
  listFields,
  type NamedBatch,
  type ParquetField,
  type ParquetReader,
  readError,
} from './record-batches';
import { FILE_METADATA, thriftNumber } from './thrift';

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
    const file = await openFile(blob);
    const fields = listFields(file.schema().intoIPCStream());
    const whole = await withWholeTimes(blob, fields);
    if (whole === undefined) {
      return new GroupReader(file, fields);
    }
    file.free();
    const own = await openFile(whole);
    return new GroupReader(own, listFields(own.schema().intoIPCStream()));
  } catch (error) {
    // Its reader insists on the optional page index, which parquetjs writes without a required field.
    if (!String(error).includes('null_pages') || blob.size > WHOLE_LIMIT) {
      throw readError(error);
    }
    return new WholeReader(new Uint8Array(await blob.arrayBuffer()));
  }
}

function openFile(blob: BlobLike): Promise<ParquetFile> {
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

/** A row group as it is read: some columns at a time, where all of them would take too much memory. */
interface GroupPlan {
  rows: number;
  /** Names of columns, by band. Undefined: all columns at once, without a choice. */
  bands: (string[] | undefined)[];
  /** Rows of a record batch. */
  batchRows: number;
}

/**
 * Bytes that may be read at once, compressed and decoded together: the reader holds all compressed bytes of the
 * columns that it reads, and a page of each decoded; some writers put a whole column into one page. A row group up to
 * the first number is read as it is, a larger one in bands of the second.
 */
const WHOLE_BYTES = 48 * 1024 * 1024;
const BAND_BYTES = 24 * 1024 * 1024;

/** Rows and bytes that are decoded at a time. */
const READ_ROWS = 16_384;
const READ_BYTES = 8 * 1024 * 1024;

interface ColumnSize {
  name: string;
  held: number;
  decoded: number;
}

/** Plans the reading of a row group: of these columns, or all. */
function planGroup(
  metadata: ParquetMetaData,
  group: number,
  names: readonly string[],
  wanted: readonly string[] | undefined,
): GroupPlan {
  const { rows, sizes } = readSizes(metadata, group, wanted);
  const decoded = Math.max(
    1,
    sizes.reduce((sum, size) => sum + size.decoded, 0),
  );
  const batchRows = Math.max(1, Math.min(READ_ROWS, Math.floor((READ_BYTES * rows) / decoded)));
  const held = sizes.reduce((sum, size) => sum + size.held, 0);
  if (held <= WHOLE_BYTES || !canChoose(names)) {
    return { rows, bands: [canChoose(names) ? wanted?.slice() : undefined], batchRows };
  }
  return { rows, bands: packed(sizes), batchRows };
}

function readSizes(
  metadata: ParquetMetaData,
  group: number,
  wanted: readonly string[] | undefined,
): { rows: number; sizes: ColumnSize[] } {
  const info = metadata.rowGroup(group);
  const chosen = wanted === undefined ? undefined : new Set(wanted);
  const sizes = new Map<string, ColumnSize>();
  try {
    for (let index = 0; index < info.numColumns(); index++) {
      const column = info.column(index);
      const name = column.columnPath()[0]!;
      if (chosen === undefined || chosen.has(name)) {
        const size = sizes.get(name) ?? { name, held: 0, decoded: 0 };
        size.decoded += column.uncompressedSize();
        size.held += column.compressedSize() + column.uncompressedSize();
        sizes.set(name, size);
      }
      column.free();
    }
    return { rows: info.numRows(), sizes: [...sizes.values()] };
  } finally {
    info.free();
  }
}

/** Neighbouring columns together, as many as there is room for; a column that is too large alone. */
function packed(sizes: readonly ColumnSize[]): string[][] {
  const bands: string[][] = [];
  let room = 0;
  for (const { name, held } of sizes) {
    if (held > room) {
      bands.push([]);
      room = BAND_BYTES;
    }
    bands.at(-1)!.push(name);
    room -= held;
  }
  return bands;
}

const known = new WeakMap<readonly string[], boolean>();

/**
 * False where asking parquet-wasm for some columns would trap: it counts a name's bytes as characters where the name
 * begins another one.
 */
function canChoose(names: readonly string[]): boolean {
  let safe = known.get(names);
  if (safe === undefined) {
    const sorted = [...names].sort();
    safe = !sorted.some(
      (name, index) => /[^\0-\x7f]/.test(name) && sorted[index + 1]?.startsWith(name) === true,
    );
    known.set(names, safe);
  }
  return safe;
}

/** A file of this size at most is read as a whole, where its page index is broken. */
const WHOLE_LIMIT = 512 * 1024 * 1024;
const WHOLE_ROWS = 100_000;
const WHOLE_BATCH = 4096;

/** Reads a file that is in memory, without its page index. */
class WholeReader implements ParquetReader {
  readonly fields: readonly ParquetField[];
  readonly rows: number;

  constructor(private readonly bytes: Uint8Array) {
    try {
      this.fields = listFields(parquet().readSchema(bytes).intoIPCStream());
      this.rows = this.count();
      assertTold(bytes, this.rows);
    } catch (error) {
      throw readError(error);
    }
  }

  private count(): number {
    const first = this.fields[0]?.name;
    const columns = first === undefined ? undefined : [first];
    let rows = 0;
    for (;;) {
      const part = this.read(rows, columns);
      if (part.length === 0) {
        return rows;
      }
      rows += part.reduce((sum, { batch }) => sum + batch.numRows, 0);
    }
  }

  private read(offset: number, columns?: string[]): NamedBatch[] {
    const options = { offset, limit: WHOLE_ROWS, batchSize: WHOLE_BATCH, columns };
    const batches = arrowBatches(parquet().readParquet(this.bytes, options).intoIPCStream());
    return [...batches].filter(({ batch }) => batch.numRows > 0);
  }

  async *batches(columns?: string[]): AsyncIterable<NamedBatch> {
    for (let offset = 0; offset < this.rows; offset += WHOLE_ROWS) {
      const at = offset;
      try {
        yield* await untilTrap(Promise.resolve(at).then((offset) => this.read(offset, columns)));
      } catch (error) {
        throw readError(error);
      }
    }
  }

  close(): void {
    // The bytes are garbage once this reader is.
  }
}

/** At the end of the file: the length of the footer in 4 bytes, and the magic word. */
const TAIL_BYTES = 8;

/** Refuses a file that has not the rows that its footer tells of. */
function assertTold(bytes: Uint8Array, rows: number): void {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const end = file.length - TAIL_BYTES;
  const told = thriftNumber(file.subarray(end - file.readUInt32LE(end), end), FILE_METADATA.numRows);
  if (told !== rows) {
    throw invalidTable(
      `The Parquet file is damaged: its footer says ${told ?? 'no number of'} rows, but ${rows} are there.`,
    );
  }
}

/*
 * parquet-wasm runs its asynchronous work as tasks of their own: where one traps, the error is nobody's, the promise
 * that it should have settled stays open, and the thread would end.
 */

const underWay = new Set<(error: Error) => void>();

/** What the work answers, or the `WebAssembly.RuntimeError` of a trap in this thread while it was under way. */
async function untilTrap<T>(work: Promise<T>): Promise<T> {
  let onTrap: (error: Error) => void = () => undefined;
  const trap = new Promise<never>((_, reject) => {
    onTrap = reject;
  });
  if (underWay.size === 0) {
    process.on('uncaughtException', settle);
  }
  underWay.add(onTrap);
  try {
    return await Promise.race([work, trap]);
  } finally {
    underWay.delete(onTrap);
    if (underWay.size === 0) {
      process.off('uncaughtException', settle);
    }
  }
}

function settle(error: Error): void {
  if (!(error instanceof WebAssembly.RuntimeError)) {
    throw error;
  }
  for (const onTrap of underWay) {
    onTrap(error);
  }
}
