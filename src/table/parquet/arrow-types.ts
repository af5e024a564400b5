import type { Column, ColumnType } from '../cells/types';

/** Numbers of Arrow's type enumeration that a column of each type may be stored as. */
const STORED_AS: Record<ColumnType, number[]> = {
  number: [2, 3],
  integer: [2, 3],
  bigint: [2],
  boolean: [6],
  text: [5, 20, 24],
  date: [8, 10],
};

/** Whether a file whose columns have these names and stored types has these columns, in this order and no others. */
export function storedAs(
  columns: readonly Column[],
  names: readonly string[],
  stored: readonly number[],
): boolean {
  return (
    names.length === columns.length &&
    columns.every(
      ({ name, type }, index) => names[index] === name && STORED_AS[type].includes(stored[index]!),
    )
  );
}
