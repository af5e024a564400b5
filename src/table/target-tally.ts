import { cellsOf } from './batch';
import type { SliceColumn } from './source';
import { isAbsent, parseBigint, parseDate, parseNumber } from './text-cells';
import type { ColumnType, Label } from './types';

const CAP = 1000;

/** Counts the missing and the distinct values of the target, up to 1,000 of the latter. */
export class TargetTally {
  private readonly distinct = new Set<unknown>();
  private missing = 0;
  /** NA and its like, and empty text: missing or not, as the type of the column says in the end. */
  private absent = 0;
  private empty = 0;
  private comma = false;
  private fields = false;

  add(column: SliceColumn): void {
    const cells: ArrayLike<unknown> = column.kind === 'typed' ? cellsOf(column.data) : column.cells;
    if (column.kind === 'fields') {
      this.fields = true;
      this.comma = column.comma;
    }
    for (let i = 0; i < cells.length; i++) {
      this.addCell(cells[i]);
    }
  }

  private addCell(cell: unknown): void {
    if (cell instanceof Date) {
      cell = Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    }
    if (cell === null || cell === undefined || Number.isNaN(cell)) {
      this.missing++;
      return;
    }
    if (typeof cell === 'string') {
      if (cell === '') {
        this.empty++;
        if (this.fields) {
          return;
        }
      } else if (isAbsent(cell)) {
        this.absent++;
      }
    }
    if (this.distinct.size <= CAP * 2) {
      this.distinct.add(cell);
    }
  }

  settle(type: ColumnType): { missing: number; distinct: number; classes?: Label[] } {
    const numeric = type === 'number' || type === 'integer' || type === 'bigint';
    let { missing } = this;
    if (type !== 'text' || this.fields) {
      missing += this.empty;
    }
    if (type !== 'text') {
      missing += this.absent;
    }
    const labels = new Set<Label>();
    for (const value of this.distinct) {
      const label = asLabel(value, type, this.comma);
      if (label !== undefined) {
        labels.add(label);
      }
    }
    if (labels.size > CAP) {
      return { missing, distinct: CAP + 1 };
    }
    const classes = [...labels].sort(numeric ? byValue : byCodePoint);
    return { missing, distinct: labels.size, classes };
  }
}

function asLabel(value: unknown, type: ColumnType, comma: boolean): Label | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = typeof value === 'string' ? parseNumber(value, comma) : Number(value);
      return number === undefined || Number.isNaN(number) ? undefined : number;
    }
    case 'bigint': {
      const whole = parseBigint(String(value));
      return whole === null || whole === undefined ? undefined : String(whole);
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : booleanOf(String(value));
    case 'date': {
      const time = parseDate(String(value));
      return Number.isNaN(time) ? undefined : new Date(time).toISOString();
    }
    case 'text':
      return String(value);
  }
}

function booleanOf(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

function byValue(a: Label, b: Label): number {
  if (typeof a === 'string' && typeof b === 'string') {
    const difference = BigInt(a) - BigInt(b);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  return Number(a) - Number(b);
}

/** Order by code points, which differs from the order of UTF-16 units beyond the basic plane. */
export function byCodePoint(a: Label, b: Label): number {
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
