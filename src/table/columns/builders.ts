import { isDate } from '../../util/realms';
import { invalidCell, show } from '../cells/errors';
import { isAbsent, parseDate, parseNumber } from '../cells/field-readings';
import {
  COMMA,
  decimalOf,
  looksOf,
  numberWith,
  parseLocalNumber,
  PLAIN,
  POINT,
} from '../cells/local-formats';
import type { Column, Decimal } from '../cells/types';
import { cellsOf, type ColumnData } from './column-batch';
import { BigintBuilder, BooleanBuilder } from './exact-builders';
import { grown } from './grown';
import type { SliceColumn } from './table-source';
import { TextBuffer } from './text-buffer';

/**
 * Gathers the cells of one column, slice by slice, in the type that the column has. A lossless change is
 * made (numeric text to number, ISO text to date, anything plain to text); anything else is `table.invalid`
 * with column and row.
 */
export interface ColumnBuilder {
  /** Adds all cells of a slice; `first` is the number of its first row in the table, from 0. */
  add(cells: SliceColumn, first: number): void;
  /** Adds missing cells. */
  skip(rows: number): void;
  readonly bytes: number;
  /** What was gathered since the last call. */
  take(): ColumnData;
}

export function builderFor(column: Column): ColumnBuilder {
  switch (column.type) {
    case 'number':
    case 'integer':
      return new NumberBuilder(column.name, column.type, column.decimal);
    case 'date':
      return new DateBuilder(column.name);
    case 'bigint':
      return new BigintBuilder(column.name);
    case 'boolean':
      return new BooleanBuilder(column.name);
    case 'text':
      return new TextBuilder(column.name);
  }
}

/** Columns held as a Float64Array: what a cell is as a number is up to the kind of column. */
abstract class FloatBuilder implements ColumnBuilder {
  protected values = new Float64Array(0);
  protected rows = 0;

  constructor(protected readonly name: string) {}

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

  abstract add(cells: SliceColumn, first: number): void;
  abstract take(): ColumnData;

  protected takeValues(): Float64Array {
    const taken = this.values.length === this.rows ? this.values : this.values.slice(0, this.rows);
    this.values = new Float64Array(this.rows);
    this.rows = 0;
    return taken;
  }
}

class NumberBuilder extends FloatBuilder {
  /** An `integer` column in which a fraction turned up is handed over as `number`: nothing is lost. */
  private fractions = false;

  constructor(
    name: string,
    private readonly type: 'number' | 'integer',
    private readonly decimal: Decimal | undefined,
  ) {
    super(name);
  }

  add(column: SliceColumn, first: number): void {
    const cells = column.kind === 'typed' ? typedNumbers(column.data) : column.cells;
    const comma = column.kind === 'fields' && column.comma;
    const grouped = column.kind === 'fields' && column.grouped === true;
    const values = this.room(cells.length);
    const integers = this.type === 'integer';
    let at = this.rows;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      const value = typeof cell === 'number' ? cell : this.convert(cell, first + i, comma, grouped);
      if (integers && !Number.isSafeInteger(value) && !Number.isNaN(value)) {
        this.fractions = true;
      }
      values[at++] = value;
    }
    this.rows = at;
  }

  private convert(cell: unknown, row: number, comma: boolean, grouped: boolean): number {
    if (cell === null || cell === undefined) {
      return NaN;
    }
    if (typeof cell === 'string') {
      const value = this.read(cell, comma, grouped);
      if (value !== undefined) {
        return value;
      }
      throw invalidCell(this.name, row, noNumber(cell, this.decimal));
    } else if (typeof cell === 'bigint') {
      return Number(cell);
    }
    throw invalidCell(this.name, row, `${show(cell)} is not a number, and this column holds numbers.`);
  }

  private read(cell: string, comma: boolean, grouped: boolean): number | undefined {
    const { decimal } = this;
    if (decimal !== undefined) {
      return numberWith(decimal, cell);
    }
    const value = parseNumber(cell, comma && !grouped);
    const mark = value === undefined && grouped ? decimalOf(looksOf(cell)) : undefined;
    return mark === undefined ? value : parseLocalNumber(cell, mark);
  }

  take(): ColumnData {
    const type = this.fractions ? 'number' : this.type;
    this.fractions = false;
    return { type, values: this.takeValues() };
  }
}

