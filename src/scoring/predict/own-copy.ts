import { types } from 'node:util';

import { isArrowTable } from '../../table';
import { Yielder } from '../../util/event-loop';

type Row = Record<string, unknown>;

/** Cells of an object of columns that are copied at once: some 10 ms. */
const AT_ONCE = 4_000_000;

/**
 * A copy of a table in memory that the flow may go on changing, such as a rolling window in context: what is read,
 * and what the predictions are attached to, must be the same rows. Arrays, rows and columns are copied, cells are
 * not; text, Buffers and Arrow tables stay as they are. The array of the rows is copied at once, so that a window
 * that moves on stays as it was on arrival; the rows when they are wanted, in slices.
 */
export class OwnCopy {
  private readonly value: unknown;
  /** Columns too large to be copied at once. */
  private readonly shared: boolean;

  constructor(value: unknown) {
    this.shared = isColumns(value) && cellsOf(value) > AT_ONCE;
    this.value = this.shared ? value : copyOf(value);
  }

  /** The table, all ours; to be asked for once. */
  async take(signal: AbortSignal): Promise<unknown> {
    const { value } = this;
    const yielder = new Yielder();
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) {
        value[index] = copyOfRow(value[index]);
        if ((index & 255) === 255) {
          const turn = yielder.due();
          if (turn !== undefined) {
            await turn;
            signal.throwIfAborted();
          }
        }
      }
      return value;
    }
    if (!this.shared) {
      return value;
    }
    const table = { ...(value as Row) };
    for (const name of Object.keys(table)) {
      table[name] = copyOfColumn(table[name]);
      await yielder.due();
      signal.throwIfAborted();
    }
    return table;
  }
}

function isColumns(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !isWhole(value) && !Array.isArray(value);
}

/** What is no container of rows or columns, or never changes. */
function isWhole(value: object): boolean {
  return (
    types.isDate(value) || types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value) || isArrowTable(value)
  );
}

function cellsOf(columns: Row): number {
  let cells = 0;
  for (const column of Object.values(columns)) {
    cells += Array.isArray(column) || isTyped(column) ? column.length : 1;
  }
  return cells;
}

/** An array with the very rows, an object with columns of its own. */
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice();
  }
  if (!isColumns(value)) {
    return value;
  }
  const table = { ...value };
  for (const name of Object.keys(table)) {
    table[name] = copyOfColumn(table[name]);
  }
  return table;
}

function copyOfColumn(column: unknown): unknown {
  if (Array.isArray(column)) {
    return column.slice();
  }
  if (Buffer.isBuffer(column)) {
    return Buffer.from(column);
  }
  return isTyped(column) ? column.slice() : column;
}

function isTyped(value: unknown): value is Float64Array {
  return ArrayBuffer.isView(value) && !types.isDataView(value);
}

/** A row of an array of objects or of arrays; what is neither is left for the reader to refuse. */
function copyOfRow(row: unknown): unknown {
  if (Array.isArray(row)) {
    return row.slice();
  }
  return typeof row === 'object' && row !== null && !isWhole(row) ? { ...row } : row;
}
