import { isDate } from '../../util/realms';
import { isAbsent } from '../cells/absent';
import { isLong } from '../cells/errors';
import { parseDate } from '../cells/parse-date';
import { type NumberReading, parseBigint, readNumber } from '../cells/parse-number';
import type { Column, ColumnType, Label } from '../cells/types';
import { cellsOf } from '../columns/column-batch';
import type { SliceColumn } from '../columns/slices';

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

  /** The first row of each kind of these. */
  private readonly firsts = { missing: Infinity, absent: Infinity, empty: Infinity };

  add(column: SliceColumn, first: number): void {
    const cells: ArrayLike<unknown> = column.kind === 'typed' ? cellsOf(column.data) : column.cells;
    if (column.kind === 'fields') {
      this.fields = true;
      this.comma = column.comma;
    }
    for (let i = 0; i < cells.length; i++) {
      this.addCell(cells[i], first + i);
    }
  }

  private addCell(cell: unknown, row: number): void {
    if (isDate(cell)) {
      cell = Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    }
    if (cell === null || cell === undefined || Number.isNaN(cell) || isNoLabel(cell)) {
      this.missing++;
      this.firsts.missing = Math.min(this.firsts.missing, row);
      return;
    }
    if (typeof cell === 'string') {
      if (cell === '') {
        this.empty++;
        this.firsts.empty = Math.min(this.firsts.empty, row);
        if (this.fields) {
          return;
        }
      } else if (isAbsent(cell)) {
        this.absent++;
        this.firsts.absent = Math.min(this.firsts.absent, row);
      }
    }
    if (this.distinct.size <= CAP * 2) {
      this.distinct.add(cell);
    }
  }

  settle({ type, decimal, unit, trim }: Omit<Column, 'name'>): {
    missing: number;
    firstMissing?: number;
    distinct: number;
    classes?: Label[];
  } {
    const numeric = type === 'number' || type === 'integer' || type === 'bigint';
    const missingToo = {
      missing: true,
      empty: type !== 'text' || this.fields,
      absent: type !== 'text',
    };
    let missing = 0;
    let first = Infinity;
    for (const kind of ['missing', 'empty', 'absent'] as const) {
      if (missingToo[kind]) {
        missing += this[kind];
        first = Math.min(first, this.firsts[kind]);
      }
    }
    const lacks = { missing, ...(missing > 0 && { firstMissing: first }) };
    const reading = { decimal, unit };
    const labels = new Set<Label>();
    for (const value of this.distinct) {
      const own = trim === true && typeof value === 'string' ? value.trim() : value;
      const label = own === '' && trim === true ? undefined : asLabel(own, type, this.comma, reading);
      if (label !== undefined) {
        labels.add(label);
      }
    }
    if (labels.size > CAP) {
      return { ...lacks, distinct: CAP + 1 };
    }
    const classes = [...labels].sort(numeric ? byValue : byCodePoint);
    return { ...lacks, distinct: labels.size, classes };
  }
}

/** What is refused, or made missing, when it is read. */
function isNoLabel(cell: unknown): boolean {
  return typeof cell === 'object' || (typeof cell === 'bigint' && isLong(cell));
}

function asLabel(
  value: unknown,
  type: ColumnType,
  comma: boolean,
  reading: NumberReading,
): Label | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = typeof value !== 'string' ? Number(value) : readNumber(value, reading, comma, false);
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
function byCodePoint(a: Label, b: Label): number {
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}
