import { SliceSizer } from '../util/event-loop';
import { setCell } from './cells/set-cell';
import type { Column } from './cells/types';
import { cellsOf, type ColumnBatch } from './columns/column-batch';
import { batchesOf } from './columns/read-batches';
import type { SliceSource, TableSource } from './columns/slices';
import { isRemote } from './encoder/remote-source';
import { profileSource, type TableProfile } from './inference/profile';
import { type Row, RowsSource } from './values/sources';

/** Rows that are made into objects at a time. */
const STEP = 1000;

/**
 * The rows of a table as objects, to join predictions to. Rows that came as objects are those very objects;
 * values of columns and arrays stay as they are; CSV, Parquet and Arrow give numbers, booleans, text, Date,
 * bigint and null, typed over the whole column.
 */
export async function readRows(source: TableSource, options: { signal?: AbortSignal } = {}): Promise<Row[]> {
  const { signal } = options;
  if (source instanceof RowsSource) {
    return [...source.rows];
  }
  if (isRemote(source)) {
    const { columns } = await source.profile({ signal });
    return collect(columns, source.batches(columns, { signal, maxRows: STEP }));
  }
  const local = source as SliceSource;
  return (await valueRows(local, signal)) ?? typedRows(local, signal);
}

/** Rows of JavaScript values, undefined where the source holds fields of text or typed columns. */
async function valueRows(source: SliceSource, signal?: AbortSignal): Promise<Row[] | undefined> {
  const rows: Row[] = [];
  const { names } = source;
  const pace = new SliceSizer(names.length);
  for await (const slice of source.slices({ pace, signal })) {
    const cells: unknown[][] = [];
    for (let i = 0; i < names.length; i++) {
      const column = slice.column(i);
      if (column.kind !== 'values') {
        return undefined;
      }
      cells.push(Array.from(column.cells));
    }
    addRows(rows, names, cells, slice.rows);
    await pace.step(signal);
  }
  return rows;
}

async function typedRows(source: SliceSource, signal?: AbortSignal): Promise<Row[]> {
  let profile: TableProfile;
  try {
    profile = await profileSource(source, { signal });
  } catch (error) {
    if ((error as { code?: string }).code === 'table.empty') {
      return [];
    }
    throw error;
  }
  return collect(profile.columns, batchesOf(source, profile.columns, { signal, maxRows: STEP }));
}

async function collect(columns: readonly Column[], batches: AsyncIterable<ColumnBatch>): Promise<Row[]> {
  const names = columns.map(({ name }) => name);
  const rows: Row[] = [];
  const pace = new SliceSizer(names.length);
  for await (const batch of batches) {
    addRows(rows, names, batch.columns.map(cellsOf), batch.rows);
    await pace.step();
  }
  return rows;
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
