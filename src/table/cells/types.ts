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
