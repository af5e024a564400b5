import { invalidCell } from '../cells/errors';
import type { Column } from '../cells/types';
import type { ColumnData } from './column-batch';
import type { SliceColumn } from './slices';

/**
 * Gathers the cells of one column, slice by slice, in the type that the column has. A lossless change is
 * made (numeric text to number, ISO text to date, anything plain to text); anything else is `table.invalid`
 * with column and row.
 */
export interface TypedColumnBuilder {
  /** Adds all cells of a slice; `first` is the number of its first row in the table, from 0. */
  add(cells: SliceColumn, first: number): void;
  /** Adds missing cells. */
  skip(rows: number): void;
  readonly bytes: number;
  /** Cells so far that could not be read and are missing, where the column takes that. */
  readonly unreadable: number;
  /** What was gathered since the last call. */
  take(): ColumnData;
}

/** What becomes of cells that cannot be read: `table.invalid`, or missing values. */
export abstract class StrictBuilder implements TypedColumnBuilder {
  unreadable = 0;

  constructor(protected readonly column: Column) {}

  protected refuse<T>(row: number, problem: string, missing: T): T {
    if (this.column.unreadable === undefined) {
      throw invalidCell(this.column.name, row, problem);
    }
    this.unreadable++;
    return missing;
  }

  abstract readonly bytes: number;
  abstract add(cells: SliceColumn, first: number): void;
  abstract skip(rows: number): void;
  abstract take(): ColumnData;
}

/** Columns held as a Float64Array; each kind of column has its own reading of a cell as a number. */
export abstract class FloatBuilder extends StrictBuilder {
  protected values = new Float64Array(0);
  protected rows = 0;

  get bytes(): number {
    return this.rows * 8;
  }

  skip(rows: number): void {
    this.values = grown(this.values, this.rows + rows);
    this.values.fill(NaN, this.rows, this.rows + rows);
    this.rows += rows;
  }

  protected room(rows: number): Float64Array {
    this.values = grown(this.values, this.rows + rows);
    return this.values;
  }

  protected takeValues(): Float64Array {
    const taken = this.values.length === this.rows ? this.values : this.values.slice(0, this.rows);
    this.values = new Float64Array(this.rows);
    this.rows = 0;
    return taken;
  }
}

type Room = Float64Array | BigInt64Array | Uint8Array;

/** The array, or a copy of twice the size where it is too small. */
export function grown<T extends Room>(array: T, length: number): T {
  if (length <= array.length) {
    return array;
  }
  const next = new (array.constructor as new (n: number) => T)(Math.max(length, array.length * 2, 256));
  next.set(array as never);
  return next;
}
