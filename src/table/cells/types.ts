/** Types of a column, as a model card names them. `integer` is a safe whole number, `bigint` one beyond 2^53. */
export const COLUMN_TYPES = ['number', 'integer', 'bigint', 'boolean', 'text', 'date'] as const;

export type ColumnType = (typeof COLUMN_TYPES)[number];

export interface Column {
  name: string;
  type: ColumnType;
  /** Text of a number column has this decimal mark, and its other one may group thousands. */
  decimal?: Decimal;
}

export type Decimal = ',' | '.';

/** A row as an object, a cell to a property. */
export type Row = Record<string, unknown>;

/** A label of a classification target as JSON can carry it. */
export type Label = string | number | boolean;

export type FileFormat = 'parquet' | 'csv';
