import { types } from 'node:util';

import { isDate, isTypedArray, reasonOf } from '../../util/realms';
import { ServiceError } from '../../wire/service-error';
import { ArrowSource, isArrowTable } from '../arrow/source';
import { emptyTable, invalidTable, show } from '../cells/errors';
import { ownNames } from '../columns/bounds';
import type { SliceSource, TableForm } from '../columns/slices';
import { ColumnsSource, isColumnValues, MatrixSource, RowsSource } from './sources';

/**
 * A table of JavaScript values; `form` is given where the values were parsed from text. Errors: `table.empty`;
 * `table.invalid`, also where a getter or a Proxy throws; `limit.exceeded` for too many columns.
 */
export async function openValue(
  value: unknown,
  form: TableForm | undefined,
  signal?: AbortSignal,
): Promise<SliceSource> {
  try {
    return await openPlain(value, form, signal);
  } catch (error) {
    if (error instanceof ServiceError || signal?.aborted === true) {
      throw error;
    }
    throw invalidTable(`The table cannot be read: ${reasonOf(error)}.`);
  }
}

async function openPlain(
  value: unknown,
  form: TableForm | undefined,
  signal?: AbortSignal,
): Promise<SliceSource> {
  if (Array.isArray(value)) {
    return openArray(value, form, signal);
  }
  if (typeof value !== 'object' || value === null || isNoTable(value)) {
    throw invalidTable(
      `The table is ${describe(value)}. Give an array of objects, one object, an object of arrays, an array of arrays with a row of names, an Arrow table, or CSV, JSON, Parquet or Arrow as text or Buffer.`,
    );
  }
  if (isArrowTable(value)) {
    return new ArrowSource('arrow', value);
  }
  const names = ownNames(value);
  const cells = names.map((name) => (value as Record<string, unknown>)[name]);
  if (cells.length === 0) {
    throw emptyTable('The table is an object without properties. A row needs at least one column.');
  }
  if (cells.every(isColumnValues)) {
    const source = new ColumnsSource(value as Record<string, ArrayLike<unknown>>);
    return form === undefined ? source : Object.assign(source, { form });
  }
  return RowsSource.open(form ?? 'row', [value], signal);
}

function openArray(
  list: unknown[],
  form: TableForm | undefined,
  signal: AbortSignal | undefined,
): Promise<SliceSource> {
  if (list.length === 0) {
    throw emptyTable('The table is an empty array.');
  }
  if (Array.isArray(list[0])) {
    return MatrixSource.open(list, signal).then((source) =>
      form === undefined ? source : Object.assign(source, { form }),
    );
  }
  return RowsSource.open(form ?? 'rows', list, signal);
}

/** Values that are not a table, however many they are. */
function isNoTable(value: object): boolean {
  return isDate(value) || isTypedArray(value) || types.isMap(value) || types.isSet(value);
}

function describe(value: unknown): string {
  if (value === undefined || value === null) {
    return `${String(value)}: there is no table in this message`;
  }
  if (typeof value === 'object') {
    return isDate(value) ? 'a date' : `a ${Object.prototype.toString.call(value).slice(8, -1)}`;
  }
  return `a ${typeof value}${typeof value === 'function' ? '' : ` (${show(value)})`}`;
}
