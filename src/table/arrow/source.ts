import { readReason } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/types';
import {
  checkNames,
  type Slice,
  type SliceOptions,
  type SliceSource,
  type TableForm,
} from '../columns/slices';
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
export class ArrowSource implements SliceSource {
  readonly names: readonly string[];
  readonly rowCount: number;

  /** @throws ServiceError `table.invalid` where the parts are not those of an Arrow table */
  constructor(
    readonly form: TableForm,
    readonly table: ArrowTable,
    readonly warnings: readonly string[] = [],
  ) {
    this.names = unlessBroken(() => table.schema.fields.map((field) => field.name));
    this.rowCount = unlessBroken(() => table.batches.reduce((rows, batch) => rows + batch.numRows, 0));
    if (this.rowCount !== table.numRows) {
      throw noArrowTable(`it has ${table.numRows} rows, its batches have ${this.rowCount}`);
    }
    checkNames(this.names);
    assertRows(
      this.rowCount,
      unlessBroken(() => countBytes(table)),
    );
  }

  *slices(options: SliceOptions): Iterable<Slice> {
    let first = 0;
    for (const batch of this.table.batches) {
      for (const slice of batchSlices(this.names, batch, first, options)) {
        yield { ...slice, column: (index) => unlessBroken(() => slice.column(index)) };
      }
      first += batch.numRows;
    }
  }
}

/** Bytes of the buffers of a table, Infinity where this version of the library does not tell. */
function countBytes({ batches, schema }: ArrowTable): number {
  let bytes = 0;
  for (const batch of batches) {
    for (let index = 0; index < schema.fields.length; index++) {
      for (const data of batch.getChildAt(index)?.data ?? []) {
        bytes += data.byteLength ?? Infinity;
      }
    }
  }
  return bytes;
}

/** A table worth having has at least a bit that differs in a thousand rows. */
const ROWS_PER_BYTE = 1000;
const ROWS_OF_ANY_TABLE = 1_000_000;

/**
 * Refuses more rows than bytes can hold: rows without a value in any column take none.
 * @throws ServiceError `table.invalid`
 */
export function assertRows(rows: number, bytes: number): void {
  if (rows > ROWS_OF_ANY_TABLE + bytes * ROWS_PER_BYTE) {
    throw invalidTable(
      `The Arrow table says that it has ${rows} rows, more than its ${bytes} bytes can hold.`,
    );
  }
}

/** An object that only looks like an Arrow table fails where it is read. */
function unlessBroken<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof ServiceError ? error : noArrowTable(readReason(error));
  }
}

function noArrowTable(reason: string): ServiceError {
  return invalidTable(`The table looks like an Arrow table but cannot be read as one: ${reason}.`);
}

/** The slices of one record batch whose first row is row `first` of the table. */
export function* batchSlices(
  names: readonly string[],
  batch: ArrowBatch,
  first: number,
  { sizer }: SliceOptions,
): Iterable<Slice> {
  for (let from = 0; from < batch.numRows;) {
    const to = Math.min(batch.numRows, from + sizer.rows);
    const start = from;
    yield {
      first: first + start,
      rows: to - start,
      column: (index) => {
        const vector = batch.getChildAt(index);
        return vector === null
          ? { kind: 'values', cells: new Array<null>(to - start).fill(null) }
          : arrowColumn(vector, { name: names[index]!, from: start, to, first: first + start });
      },
    };
    from = to;
  }
}
