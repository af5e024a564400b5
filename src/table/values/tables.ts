import { types } from 'node:util';

import { SliceSizer, Yielder } from '../../util/concurrency';
import { isDate, isTypedArray, readReason } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { ArrowSource, isArrowTable } from '../arrow/source';
import { emptyTable, invalidCell, invalidTable, listNames, type Row, setCell, show } from '../cells/types';
import {
  assertDense,
  assertWidth,
  type Header,
  makeHeader,
  maybeEndless,
  ownNames,
  plainNames,
} from '../columns/header';
import type { Slice, SliceOptions, SliceSource, TableForm } from '../columns/slices';

/** A column that is put into a table, in place of one of that name. */
export interface AddedColumn {
  name: string;
  /** Its cell in a row, from 0. @param cellOf the other cells of that row, by column */
  cell: (row: number, cellOf: (column: string) => unknown) => unknown;
}

/** Columns that are put into a table of so many rows. */
export interface AddedColumns {
  rows: number;
  columns: readonly AddedColumn[];
}

/** Puts columns into one row. */
export function addToRow(row: Row, index: number, columns: readonly AddedColumn[]): void {
  const readCell = (column: string): unknown => ownCell(row, column);
  for (const { name, cell } of columns) {
    setCell(row, name, cell(index, readCell));
  }
}

/** The value of a column in an object, whose name for it may have white space around it. */
function ownCell<Value>(object: Readonly<Record<string, Value>>, column: string): Value | undefined {
  if (Object.hasOwn(object, column)) {
    return object[column];
  }
  const key = Object.keys(object).find((one) => one.trim() === column);
  return key === undefined ? undefined : object[key];
}

/** Puts columns into rows; gives those rows. */
export async function addToRows(rows: Row[], { rows: count, columns }: AddedColumns): Promise<Row[]> {
  assertSameRows(rows.length, count);
  await inTurns(count, (index) => addToRow(rows[index]!, index, columns));
  return rows;
}

