import { types } from 'node:util';

import { SliceSizer } from '../../util/concurrency';
import { isDate, isTypedArray, reasonOf } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { ArrowSource, isArrowTable } from '../arrow/source';
import { emptyTable, invalidCell, invalidTable, show } from '../cells/errors';
import type { Row } from '../cells/types';
import { assertDense, assertWidth, type Header, headerOf, maybeEndless, ownNames } from '../columns/header';
import type { Slice, SliceColumn, SliceOptions, SliceSource, TableForm } from '../columns/slices';

/** Names that objects inherit: only an own property of such a name is a cell. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Objects, a row each (form `rows`), or one object (form `row`). */
export class RowsSource implements SliceSource {
  readonly rowCount: number;

  private constructor(
    readonly form: TableForm,
    readonly objects: readonly Row[],
    readonly names: readonly string[],
  ) {
    this.rowCount = objects.length;
  }

  /** Rows whose names are known. */
  static of(form: TableForm, rows: readonly Row[], names: readonly string[]): RowsSource {
    return new RowsSource(form, rows, names);
  }

  /** Checks that every row is an object and finds the union of their keys, in the order of appearance. */
  static async open(form: TableForm, rows: readonly unknown[], signal?: AbortSignal): Promise<RowsSource> {
    const names = new KeyUnion();
    const sizer = new SliceSizer(10);
    for (let at = 0; at < rows.length;) {
      const end = Math.min(rows.length, at + sizer.rows);
      for (; at < end; at++) {
        names.add(checkedRow(rows[at], at));
      }
      if (at < rows.length) {
        await sizer.step(signal);
      }
    }
    if (names.list.length === 0) {
      throw emptyTable('The rows have no columns: every object is empty.');
    }
    return new RowsSource(form, rows as readonly Row[], names.list);
  }

  *slices({ sizer }: SliceOptions): Iterable<Slice> {
    // One array is reused for all columns and slices, to spare the garbage collector.
    const cells: unknown[] = [];
    for (let first = 0; first < this.objects.length;) {
      const rows = Math.min(sizer.rows, this.objects.length - first);
      cells.length = rows;
      const from = first;
      yield { first: from, rows, column: (index) => this.read(index, from, cells) };
      first += rows;
    }
  }

  /** Fills the array with the cells of a column, from this row on. */
  private read(index: number, first: number, cells: unknown[]): SliceColumn {
    const name = this.names[index]!;
    const { objects } = this;
    let i = 0;
    try {
      if (INHERITED.has(name)) {
        for (; i < cells.length; i++) {
          const row = objects[first + i]!;
          cells[i] = Object.hasOwn(row, name) ? row[name] : undefined;
        }
      } else {
        for (; i < cells.length; i++) {
          cells[i] = objects[first + i]![name];
        }
      }
    } catch (error) {
      // A getter, or a Proxy.
      throw invalidCell(name, first + i, `the cell cannot be read: ${reasonOf(error)}.`);
    }
    return { kind: 'values', cells };
  }
}

/** Collects names; a row with the same keys as the one before costs little. */
export class KeyUnion {
  readonly list: string[] = [];
  private readonly seen = new Set<string>();
  private last: string[] = [];
  private readonly endless = maybeEndless();

  add(row: Row): void {
    const keys = ownNames(row, this.endless);
    const { last } = this;
    if (keys.length === last.length) {
      let i = 0;
      while (i < keys.length && keys[i] === last[i]) {
        i++;
      }
      if (i === keys.length) {
        return;
      }
    }
    this.last = keys;
    for (const key of keys) {
      if (!this.seen.has(key)) {
        this.seen.add(key);
        this.list.push(key);
      }
    }
    assertWidth(this.list.length);
  }
}

function checkedRow(row: unknown, at: number): Row {
  if (
    typeof row !== 'object' ||
    row === null ||
    Array.isArray(row) ||
    isDate(row) ||
    ArrayBuffer.isView(row)
  ) {
    throw invalidTable(
      `Row ${at + 1} is ${show(row)}, not an object. A list of rows needs an object for each row, such as {"temperature": 21.5}.`,
    );
  }
  return row as Row;
}

type Values = ArrayLike<unknown>;

/** True for an array or a typed array: it can be a column. */
function isColumnValues(value: unknown): value is Values {
  return Array.isArray(value) || isTypedArray(value);
}

/** One object of equally long arrays, a column each. */
class ColumnsSource implements SliceSource {
  readonly names: readonly string[];
  readonly rowCount: number;
  private readonly columns: readonly Values[];

  constructor(
    readonly form: TableForm,
    table: Readonly<Record<string, Values>>,
  ) {
    this.names = Object.keys(table);
    assertWidth(this.names.length);
    this.columns = Object.values(table);
    this.rowCount = this.columns[0]?.length ?? 0;
    for (const [index, column] of this.columns.entries()) {
      if (column.length !== this.rowCount) {
        throw invalidTable(
          `Column "${this.names[index]!}" has ${column.length} values and column "${this.names[0]!}" has ${this.rowCount}. All columns need the same number of values.`,
        );
      }
      assertDense(column, `Column "${this.names[index]!}"`);
    }
  }

