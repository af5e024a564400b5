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
      (column, index) =>
        names[index] === column.name && STORED_AS[column.type].includes(stored[index]!) && isReadAsIs(column),
    )
  );
}

/** False where cells change as they are read: dates of a zone, text with spaces, words that mean "missing", rows that are left out. */
function isReadAsIs({ zone, trim, missing, required }: Column): boolean {
  return zone === undefined && trim === undefined && missing === undefined && required === undefined;
}
