import type { Column } from '../../table';

type Row = Record<string, unknown>;

/** Messages of up to this many rows take the quick way. */
const MAX_ROWS = 64;

export interface SmallRows {
  /** Shallow copies: what the flow does to the message meanwhile changes nothing, and predictions are attached to them. */
  rows: Row[];
  /** The message held one object, not an array. */
  single: boolean;
  /** Estimated bytes. */
  bytes: number;
}

/**
 * Copies a message of one or a few row objects, the common case of a stream, without opening it as a table.
 * Undefined for every other form (and for what is no table at all): src/table judges those.
 */
export function smallRows(value: unknown): SmallRows | undefined {
  if (Array.isArray(value)) {
    if (value.length === 0 || value.length > MAX_ROWS) {
      return undefined;
    }
    const result: SmallRows = { rows: [], single: false, bytes: 0 };
    for (const item of value as unknown[]) {
      if (!isPlain(item) || !take(item, result)) {
        return undefined;
      }
    }
    return result;
  }
  const result: SmallRows = { rows: [], single: true, bytes: 0 };
  return isPlain(value) && take(value, result) ? result : undefined;
}

/** Every column of the card is named by some row: else the table is judged on its own. */
export function hasColumns(rows: readonly Row[], columns: readonly Column[]): boolean {
  for (const { name } of columns) {
    if (!rows.some((row) => Object.hasOwn(row, name))) {
      return false;
    }
  }
  return true;
}

/** The rows may be read with others: they name every column, or where missing ones are filled at least one. */
export function mayJoin(
  rows: readonly Row[],
  columns: readonly Column[],
  missingColumns: 'error' | 'fill' | undefined,
): boolean {
  return missingColumns === 'fill'
    ? columns.some((column) => hasColumns(rows, [column]))
    : hasColumns(rows, columns);
}

function take(row: Row, into: SmallRows): boolean {
  const copy = { ...row };
  let bytes = 64;
  let keys = 0;
  for (const value of Object.values(copy)) {
    keys++;
    bytes += 16;
    if (typeof value === 'string') {
      bytes += value.length;
    } else if (
      typeof value === 'object' &&
      value !== null &&
      (Array.isArray(value) || ArrayBuffer.isView(value))
    ) {
      return false;
    }
  }
  if (keys === 0) {
    return false;
  }
  into.rows.push(copy);
  into.bytes += bytes;
  return true;
}

/** An object literal of any realm: those of a function node come from another one. */
function isPlain(value: unknown): value is Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