  *slices({ sizer }: SliceOptions): Iterable<Slice> {
    for (let first = 0; first < this.rowCount;) {
      const rows = Math.min(sizer.rows, this.rowCount - first);
      const from = first;
      yield {
        first: from,
        rows,
        column: (index) => ({ kind: 'values', cells: part(this.columns[index]!, from, from + rows) }),
      };
      first += rows;
    }
  }
}

function part(values: Values, from: number, to: number): Values {
  return Array.isArray(values)
    ? (values.slice(from, to) as unknown[])
    : (values as Float64Array).subarray(from, to);
}

/** An array of arrays whose first row holds the names. */
class MatrixSource implements SliceSource {
  readonly names: readonly string[];
  readonly rowCount: number;

  readonly warnings: readonly string[];

  private constructor(
    readonly form: TableForm,
    readonly matrix: readonly (readonly unknown[])[],
    { names, warning }: Header,
  ) {
    this.names = names;
    this.warnings = warning === undefined ? [] : [warning];
    this.rowCount = matrix.length - 1;
  }

  static async open(
    form: TableForm,
    matrix: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<MatrixSource> {
    const header = matrix[0] as readonly unknown[];
    assertWidth(header.length);
    const names = header.map((name, index) => {
      if (typeof name !== 'string') {
        throw invalidTable(
          `The first row of an array of arrays must hold the column names; field ${index + 1} of it is ${show(name)}.`,
        );
      }
      return name;
    });
    const named = headerOf(names);
    const sizer = new SliceSizer(2);
    for (let at = 1; at < matrix.length;) {
      const end = Math.min(matrix.length, at + sizer.rows);
      for (; at < end; at++) {
        checkRow(matrix[at], at, names.length);
      }
      if (at < matrix.length) {
        await sizer.step(signal);
      }
    }
    return new MatrixSource(form, matrix as readonly (readonly unknown[])[], named);
  }

  *slices({ sizer }: SliceOptions): Iterable<Slice> {
    for (let first = 0; first < this.rowCount;) {
      const rows = Math.min(sizer.rows, this.rowCount - first);
      const from = first;
      yield {
        first: from,
        rows,
        column: (index) => ({ kind: 'values', cells: this.cells(index, from, rows) }),
      };
      first += rows;
    }
  }

  private cells(index: number, first: number, rows: number): unknown[] {
    const cells = new Array<unknown>(rows);
    for (let i = 0; i < rows; i++) {
      cells[i] = this.matrix[first + i + 1]![index];
    }
    return cells;
  }
}

function checkRow(row: unknown, at: number, width: number): void {
  if (!Array.isArray(row)) {
    throw invalidTable(`Row ${at} is ${show(row)}; in an array of arrays every row must be an array.`);
  }
  if (row.length !== width) {
    throw invalidTable(`Row ${at} has ${row.length} values, the row of names has ${width}.`);
  }
}

/**
 * A table of JavaScript values; `form` is given where the values were parsed from text. Errors: `table.empty`;
 * `table.invalid`, also where a getter or a Proxy throws; `limit.exceeded` for too many columns.
 */
export async function openValue(
  value: unknown,
  form: TableForm | undefined,
  signal?: AbortSignal,
): Promise<SliceSource> {
  try {
    return await openPlain(value, form, signal);
  } catch (error) {
    if (error instanceof ServiceError || signal?.aborted === true) {
      throw error;
    }
    throw invalidTable(`The table cannot be read: ${reasonOf(error)}.`);
  }
}

async function openPlain(
  value: unknown,
  form: TableForm | undefined,
  signal?: AbortSignal,
): Promise<SliceSource> {
  if (Array.isArray(value)) {
    if (value.length === 0) {
      throw emptyTable('The table is an empty array.');
    }
    return Array.isArray(value[0])
      ? MatrixSource.open(form ?? 'matrix', value, signal)
      : RowsSource.open(form ?? 'rows', value, signal);
  }
  if (typeof value !== 'object' || value === null || isNoTable(value)) {
    throw invalidTable(
      `The table is ${describe(value)}. Give an array of objects, one object, an object of arrays, an array of arrays with a row of names, an Arrow table, or CSV, JSON, Parquet or Arrow as text or Buffer.`,
    );
  }
  if (isArrowTable(value)) {
    return new ArrowSource('arrow', value);
  }
  const names = ownNames(value);
  const cells = names.map((name) => (value as Record<string, unknown>)[name]);
  if (cells.length === 0) {
    throw emptyTable('The table is an object without properties. A row needs at least one column.');
  }
  if (cells.every(isColumnValues)) {
    return new ColumnsSource(form ?? 'columns', value as Record<string, ArrayLike<unknown>>);
  }
  return RowsSource.open(form ?? 'row', [value], signal);
}

/** Values that are not a table, however many they are. */
function isNoTable(value: object): boolean {
  return isDate(value) || isTypedArray(value) || types.isMap(value) || types.isSet(value);
}

function describe(value: unknown): string {
  if (value === undefined || value === null) {
    return `${String(value)}: there is no table in this message`;
  }
  if (typeof value === 'object') {
    return isDate(value) ? 'a date' : `a ${Object.prototype.toString.call(value).slice(8, -1)}`;
  }
  return `a ${typeof value}${typeof value === 'function' ? '' : ` (${show(value)})`}`;
}
