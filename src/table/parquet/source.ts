import { batchSlices } from '../arrow/source';
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
