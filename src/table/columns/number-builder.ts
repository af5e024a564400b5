import { invalidCell, show } from '../cells/errors';
import { parseNumber } from '../cells/field-readings';
import {
  COMMA,
  decimalOf,
  looksOf,
  numberWith,
  parseLocalNumber,
  PLAIN,
  POINT,
} from '../cells/local-formats';
import type { Decimal } from '../cells/types';
import { cellsOf, type ColumnData } from './column-batch';
import { FloatBuilder } from './column-builder';
import type { SliceColumn } from './table-source';

export class NumberBuilder extends FloatBuilder {
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
    const readings = [',', '.'].map((mark) => parseLocalNumber(cell, mark as Decimal));
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
