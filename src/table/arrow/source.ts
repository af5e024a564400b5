import { invalidTable } from '../cells/errors';
import {
  checkNames,
  type LocalSource,
  type Slice,
  type SliceOptions,
  type TableForm,
} from '../columns/table-source';
import { arrow } from '../storage/heavy-modules';
import { arrowColumn, type ArrowVector } from './columns';

/** What is used of an Arrow Table; it may come from another version of the library than ours. */
export interface ArrowTable {
  numRows: number;
  schema: { fields: readonly { name: string }[] };
  batches: readonly ArrowBatch[];
}

export interface ArrowBatch {
  numRows: number;
  getChildAt(index: number): ArrowVector | null;
}

/** Told by its parts, since instanceof fails between two copies of the library. */
export function isArrowTable(value: object): value is ArrowTable {
  const table = value as Partial<ArrowTable> & { getChildAt?: unknown };
  return (
    typeof table.numRows === 'number' &&
    Array.isArray(table.batches) &&
    Array.isArray(table.schema?.fields) &&
    typeof table.getChildAt === 'function'
  );
}

/** An Apache Arrow table in memory. */
export class ArrowSource implements LocalSource {
  readonly names: readonly string[];
  readonly rowCount: number;

  constructor(
    readonly form: TableForm,
    readonly table: ArrowTable,
  ) {
    this.names = table.schema.fields.map((field) => field.name);
    this.rowCount = table.numRows;
    checkNames(this.names);
  }

  *slices(options: SliceOptions): Iterable<Slice> {
    let first = 0;
    for (const batch of this.table.batches) {
      yield* batchSlices(this.names, batch, first, options);
      first += batch.numRows;
    }
  }
}

/** The slices of one record batch whose first row is row `first` of the table. */
export function* batchSlices(
  names: readonly string[],
  batch: ArrowBatch,
  first: number,
  { pace }: SliceOptions,
): Iterable<Slice> {
  for (let from = 0; from < batch.numRows;) {
    const to = Math.min(batch.numRows, from + pace.rows);
    const start = from;
    yield {
      first: first + start,
      rows: to - start,
      column: (index) => {
        const vector = batch.getChildAt(index);
        return vector === null
          ? { kind: 'values', cells: new Array<null>(to - start).fill(null) }
          : arrowColumn(names[index]!, vector, start, to, first + start);
      },
    };
    from = to;
  }
}

/** Arrow's IPC format in memory, the stream or the file kind. */
export function openArrowBytes(bytes: Uint8Array): ArrowSource {
  let table: ArrowTable;
  try {
    table = arrow().tableFromIPC(bytes) as unknown as ArrowTable;
  } catch (error) {
    throw invalidTable(`The bytes begin like Arrow but cannot be read: ${(error as Error).message}.`);
  }
  return new ArrowSource('parsed', table);
}
