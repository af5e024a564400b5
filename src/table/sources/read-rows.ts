import { SliceSizer } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import { setCell } from '../cells/set-cell';
import type { Column, Row } from '../cells/types';
import { cellsOf } from '../columns/column-batch';
import type { SliceSource } from '../columns/slices';
import type { TableSource } from './table-source';

/** Rows that are made into objects at a time. */
const STEP = 1000;

/** Rows of JavaScript values, undefined where the source holds fields of text or typed columns. */
export async function valueRows(source: SliceSource, signal?: AbortSignal): Promise<Row[] | undefined> {
  const rows: Row[] = [];
  const { names } = source;
  const sizer = new SliceSizer(names.length);
  for await (const slice of source.slices({ sizer, signal })) {
    const cells: unknown[][] = [];
    for (let i = 0; i < names.length; i++) {
      const column = slice.column(i);
      if (column.kind !== 'values') {
        return undefined;
      }
      cells.push(Array.from(column.cells));
    }
    addRows(rows, names, cells, slice.rows);
    await sizer.step(signal);
  }
  return rows;
}

/** The rows in the types that their columns have over the whole table. */
export async function typedRows(source: TableSource, signal?: AbortSignal): Promise<Row[]> {
  const columns = await columnsOf(source, signal);
  const names = columns.map(({ name }) => name);
  const rows: Row[] = [];
  const sizer = new SliceSizer(names.length);
  for await (const batch of columns.length === 0 ? [] : source.batches(columns, { signal, maxRows: STEP })) {
    addRows(rows, names, batch.columns.map(cellsOf), batch.rows);
    await sizer.step();
  }
  return rows;
}

/** None for a table without rows. */
async function columnsOf(source: TableSource, signal?: AbortSignal): Promise<Column[]> {
  try {
    const { columns } = await source.profile({ signal });
    // Numbers with a unit, and times of day, stay as they are written.
    return columns.map(({ name, unit, ...column }) =>
      unit === undefined ? { name, ...column } : { name, type: 'text' },
    );
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'table.empty') {
      return [];
    }
    throw error;
  }
}

function addRows(
  rows: Row[],
  names: readonly string[],
  cells: readonly ArrayLike<unknown>[],
  count: number,
): void {
  for (let row = 0; row < count; row++) {
    const object: Row = {};
    for (let i = 0; i < names.length; i++) {
      const cell = cells[i]![row];
      if (cell !== undefined) {
        setCell(object, names[i]!, cell);
      }
    }
    rows.push(object);
  }
}
