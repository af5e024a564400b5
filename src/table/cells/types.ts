import { isDate } from '../../util/values';
import { ServiceError } from '../../wire/service-error';

export type { Label } from '../../wire/vocabulary';

/** Types of a column, as a model card names them. `integer` is a safe whole number, `bigint` one beyond 2^53. */
export const COLUMN_TYPES = ['number', 'integer', 'bigint', 'boolean', 'text', 'date'] as const;

export type ColumnType = (typeof COLUMN_TYPES)[number];

/**
 * The types that a user can give a column: a date may say in which order its day and month are written, a number which
 * decimal mark it has.
 */
export const GIVEN_TYPES = [...COLUMN_TYPES, 'date-dmy', 'date-mdy', 'number-comma', 'number-point'] as const;

export type GivenType = (typeof GIVEN_TYPES)[number];

export interface Column extends CellReading {
  name: string;
  type: ColumnType;
}

/** How the cells of a column are read. */
export interface CellReading {
  /** Text of a number column has this decimal mark, and its other one may group thousands. */
  decimal?: Decimal;
  /** Text of a number column has this unit beside each number; left out, none. `h:mm` are times of day, in seconds. */
  unit?: string;
  /** Text of a date column that is not ISO 8601 has its day, month and year in this order. */
  order?: DateOrder;
  /** The last of the hundred years that two digits of a date can mean; left out, 2068. */
  years?: number;
  /**
   * What numbers of a date column are: days since 1900 as spreadsheets count them, or the digits of a date (20241121).
   * Left out, seconds or milliseconds since 1970.
   */
  numbers?: 'days' | 'digits';
  /** Dates are held as the local time of this zone (an IANA name), as if that were UTC; left out, as UTC. */
  zone?: string;
  /** Text is read without the white space around it. */
  trim?: true;
  /** Words that mean "missing", beside empty text and NA and its like. */
  missing?: readonly string[];
  /** What cannot be read is missing; left out, it is an error. */
  unreadable?: 'missing';
  /** Rows without a value in this column are left out. */
  required?: true;
}

export type Decimal = ',' | '.';

export type DateOrder = 'dmy' | 'mdy' | 'ymd';

/** A row as an object, a cell to a property. */
export type Row = Record<string, unknown>;

export type FileFormat = 'parquet' | 'csv';

/** Sets an own property; plain assignment to `__proto__` would change the object's prototype instead. */
export function setCell(row: Row, name: string, value: unknown): void {
  if (name === '__proto__') {
    Object.defineProperty(row, name, { value, enumerable: true, configurable: true, writable: true });
  } else {
    row[name] = value;
  }
}

/** `table.invalid` with the place: column by name, row counted from 1 (without the header). */
export function invalidCell(column: string, row: number, problem: string): ServiceError {
  return new ServiceError('table.invalid', `Column "${column}", row ${row + 1}: ${problem}`);
}

export function invalidTable(problem: string): ServiceError {
  return new ServiceError('table.invalid', problem);
}

export function emptyTable(problem: string): ServiceError {
  return new ServiceError('table.empty', problem);
}

const SHOWN = 40;
const LONG_BITS = 4096;

/** An integer of more than some 1,200 digits: to write them out takes the square of their number. */
export function isLong(value: bigint): boolean {
  return BigInt.asIntN(LONG_BITS, value) !== value;
}

/** A value in a sentence: short, on one line. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
  }
  if (isDate(value)) {
    return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString();
  }
  if (Array.isArray(value)) {
    return 'an array';
  }
  if (ArrayBuffer.isView(value)) {
    return 'a Buffer';
  }
  if (typeof value === 'object' && value !== null) {
    return 'an object';
  }
  if (typeof value === 'bigint' && isLong(value)) {
    return 'an integer of more than 1,200 digits';
  }
  return String(value);
}

/** `table.invalid` for a cell that is not a plain value. */
export function nestedCell(name: string, row: number, cell: unknown): Error {
  return invalidCell(name, row, nestedProblem(cell));
}

export function nestedProblem(cell: unknown): string {
  const what = typeof cell === 'function' || typeof cell === 'symbol' ? `a ${typeof cell}` : show(cell);
  return `the cell holds ${what}. A cell must be a number, text, true or false, or a date: flatten it first, or add the column to Ignore.`;
}

/** Column names in a sentence, the first twenty of them. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => `"${name}"`);
  return names.length > 20 ? `${shown.join(', ')} and ${names.length - 20} more` : shown.join(', ');
}
