import { isDate } from '../../util/realms';
import { isAbsent } from '../cells/absent';
import { isLong, nestedProblem, show } from '../cells/errors';
import { DateReader, whyNotDate } from '../cells/parse-date';
import { parseBigint } from '../cells/parse-number';
import type { Column } from '../cells/types';
import { assertText } from './bounds';
import { type ColumnData, MISSING_BOOLEAN } from './column-batch';
import { FloatBuilder, grown, StrictBuilder, type TypedColumnBuilder } from './column-builder';
import { NumberBuilder } from './number-builder';
import { plainCells, type SliceColumn } from './slices';
import { TextBuffer } from './text-buffer';

/** The builder of a column's type. */
export function builderFor(column: Column): TypedColumnBuilder {
  switch (column.type) {
    case 'number':
    case 'integer':
      return new NumberBuilder(column);
    case 'date':
      return new DateBuilder(column);
    case 'bigint':
      return new BigintBuilder(column);
    case 'boolean':
      return new BooleanBuilder(column);
    case 'text':
      return new TextBuilder(column);
  }
}

class DateBuilder extends FloatBuilder {
  private readonly reader = new DateReader(this.column);

  add(column: SliceColumn, first: number): void {
    if (column.kind === 'typed' && column.data.type === 'date') {
      this.addInstants(column.data.values);
      return;
    }
    const cells = plainCells(column);
    const values = this.room(cells.length);
    for (let i = 0; i < cells.length; i++) {
      values[this.rows + i] = this.convert(cells[i], first + i);
    }
    this.rows += cells.length;
  }

  private addInstants(instants: Float64Array): void {
    const values = this.room(instants.length);
    for (let i = 0; i < instants.length; i++) {
      values[this.rows + i] = this.reader.fromInstant(instants[i]!);
    }
    this.rows += instants.length;
  }

  private convert(cell: unknown, row: number): number {
    if (cell === null || cell === undefined || cell === '' || Number.isNaN(cell)) {
      return NaN;
    }
    const value = this.reader.read(cell);
    if (!Number.isNaN(value) || (isDate(cell) && Number.isNaN(cell.getTime()))) {
      return value;
    }
    if (typeof cell === 'string' && isAbsent(cell)) {
      return NaN;
    }
    return this.refuse(row, whyNotDate(show(cell), cell, this.column.order), NaN);
  }

  take(): ColumnData {
    return { type: 'date', values: this.takeValues() };
  }
}

class TextBuilder extends StrictBuilder {
  private readonly text = new TextBuffer();

  get bytes(): number {
    return this.text.bytes;
  }

  skip(rows: number): void {
    this.text.add(new Array<null>(rows).fill(null));
  }

  add(column: SliceColumn, first: number): void {
    const { trim } = this.column;
    if (column.kind === 'fields') {
      this.text.add(trim === true ? column.cells.map((cell) => cell.trim()) : column.cells, true);
      return;
    }
    const cells = plainCells(column);
    const texts = new Array<string | null>(cells.length);
    let all = 0;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      const text = typeof cell === 'string' ? cell : this.convert(cell, first + i);
      texts[i] = trim === true ? (text?.trim() ?? null) : text;
      const { length } = texts[i] ?? '';
      all += length;
      if (column.kind === 'values') {
        assertText(this.column.name, first + i, length, all);
      }
    }
    this.text.add(texts, trim);
  }

  private convert(cell: unknown, row: number): string | null {
    if (cell === null || cell === undefined || Number.isNaN(cell)) {
      return null;
    }
    if (
      typeof cell === 'number' ||
      typeof cell === 'boolean' ||
      (typeof cell === 'bigint' && !isLong(cell))
    ) {
      return String(cell);
    }
    if (isDate(cell)) {
      return Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    }
    return this.refuse(row, nestedProblem(cell), null);
  }

  take(): ColumnData {
    return this.text.take();
  }
}

class BooleanBuilder extends StrictBuilder {
  private values = new Uint8Array(0);
  private rows = 0;

  get bytes(): number {
    return this.rows;
  }

  skip(rows: number): void {
    this.values = grown(this.values, this.rows + rows);
    this.values.fill(MISSING_BOOLEAN, this.rows, this.rows + rows);
    this.rows += rows;
  }

  add(column: SliceColumn, first: number): void {
    const cells = plainCells(column);
    this.values = grown(this.values, this.rows + cells.length);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      this.values[this.rows + i] = typeof cell === 'boolean' ? Number(cell) : this.convert(cell, first + i);
    }
    this.rows += cells.length;
  }

  private convert(cell: unknown, row: number): number {
    if (cell === null || cell === undefined || cell === '' || Number.isNaN(cell)) {
      return MISSING_BOOLEAN;
    }
    if (typeof cell === 'string') {
      const lower = cell.toLowerCase();
      if (lower === 'true' || lower === 'false') {
        return lower === 'true' ? 1 : 0;
      }
      if (isAbsent(cell)) {
        return MISSING_BOOLEAN;
      }
    }
    return this.refuse(row, `${show(cell)} is neither true nor false.`, MISSING_BOOLEAN);
  }

  take(): ColumnData {
    const values = this.values.slice(0, this.rows);
    this.rows = 0;
    return { type: 'boolean', values };
  }
}

/** 64-bit integers, kept exact. */
class BigintBuilder extends StrictBuilder {
  private values = new BigInt64Array(0);
  private missing = new Uint8Array(0);
  private rows = 0;

  get bytes(): number {
    return this.rows * 9;
  }

  private room(rows: number): void {
    this.values = grown(this.values, this.rows + rows);
    this.missing = grown(this.missing, this.rows + rows);
  }

  skip(rows: number): void {
    this.room(rows);
    this.values.fill(0n, this.rows, this.rows + rows);
    this.missing.fill(1, this.rows, this.rows + rows);
    this.rows += rows;
  }

  add(column: SliceColumn, first: number): void {
    const cells = plainCells(column);
    this.room(cells.length);
    for (let i = 0; i < cells.length; i++) {
      const value = this.convert(cells[i], first + i);
      this.values[this.rows + i] = value ?? 0n;
      this.missing[this.rows + i] = value === null ? 1 : 0;
    }
    this.rows += cells.length;
  }

  private convert(cell: unknown, row: number): bigint | null {
    if (cell === null || cell === undefined || Number.isNaN(cell)) {
      return null;
    }
    if (typeof cell === 'bigint' && BigInt.asIntN(64, cell) === cell) {
      return cell;
    }
    if (typeof cell === 'number' && Number.isSafeInteger(cell)) {
      return BigInt(cell);
    }
    if (typeof cell === 'string') {
      const value = parseBigint(cell);
      if (value !== undefined) {
        return value;
      }
    }
    return this.refuse(row, `${show(cell)} is not a 64-bit integer.`, null);
  }

  take(): ColumnData {
    const values = this.values.slice(0, this.rows);
    const missing = this.missing.slice(0, this.rows);
    this.rows = 0;
    return missing.includes(1) ? { type: 'bigint', values, missing } : { type: 'bigint', values };
  }
}