/** Why text is no number of a column, and what would be one. */
function noNumber(cell: string, decimal: Decimal | undefined): string {
  const looks = looksOf(cell);
  if (decimal === undefined && (looks & COMMA) !== 0 && (looks & POINT) !== 0) {
    const readings = [',', '..'].map((mark) => parseLocalNumber(cell, mark as Decimal));
    return `${show(cell)} can mean ${readings.join(' or ')}. Give it as a number, or with a decimal point and without grouping.`;
  }
  if ((looks & (PLAIN | COMMA | POINT)) !== 0) {
    return decimal === ','
      ? `${show(cell)} is not a number with a decimal comma, and the text of this column had one in the train set.`
      : `${show(cell)} is not a number as it is written here. Give it as a number, or with a decimal point and without grouping.`;
  }
  return `${show(cell)} is not a number, and this column holds numbers.`;
}

function typedNumbers(data: ColumnData): ArrayLike<unknown> {
  return data.type === 'number' || data.type === 'integer' ? data.values : cellsOf(data);
}

class DateBuilder extends FloatBuilder {
  add(column: SliceColumn, first: number): void {
    if (column.kind === 'typed' && column.data.type === 'date') {
      this.room(column.data.values.length).set(column.data.values, this.rows);
      this.rows += column.data.values.length;
      return;
    }
    const cells = column.kind === 'typed' ? cellsOf(column.data) : column.cells;
    const values = this.room(cells.length);
    for (let i = 0; i < cells.length; i++) {
      values[this.rows + i] = this.convert(cells[i], first + i);
    }
    this.rows += cells.length;
  }

  private convert(cell: unknown, row: number): number {
    if (cell === null || cell === undefined || cell === '' || Number.isNaN(cell)) {
      return NaN;
    }
    if (isDate(cell)) {
      return cell.getTime();
    }
    if (typeof cell === 'string') {
      const value = parseDate(cell);
      if (!Number.isNaN(value)) {
        return value;
      }
      if (isAbsent(cell)) {
        return NaN;
      }
    }
    throw invalidCell(
      this.name,
      row,
      `${show(cell)} is not a date. Give a Date or ISO 8601 text such as 2026-01-31T12:00:00Z.`,
    );
  }

  take(): ColumnData {
    return { type: 'date', values: this.takeValues() };
  }
}

class TextBuilder implements ColumnBuilder {
  private readonly text = new TextBuffer();

  constructor(private readonly name: string) {}

  get bytes(): number {
    return this.text.bytes;
  }

  skip(rows: number): void {
    this.text.add(new Array<null>(rows).fill(null));
  }

  add(column: SliceColumn, first: number): void {
    if (column.kind === 'fields') {
      this.text.add(column.cells, true);
      return;
    }
    const cells = column.kind === 'typed' ? cellsOf(column.data) : column.cells;
    const texts = new Array<string | null>(cells.length);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      texts[i] = typeof cell === 'string' ? cell : this.convert(cell, first + i);
    }
    this.text.add(texts);
  }

  private convert(cell: unknown, row: number): string | null {
    if (cell === null || cell === undefined || Number.isNaN(cell)) {
      return null;
    }
    if (typeof cell === 'number' || typeof cell === 'boolean' || typeof cell === 'bigint') {
      return String(cell);
    }
    if (isDate(cell)) {
      return Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    }
    throw nestedCell(this.name, row, cell);
  }

  take(): ColumnData {
    return this.text.take();
  }
}

/** `table.invalid` for a cell that is no plain value. */
export function nestedCell(name: string, row: number, cell: unknown): Error {
  const what = typeof cell === 'function' || typeof cell === 'symbol' ? `a ${typeof cell}` : show(cell);
  return invalidCell(
    name,
    row,
    `the cell holds ${what}. A cell must be a number, text, true or false, or a date: flatten it first.`,
  );
}
