import { types } from 'node:util';

import { Yielder } from '../../util/concurrency';
import { isArrowTable } from '../arrow/source';
import type { Row } from '../cells/types';
import { assertDense, assertWidth, MAX_COLUMNS, maybeEndless, ownNames, plainNames } from '../columns/header';

/**
 * The names of the columns of a table in memory, as far as they are there without reading it; none of text and of bytes.
 *
 * @throws ServiceError `limit.exceeded` for too many; and what a getter or a Proxy throws
 */
export function namesAtHand(value: unknown): string[] {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    return [];
  }
  if (!Array.isArray(value) && isArrowTable(value)) {
    return value.schema.fields.map(({ name }) => name);
  }
  const row: unknown = Array.isArray(value) ? value[0] : value;
  if (Array.isArray(row)) {
    // Of the places of a sparse array there may be millions.
    return row.slice(0, MAX_COLUMNS).filter((name) => typeof name === 'string');
  }
  return typeof row === 'object' && row !== null ? [...plainNames(ownNames(row))] : [];
}

/** How many rows a table in memory has, roughly, without reading it; 1 for text and bytes. */
export function rowsAtHand(value: unknown): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) {
    return 1;
  }
  if (isArrowTable(value)) {
    return value.numRows;
  }
  if (Array.isArray(value)) {
    return value.length;
  }
  const [first] = Object.values(value) as unknown[];
  return Array.isArray(first) || isTyped(first) ? first.length : 1;
}

/** Cells of an object of columns, and of rows, that are copied at once: some 10 ms. */
const AT_ONCE = 4_000_000;
const ROWS_AT_ONCE = 50_000;
const CELLS_PER_LOOK = 2000;

/**
 * A copy of a table in memory that the flow may go on changing, such as a rolling window in context: what is read,
 * and what the predictions are attached to, must be the same rows. Arrays, rows and columns are copied, cells are
 * not; text, Buffers and Arrow tables stay as they are. The array of the rows is copied at once, so that a window
 * that moves on stays as it was on arrival, and so are the rows of a table of up to 50,000 cells; those of a larger one
 * are copied when they are wanted, in slices.
 */
export class OwnCopy {
  private readonly value: unknown;
  /** Columns too large to be copied at once. */
  private readonly shared: boolean;
  /** Rows that have been copied. */
  private copied = 0;
  private readonly endless = maybeEndless();

  /** @throws ServiceError `limit.exceeded`, `table.invalid` for what takes too long to copy; and what getters throw */
  constructor(value: unknown) {
    assertSmall(value);
    this.shared = isColumns(value) && countCells(value) > AT_ONCE;
    this.value = this.shared ? value : copyValue(value);
    if (Array.isArray(this.value)) {
      this.copyRows(this.value, ROWS_AT_ONCE);
    }
  }

  /** Copies rows until they have this many cells. */
  private copyRows(rows: unknown[], cells: number): void {
    for (; this.copied < rows.length && cells > 0; this.copied++) {
      const row = copyRow(rows[this.copied], this.endless);
      rows[this.copied] = row;
      cells -= typeof row === 'object' && row !== null ? Object.keys(row).length : 1;
    }
  }

  /** The table, all ours; to be asked for once. */
  async take(signal?: AbortSignal): Promise<unknown> {
    const { value } = this;
    const yielder = new Yielder();
    if (Array.isArray(value)) {
      while (this.copied < value.length) {
        this.copyRows(value, CELLS_PER_LOOK);
        const turn = yielder.due();
        if (turn !== undefined) {
          await turn;
          signal?.throwIfAborted();
        }
      }
      return value;
    }
    if (!this.shared) {
      return value;
    }
    const table = { ...(value as Row) };
    for (const name of Object.keys(table)) {
      table[name] = copyColumn(table[name]);
      await yielder.due();
      signal?.throwIfAborted();
    }
    return table;
  }
}

function assertSmall(value: unknown): void {
  if (Array.isArray(value)) {
    assertDense(value, 'The table');
  } else if (isColumns(value)) {
    const names = ownNames(value);
    for (const name of names) {
      const column = value[name];
      if (Array.isArray(column)) {
        assertDense(column, `Column "${name}"`);
      }
    }
  }
}

function isColumns(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !isWhole(value) && !Array.isArray(value);
}

/** What is no container of rows or columns, or never changes. */
function isWhole(value: object): boolean {
  return (
    types.isDate(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isAnyArrayBuffer(value) ||
    ArrayBuffer.isView(value) ||
    isArrowTable(value)
  );
}

function countCells(columns: Row): number {
  let cells = 0;
  for (const column of Object.values(columns)) {
    cells += Array.isArray(column) || isTyped(column) ? column.length : 1;
  }
  return cells;
}

/** An array with the very rows, an object with columns of its own. */
function copyValue(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.slice();
  }
  if (!isColumns(value)) {
    return value;
  }
  const table = { ...value };
  for (const name of Object.keys(table)) {
    table[name] = copyColumn(table[name]);
  }
  return table;
}

function copyColumn(column: unknown): unknown {
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
function copyRow(row: unknown, endless: boolean): unknown {
  if (Array.isArray(row)) {
    assertWidth(row.length);
    return row.slice();
  }
  if (typeof row !== 'object' || row === null || isWhole(row)) {
    return row;
  }
  ownNames(row, endless);
  try {
    return { ...row };
  } catch {
    // A getter throws: the reader says in which row and column.
    return row;
  }
}
