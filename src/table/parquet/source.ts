import { batchSlices } from '../arrow/source';
import type { Column, ColumnType } from '../cells/types';
import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
import type { BlobLike } from '../storage/blob';
import { openParquet } from './reader';
import type { NamedBatch, ParquetField, ParquetReader } from './record-batches';

/** Up to this many bytes a file is decoded once, however often its rows are read. */
const KEPT_BYTES = 64 * 1024;

/** A Parquet file of any writer, decoded some rows at a time. Must run in a worker thread. */
export class ParquetSource implements SliceSource {
  readonly names: readonly string[];
  readonly rowCount: number;
  private kept: NamedBatch[] | undefined;

  private constructor(
    readonly form: TableForm,
    private readonly reader: ParquetReader,
    /** Bytes of the file. */
    readonly bytes: number,
  ) {
    this.names = reader.fields.map(({ name }) => name);
    this.rowCount = reader.rows;
  }

  static async open(form: TableForm, blob: BlobLike): Promise<ParquetSource> {
    const source = new ParquetSource(form, await openParquet(blob), blob.size);
    checkNames(source.names);
    return source;
  }

  get fields(): readonly ParquetField[] {
    return this.reader.fields;
  }

  async *slices(options: SliceOptions): AsyncIterable<Slice> {
    const wanted = options.wanted ?? this.names.map((_, index) => index);
    const some = wanted.length < this.names.length;
    const columns = some ? wanted.map((index) => this.names[index]!) : undefined;
    let first = 0;
    for await (const { names, batch } of this.batches(columns, options.signal)) {
      options.signal?.throwIfAborted();
      const places = new Map(names.map((name, index) => [name, index]));
      for (const slice of batchSlices(names, batch, first, options)) {
        yield {
          first: slice.first,
          rows: slice.rows,
          column: (index) => slice.column(places.get(this.names[index]!)!),
        };
      }
      first += batch.numRows;
    }
  }

  private async *batches(
    columns: string[] | undefined,
    signal: AbortSignal | undefined,
  ): AsyncIterable<NamedBatch> {
    if (columns !== undefined || this.bytes > KEPT_BYTES) {
      yield* this.reader.batches(columns, signal);
      return;
    }
    if (this.kept === undefined) {
      const kept: NamedBatch[] = [];
      for await (const batch of this.reader.batches()) {
        kept.push(batch);
      }
      this.kept = kept;
    }
    yield* this.kept;
  }

  close(): void {
    this.reader.close();
  }
}

/** Numbers of Arrow's type enumeration that a column of each type may be stored as. */
const STORED_AS: Record<ColumnType, number[]> = {
  number: [2, 3],
  integer: [2, 3],
  bigint: [2],
  boolean: [6],
  text: [5, 20, 24],
  date: [8, 10],
};

/** Whether a file whose columns have these names and stored types has these columns, in this order and no others. */
export function storedAs(
  columns: readonly Column[],
  names: readonly string[],
  stored: readonly number[],
): boolean {
  return (
    names.length === columns.length &&
    columns.every(
      (column, index) =>
        names[index] === column.name && STORED_AS[column.type].includes(stored[index]!) && isReadAsIs(column),
    )
  );
}

/** False where cells change as they are read: dates of a zone, text with spaces, words that mean "missing", rows that are left out. */
function isReadAsIs({ zone, trim, missing, required }: Column): boolean {
  return zone === undefined && trim === undefined && missing === undefined && required === undefined;
}
