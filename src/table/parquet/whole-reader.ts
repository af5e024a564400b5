import { invalidTable } from '../cells/errors';
import { parquet } from '../packages/heavy-modules';
import { FILE_METADATA } from './format';
import { readError } from './read-error';
import {
  arrowBatches,
  fieldsOf,
  type NamedBatch,
  type ParquetField,
  type ParquetReader,
} from './record-batches';
import { thriftNumber } from './thrift';
import { untilTrap } from './traps';

/** A file of this size at most is read as a whole, where its page index is broken. */
export const WHOLE_LIMIT = 512 * 1024 * 1024;
const WHOLE_ROWS = 100_000;
const WHOLE_BATCH = 4096;

/** Reads a file that is in memory, without its page index. */
export class WholeReader implements ParquetReader {
  readonly fields: readonly ParquetField[];
  readonly rows: number;

  constructor(private readonly bytes: Uint8Array) {
    try {
      this.fields = fieldsOf(parquet().readSchema(bytes).intoIPCStream());
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
