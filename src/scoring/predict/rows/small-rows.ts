import { type Column, openTable, ownNames, type TableSource } from '../../../table';
import { attachInPlace, type Attachment } from '../answers/attach-predictions';
import { type Attached, MessageTable, type OwnTable, ROW_BYTES } from './message-table';

type Row = Record<string, unknown>;

/** Messages of up to this many rows are read without opening a table. */
const MAX_ROWS = 64;

/** One or a few row objects, the usual message of a stream: read together with those of other messages. */
export class SmallRows extends MessageTable {
  bytes = 0;
  /** Shallow copies: the flow may go on changing the message, and predictions are attached to them. */
  readonly rows: Row[] = [];
  /** The columns that they are known to have. */
  private checked: readonly Column[] | undefined;

  /** @param single the message held one object, not an array */
  constructor(readonly single: boolean) {
    super();
  }

  get rowCount(): number {
    return this.rows.length;
  }

  /** Whether they may be read with the rows of other messages; if not, the table is checked on its own. */
  mayJoin(columns: readonly Column[], missingColumns: 'error' | 'fill' | undefined): boolean {
    if (this.checked !== columns && coverColumns(this.rows, columns, missingColumns)) {
      this.checked = columns;
    }
    return this.checked === columns;
  }

  async open(signal: AbortSignal): Promise<OwnTable> {
    const value = this.single ? this.rows[0] : this.rows;
    return { source: await openTable(value, { signal }), value };
  }

  override async source(signal: AbortSignal): Promise<TableSource> {
    return (await this.open(signal)).source;
  }

  attach(attachment: Attachment): Attached {
    this.rows.forEach((row, index) => attachInPlace(row, index, attachment));
    return { table: this.single ? this.rows[0] : this.rows };
  }

  /** Adds a copy of a row; false for one with nested values or without any. Errors: `limit.exceeded`; as getters throw. */
  take(row: Row): boolean {
    // Checked first: counting names is quicker than copying them.
    ownNames(row);
    const copy = { ...row };
    let bytes = ROW_BYTES;
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
    this.rows.push(copy);
    this.bytes += bytes;
    return true;
  }
}

/**
 * The rows of a message that holds one or a few row objects, without opening it as a table. Undefined for any other
 * form, and for what is no table at all: src/table checks those.
 */
export function smallRows(value: unknown): SmallRows | undefined {
  const isArray = Array.isArray(value);
  const items = isArray ? (value as unknown[]) : [value];
  if (items.length === 0 || items.length > MAX_ROWS) {
    return undefined;
  }
  const result = new SmallRows(!isArray);
  return items.every((item) => isPlain(item) && result.take(item)) ? result : undefined;
}

/** Every column is named by some row. */
export function hasColumns(rows: readonly Row[], columns: readonly Column[]): boolean {
  for (const { name } of columns) {
    if (!rows.some((row) => Object.hasOwn(row, name))) {
      return false;
    }
  }
  return true;
}

/** The rows name every column; where missing ones are filled, at least one. */
function coverColumns(
  rows: readonly Row[],
  columns: readonly Column[],
  missingColumns: 'error' | 'fill' | undefined,
): boolean {
  return missingColumns === 'fill'
    ? columns.some((column) => hasColumns(rows, [column]))
    : hasColumns(rows, columns);
}

/** An object literal of any realm: those of a function node come from another one. */
function isPlain(value: unknown): value is Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
