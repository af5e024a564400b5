import { invalidCell, show } from '../cells/errors';
import { isAbsent, parseBigint } from '../cells/field-readings';
import type { ColumnBuilder } from './builders';
import { cellsOf, type ColumnData, MISSING_BOOLEAN } from './column-batch';
import { grown } from './grown';
import type { SliceColumn } from './table-source';

export class BooleanBuilder implements ColumnBuilder {
  private values = new Uint8Array(0);
  private rows = 0;

  constructor(private readonly name: string) {}

  get bytes(): number {
    return this.rows;
  }

  skip(rows: number): void {
    this.values = grown(this.values, this.rows + rows);
    this.values.fill(MISSING_BOOLEAN, this.rows, this.rows + rows);
    this.rows += rows;
  }

  add(column: SliceColumn, first: number): void {
    const cells = column.kind === 'typed' ? cellsOf(column.data) : column.cells;
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
    throw invalidCell(this.name, row, `${show(cell)} is neither true nor false.`);
  }

  take(): ColumnData {
    const values = this.values.slice(0, this.rows);
    this.rows = 0;
    return { type: 'boolean', values };
  }
}

/** Whole numbers of 64 bits, kept exact. */
export class BigintBuilder implements ColumnBuilder {
  private values = new BigInt64Array(0);
  private missing = new Uint8Array(0);
  private rows = 0;

  constructor(private readonly name: string) {}

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
    const cells = column.kind === 'typed' ? cellsOf(column.data) : column.cells;
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
    throw invalidCell(this.name, row, `${show(cell)} is not a whole number of 64 bits.`);
  }

  take(): ColumnData {
    const values = this.values.slice(0, this.rows);
    const missing = this.missing.slice(0, this.rows);
    this.rows = 0;
    return missing.includes(1) ? { type: 'bigint', values, missing } : { type: 'bigint', values };
  }
}
