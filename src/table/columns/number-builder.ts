import { show } from '../cells/errors';
import { readNumber, whyNotNumber } from '../cells/parse-number';
import { cellsOf, type ColumnData } from './column-batch';
import { FloatBuilder } from './column-builder';
import type { SliceColumn } from './slices';

export class NumberBuilder extends FloatBuilder {
  /** An `integer` column in which a fraction turned up is handed over as `number`: nothing is lost. */
  private fractions = false;

  add(column: SliceColumn, first: number): void {
    const cells = column.kind === 'typed' ? typedNumbers(column.data) : column.cells;
    const comma = column.kind === 'fields' && column.comma;
    // Outside a text file nothing tells the decimal mark: text is read where only one is possible.
    const grouped = column.kind !== 'fields' || column.grouped === true;
    const values = this.room(cells.length);
    const integers = this.column.type === 'integer';
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
      const value = readNumber(cell, this.column, comma, grouped);
      if (value !== undefined) {
        return value;
      }
      return this.refuse(row, whyNotNumber(cell, this.column), NaN);
    }
    if (typeof cell === 'bigint') {
      return Number(cell);
    }
    return this.refuse(row, `${show(cell)} is not a number, and this column holds numbers.`, NaN);
  }

  take(): ColumnData {
    const type = this.fractions || this.column.type !== 'integer' ? 'number' : 'integer';
    this.fractions = false;
    return { type, values: this.takeValues() };
  }
}

function typedNumbers(data: ColumnData): ArrayLike<unknown> {
  return data.type === 'number' || data.type === 'integer' ? data.values : cellsOf(data);
}
