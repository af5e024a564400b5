import type { ParquetFile, ParquetMetaData, RecordBatch as WasmBatch } from 'parquet-wasm';
import { ServiceError } from '../wire/service-error';
import type { ArrowBatch } from './arrow-source';
import type { BlobLike } from './blob';
import { invalidTable } from './invalid';
import { arrow, parquet } from './lazy';

export interface ParquetField {
  name: string;
  type: { typeId: number };
}

/** Decodes a Parquet file, some rows at a time. */
export interface ParquetReader {
  readonly fields: readonly ParquetField[];
  readonly rows: number;
  /** Record batches of these columns (all where undefined), each with its own schema. */
  batches(columns?: string[]): AsyncIterable<NamedBatch>;
  close(): void;
}

export interface NamedBatch {
  names: string[];
  batch: ArrowBatch;
}

/** Rows and bytes that are decoded at a time. */
const READ_ROWS = 16_384;
const READ_BYTES = 8 * 1024 * 1024;

/** Opens a Parquet file of any writer. Errors: `table.invalid`, `file.unreadable`. */
export async function openParquet(blob: BlobLike): Promise<ParquetReader> {
  try {
    return new GroupReader(await parquet().ParquetFile.fromFile(blob as never));
  } catch (error) {
    // Its reader insists on the optional page index, which parquetjs writes without a required field.
    if (!String(error).includes('null_pages') || blob.size > WHOLE_LIMIT) {
      throw damaged(error);
    }
    return new WholeReader(new Uint8Array(await blob.arrayBuffer()));
  }
}

/** Reads row group by row group; of each, the compressed bytes of the wanted columns are in memory. */
class GroupReader implements ParquetReader {
  readonly fields: readonly ParquetField[];
  readonly rows: number;

  constructor(private readonly file: ParquetFile) {
    this.fields = fieldsOf(file.schema().intoIPCStream());
    this.rows = file.metadata().fileMetadata().numRows();
  }

  async *batches(columns?: string[]): AsyncIterable<NamedBatch> {
    const metadata = this.file.metadata();
    for (let group = 0; group < metadata.numRowGroups(); group++) {
      const { rows, bytes } = sizeOf(metadata, group);
      const batchSize = Math.max(64, Math.min(READ_ROWS, Math.floor((READ_BYTES * rows) / bytes)));
      const options = { rowGroups: [group], batchSize, columns, concurrency: 1 };
      const reader = (await decoding(() => this.file.stream(options))).getReader();
      try {
        for (;;) {
          const read = (await decoding(() => reader.read())) as { done: boolean; value: WasmBatch };
          if (read.done) {
            break;
          }
          yield* arrowBatches(read.value.intoIPCStream());
        }
      } finally {
        await reader.cancel().catch(() => undefined);
      }
    }
  }

  close(): void {
    this.file.free();
  }
}

function sizeOf(metadata: ParquetMetaData, group: number): { rows: number; bytes: number } {
  const info = metadata.rowGroup(group);
  try {
    return { rows: Math.max(1, info.numRows()), bytes: Math.max(1, info.totalByteSize()) };
  } finally {
    info.free();
  }
}

/** A file of this size at most is read as a whole, where its page index is broken. */
const WHOLE_LIMIT = 512 * 1024 * 1024;
const WHOLE_ROWS = 100_000;

/** Reads a file that is in memory, without its page index. */
class WholeReader implements ParquetReader {
  readonly fields: readonly ParquetField[];
  readonly rows: number;

  constructor(private readonly bytes: Uint8Array) {
    try {
      this.fields = fieldsOf(parquet().readSchema(bytes).intoIPCStream());
      this.rows = this.count();
    } catch (error) {
      throw damaged(error);
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
    const options = { offset, limit: WHOLE_ROWS, batchSize: READ_ROWS / 4, columns };
    const batches = arrowBatches(parquet().readParquet(this.bytes, options).intoIPCStream());
    return [...batches].filter(({ batch }) => batch.numRows > 0);
  }

  async *batches(columns?: string[]): AsyncIterable<NamedBatch> {
    for (let offset = 0; offset < this.rows; offset += WHOLE_ROWS) {
      const at = offset;
      yield* await decoding(() => Promise.resolve(this.read(at, columns)));
    }
  }

  close(): void {
    // The bytes are garbage once this reader is.
  }
}

function fieldsOf(schema: Uint8Array): readonly ParquetField[] {
  return arrow().tableFromIPC(schema).schema.fields;
}

function* arrowBatches(ipc: Uint8Array): Iterable<NamedBatch> {
  const { schema, batches } = arrow().tableFromIPC(ipc);
  const names = schema.fields.map(({ name }) => name);
  for (const batch of batches) {
    yield { names, batch: batch as unknown as ArrowBatch };
  }
}

async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw damaged(error);
  }
}

function damaged(error: unknown): Error {
  if (error instanceof ServiceError) {
    return error;
  }
  const reason = error instanceof Error ? error.message : String(error);
  return invalidTable(`The Parquet file is damaged or of a kind that cannot be read: ${reason}.`);
}
