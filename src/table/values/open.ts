import { types } from 'node:util';

import { isDate, isTypedArray } from '../../util/realms';
import { ArrowSource, isArrowTable } from '../arrow/source';
import { emptyTable, invalidTable, show } from '../cells/errors';
import type { SliceSource, TableForm } from '../columns/slices';
import { ColumnsSource, isColumnValues, MatrixSource, RowsSource } from './sources';

/** A table of JavaScript values; `form` is given where the values were parsed from text. */
export async function openValue(
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
  const cells = Object.values(value);
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

/** What has no columns of its own, however many values it holds. */
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