/** `work` for each row, with turns of the event loop in between. */
async function inTurns(rows: number, work: (row: number) => unknown): Promise<void> {
  const yielder = new Yielder();
  for (let row = 0; row < rows; row++) {
    work(row);
    if ((row & 255) === 255) {
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }
}

function assertSameRows(rows: number, added: number): void {
  if (rows !== added) {
    throw new ServiceError(
      'internal',
      `The table has ${rows} rows and what is added to it ${added}: they cannot be joined.`,
    );
  }
}

/** A table of JavaScript values, in the form that it came in: a class for each form reads it and adds columns to it. */
export abstract class ValueTable implements SliceSource {
  abstract readonly names: readonly string[];
  abstract readonly rowCount: number;

  constructor(readonly form: TableForm) {}

  *slices({ sizer }: SliceOptions): Iterable<Slice> {
    for (let first = 0; first < this.rowCount;) {
      const rows = Math.min(sizer.rows, this.rowCount - first);
      const from = first;
      yield { first, rows, column: (index) => ({ kind: 'values', cells: this.cells(index, from, rows) }) };
      first += rows;
    }
  }

  /** So many cells of a column from a row on; valid until the next call. */
  protected abstract cells(index: number, first: number, rows: number): ArrayLike<unknown>;

  /** Puts columns into the value that was opened, which must be ours to change; gives that value. */
  abstract addColumns(added: AddedColumns): Promise<unknown>;
}

/** Names that objects inherit: only an own property of such a name is a cell. */
const INHERITED = new Set(Object.getOwnPropertyNames(Object.prototype));

/** Objects, a row each (form `rows`), or one object (form `row`). */
export class RowsTable extends ValueTable {
  readonly names: readonly string[];
  readonly rowCount: number;
  /** Reused for all columns and slices, to spare the garbage collector. */
  private readonly read: unknown[] = [];

  /** @param keys the names that some row has */
  constructor(
    form: TableForm,
    readonly objects: readonly Row[],
    private readonly keys: readonly string[],
  ) {
    super(form);
    this.names = plainNames(keys);
    this.rowCount = objects.length;
  }

  /** Checks that every row is an object and finds the union of their keys, in the order of appearance. */
  static async open(form: TableForm, rows: readonly unknown[], signal?: AbortSignal): Promise<RowsTable> {
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
    return new RowsTable(form, rows as readonly Row[], names.list);
  }

  protected cells(index: number, first: number, rows: number): unknown[] {
    const key = this.keys[index]!;
    const { objects, read: cells } = this;
    cells.length = rows;
    let i = 0;
    try {
      if (INHERITED.has(key)) {
        for (; i < rows; i++) {
          const row = objects[first + i]!;
          cells[i] = Object.hasOwn(row, key) ? row[key] : undefined;
        }
      } else {
        for (; i < rows; i++) {
          cells[i] = objects[first + i]![key];
        }
      }
    } catch (error) {
      // A getter, or a Proxy.
      throw invalidCell(this.names[index]!, first + i, `the cell cannot be read: ${readReason(error)}.`);
    }
    return cells;
  }

  async addColumns(added: AddedColumns): Promise<unknown> {
    const rows = await addToRows(this.objects as Row[], added);
    return this.form === 'row' ? rows[0] : rows;
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
class ColumnsTable extends ValueTable {
  readonly names: readonly string[];
  readonly rowCount: number;
  private readonly columns: readonly Values[];

  constructor(
    form: TableForm,
    private readonly table: Record<string, Values>,
  ) {
    super(form);
    this.names = plainNames(Object.keys(table));
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

  protected cells(index: number, first: number, rows: number): Values {
    const values = this.columns[index]!;
    return Array.isArray(values)
      ? (values.slice(first, first + rows) as unknown[])
      : (values as Float64Array).subarray(first, first + rows);
  }

  async addColumns({ rows, columns }: AddedColumns): Promise<unknown> {
    const { table } = this;
    assertSameRows(this.rowCount, rows);
    for (const { name, cell } of columns) {
      const cells: unknown[] = [];
      await inTurns(rows, (row) => cells.push(cell(row, (column) => ownCell(table, column)?.[row])));
      setCell(table, name, cells);
    }
    return table;
  }
}

/** An array of arrays whose first row holds the names. */
class MatrixTable extends ValueTable {
  readonly names: readonly string[];
  readonly rowCount: number;

  readonly warnings: readonly string[];

  private constructor(
    form: TableForm,
    private readonly matrix: unknown[][],
    { names, warning }: Header,
    short: ShortRows,
  ) {
    super(form);
    this.names = names;
    this.warnings = [warning, short.warning].filter((one) => one !== undefined);
    this.rowCount = matrix.length - 1;
  }

  static async open(form: TableForm, given: readonly unknown[], signal?: AbortSignal): Promise<MatrixTable> {
    // As nodes that read spreadsheets give the empty rows above and below a table. Below it, a row of empty cells is a row.
    const begin = given.findIndex((row) => !isEmptyRow(row));
    const end = given.findLastIndex((row) => !hasNoCells(row)) + 1;
    const matrix = begin <= 0 && end === given.length ? given : given.slice(Math.max(0, begin), end);
    const header = (matrix[0] ?? []) as readonly unknown[];
    if (header.length === 0) {
      throw emptyTable('The first row of the array of arrays is empty: it must hold the column names.');
    }
    assertWidth(header.length);
    // Array.from, as `map` leaves out places without a value.
    const names = Array.from(header, (name, index) => {
      if (name === null || name === undefined) {
        return '';
      }
      if (typeof name !== 'string') {
        throw invalidTable(
          `The first row of an array of arrays must hold the column names; field ${index + 1} of it is ${show(name)}.`,
        );
      }
      return name;
    });
    const named = makeHeader(names);
    const short = new ShortRows(names.length);
    const sizer = new SliceSizer(2);
    for (let at = 1; at < matrix.length;) {
      const end = Math.min(matrix.length, at + sizer.rows);
      for (; at < end; at++) {
        short.look(matrix[at], at);
      }
      if (at < matrix.length) {
        await sizer.step(signal);
      }
    }
    return new MatrixTable(form, matrix as unknown[][], named, short);
  }

  protected cells(index: number, first: number, rows: number): unknown[] {
    const cells = new Array<unknown>(rows);
    for (let i = 0; i < rows; i++) {
      cells[i] = this.matrix[first + i + 1]![index];
    }
    return cells;
  }

  /** New columns come last. */
  async addColumns({ rows, columns }: AddedColumns): Promise<unknown> {
    const { matrix } = this;
    assertSameRows(this.rowCount, rows);
    const header = matrix[0]!;
    const known = [...header];
    const places: number[] = [];
    for (const { name } of columns) {
      const at = header.indexOf(name);
      places.push(at === -1 ? header.push(name) - 1 : at);
    }
    await inTurns(rows, (index) => {
      const row = matrix[index + 1]!;
      while (row.length < known.length) {
        row.push(null);
      }
      const readCell = (column: string): unknown => row[known.indexOf(column)];
      for (const [at, { cell }] of columns.entries()) {
        row[places[at]!] = cell(index, readCell);
      }
    });
    return matrix;
  }
}

function hasNoCells(row: unknown): boolean {
  return Array.isArray(row) && !row.some(() => true);
}

function isEmptyRow(row: unknown): boolean {
  return Array.isArray(row) && row.every((cell) => cell === null || cell === undefined || cell === '');
}

/**
 * Rows of an array of arrays that end before the row of names does, as those of a spreadsheet do whose last cells are empty:
 * these cells are missing.
 */
class ShortRows {
  private count = 0;
  private first = 0;

  constructor(private readonly width: number) {}

  /** @throws ServiceError `table.invalid` for one that is no array, or has more values than there are names */
  look(row: unknown, at: number): void {
    if (!Array.isArray(row)) {
      throw invalidTable(`Row ${at} is ${show(row)}; in an array of arrays every row must be an array.`);
    }
    if (row.length > this.width) {
      throw invalidTable(`Row ${at} has ${row.length} values, the row of names has ${this.width}.`);
    }
    if (row.length < this.width) {
      this.first ||= at;
      this.count++;
    }
  }

  get warning(): string | undefined {
    const { count, first } = this;
    const which = count === 1 ? `Row ${first} has` : `${count} rows, the first of them row ${first}, have`;
    return count === 0
      ? undefined
      : `${which} fewer values than the row of names: cells absent at the end are missing values.`;
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
    throw invalidTable(`The table cannot be read: ${readReason(error)}.`);
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
    assertDense(value, 'The table');
    return Array.isArray(value[0])
      ? MatrixTable.open(form ?? 'matrix', value, signal)
      : RowsTable.open(form ?? 'rows', value, signal);
  }
  if (types.isNativeError(value)) {
    throw invalidTable(
      `The table is an error (${show(readReason(value))}), not rows: what comes before failed, and passed its error on.`,
    );
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
  if (isOfSpreadsheet(value)) {
    const what = Object.hasOwn(value, '!ref') ? 'sheet of a spreadsheet, cell by cell' : 'workbook';
    throw invalidTable(
      `The table is a ${what}: give the rows of a sheet, as a node "sheet to json" or XLSX.utils.sheet_to_json makes them.`,
    );
  }
  const cells = names.map((name) => (value as Record<string, unknown>)[name]);
  if (cells.length === 0) {
    throw emptyTable('The table is an object without properties. A row needs at least one column.');
  }
  if (cells.every(isColumnValues)) {
    assertNoSheets(names, cells);
    return new ColumnsTable(form ?? 'columns', value as Record<string, Values>);
  }
  return RowsTable.open(form ?? 'row', [value], signal);
}

/** Whether an object is a workbook, or one of its sheets, as SheetJS has them: not rows, but cells (`A1`) within a `!ref`. */
export function isOfSpreadsheet(value: object): boolean {
  return (
    (Object.hasOwn(value, 'SheetNames') && Object.hasOwn(value, 'Sheets')) ||
    typeof (value as Record<string, unknown>)['!ref'] === 'string'
  );
}

/** @throws ServiceError `table.invalid` for lists of rows by name, as nodes that read spreadsheets give their sheets */
function assertNoSheets(names: readonly string[], lists: readonly Values[]): void {
  const filled = lists.filter((list) => list.length > 0);
  const isRow = (value: unknown): boolean => typeof value === 'object' && value !== null && !isNoTable(value);
  if (filled.length > 0 && filled.every((list) => isRow(list[0]))) {
    const what = names.length === 1 ? 'an object around a list' : `an object of ${names.length} lists`;
    const first = names[lists.indexOf(filled[0]!)]!;
    throw invalidTable(
      `The table is ${what} of rows, as of the sheets of a spreadsheet: ${listNames(names)}. Give the rows of one alone, such as those at ${show(first)}.`,
    );
  }
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
