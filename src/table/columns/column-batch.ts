import { type ColumnType, type Label, setCell } from '../cells/types';

/**
 * One column of a batch in a form that can be transferred between threads without a copy.
 *
 * - `number`, `integer`, `date`: a Float64Array, NaN = missing; a date is milliseconds since 1970 (UTC).
 * - `bigint`: a BigInt64Array; `missing[row] = 1` marks a missing cell.
 * - `boolean`: a Uint8Array of 0, 1 and MISSING_BOOLEAN.
 * - `text`: UTF-8 bytes, where row i is `bytes[offsets[i]] … bytes[offsets[i + 1]]`; `missing` as above.
 */
export type ColumnData =
  | { type: 'number' | 'integer' | 'date'; values: Float64Array }
  | { type: 'bigint'; values: BigInt64Array; missing?: Uint8Array }
  | { type: 'boolean'; values: Uint8Array }
  | { type: 'text'; bytes: Uint8Array; offsets: Int32Array; missing?: Uint8Array };

/** Some rows of a table, column by column. The names and the order are those of the list it was read with. */
export interface ColumnBatch {
  rows: number;
  columns: ColumnData[];
  /** Cells that were made missing while it was read, by column, where there were any. */
  cleaned?: Record<string, number>;
}

/** Adds counts by column to others. */
export function addCounts(to: Record<string, number>, counts: Readonly<Record<string, number>> = {}): void {
  for (const [name, count] of Object.entries(counts)) {
    setCell(to, name, (Object.hasOwn(to, name) ? to[name]! : 0) + count);
  }
}

/** The value of a missing cell in a boolean column. */
export const MISSING_BOOLEAN = 2;

/** A cell as plain JavaScript; null is missing. */
export type Cell = number | bigint | boolean | string | Date | null;

/** Cell `row` (from 0) of a column: dates as Date, bigint as bigint, missing as null. */
export function cellAt(column: ColumnData, row: number): Cell {
  switch (column.type) {
    case 'number':
    case 'integer': {
      const value = column.values[row]!;
      return Number.isNaN(value) ? null : value;
    }
    case 'date': {
      const value = column.values[row]!;
      return Number.isNaN(value) ? null : new Date(value);
    }
    case 'bigint':
      return column.missing?.[row] === 1 ? null : column.values[row]!;
    case 'boolean': {
      const value = column.values[row]!;
      return value === MISSING_BOOLEAN ? null : value === 1;
    }
    case 'text':
      return column.missing?.[row] === 1
        ? null
        : viewBuffer(column.bytes).toString('utf8', column.offsets[row], column.offsets[row + 1]);
  }
}

/** Whether cell `row` (from 0) is missing. */
export function isMissing(column: ColumnData, row: number): boolean {
  switch (column.type) {
    case 'text':
    case 'bigint':
      return column.missing?.[row] === 1;
    case 'boolean':
      return column.values[row] === MISSING_BOOLEAN;
    default:
      return Number.isNaN(column.values[row]);
  }
}

/** All cells of a column; quicker than cell by cell. */
export function listCells(column: ColumnData): Cell[] {
  const rows = countRows(column);
  if (column.type === 'text') {
    return textCells(column.bytes, column.offsets, column.missing, rows);
  }
  const cells = new Array<Cell>(rows);
  for (let row = 0; row < rows; row++) {
    cells[row] = cellAt(column, row);
  }
  return cells;
}

/** A cell as a label of a classification target: bigint and date become text. Missing is null. */
export function labelAt(column: ColumnData, row: number): Label | null {
  const cell = cellAt(column, row);
  if (typeof cell === 'bigint') {
    return cell.toString();
  }
  return cell instanceof Date ? cell.toISOString() : cell;
}

/** A cell as a number, dates as milliseconds since 1970; NaN where it is not one. */
export function numberAt(column: ColumnData, row: number): number {
  if (column.type === 'number' || column.type === 'integer' || column.type === 'date') {
    return column.values[row]!;
  }
  const cell = cellAt(column, row);
  return typeof cell === 'bigint' || typeof cell === 'boolean' ? Number(cell) : Number.NaN;
}

/** Number of rows that a column holds. */
export function countRows(column: ColumnData): number {
  return column.type === 'text' ? column.offsets.length - 1 : column.values.length;
}

/** Bytes that a batch occupies. */
export function batchBytes(batch: ColumnBatch): number {
  let bytes = 0;
  for (const column of batch.columns) {
    bytes +=
      column.type === 'text' ? column.bytes.byteLength + column.offsets.byteLength : column.values.byteLength;
  }
  return bytes;
}

/** The buffers of a batch, to be handed over by `postMessage(batch, transferList(batch))`. */
export function transferList(batch: ColumnBatch): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const column of batch.columns) {
    const views: ArrayBufferView[] =
      column.type === 'text' ? [column.bytes, column.offsets] : [column.values];
    if ((column.type === 'text' || column.type === 'bigint') && column.missing !== undefined) {
      views.push(column.missing);
    }
    for (const view of views) {
      if (view.byteLength > 0) {
        buffers.add(view.buffer as ArrayBuffer);
      }
    }
  }
  return [...buffers];
}

/** Decodes a text column: in one go where all bytes are ASCII, cell by cell elsewhere. */
function textCells(
  bytes: Uint8Array,
  offsets: Int32Array,
  missing: Uint8Array | undefined,
  rows: number,
): (string | null)[] {
  const buffer = viewBuffer(bytes);
  const base = offsets[0] ?? 0;
  const end = offsets[rows] ?? 0;
  const whole = buffer.toString('utf8', base, end);
  const ascii = whole.length === end - base;
  const cells = new Array<string | null>(rows);
  for (let row = 0; row < rows; row++) {
    if (missing?.[row] === 1) {
      cells[row] = null;
    } else if (ascii) {
      cells[row] = whole.slice(offsets[row]! - base, offsets[row + 1]! - base);
    } else {
      cells[row] = buffer.toString('utf8', offsets[row], offsets[row + 1]);
    }
  }
  return cells;
}

/** The same bytes with Buffer's quick decoding of short texts. */
function viewBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Rows `from` to `to` (exclusive) of a batch, as a copy that shares no buffer with it. */
export function sliceBatch(batch: ColumnBatch, from: number, to: number): ColumnBatch {
  const start = Math.max(0, Math.min(from, batch.rows));
  const end = Math.max(start, Math.min(to, batch.rows));
  return { rows: end - start, columns: batch.columns.map((column) => sliceColumn(column, start, end)) };
}

function sliceColumn(column: ColumnData, start: number, end: number): ColumnData {
  switch (column.type) {
    case 'number':
    case 'integer':
    case 'date':
      return { type: column.type, values: column.values.slice(start, end) };
    case 'boolean':
      return { type: 'boolean', values: column.values.slice(start, end) };
    case 'bigint':
      return {
        type: 'bigint',
        values: column.values.slice(start, end),
        missing: column.missing?.slice(start, end),
      };
    case 'text': {
      const first = column.offsets[start]!;
      const offsets = column.offsets.slice(start, end + 1);
      for (let i = 0; i < offsets.length; i++) {
        offsets[i] = offsets[i]! - first;
      }
      return {
        type: 'text',
        bytes: column.bytes.slice(first, column.offsets[end]),
        offsets,
        missing: column.missing?.slice(start, end),
      };
    }
  }
}

/** The given rows (counted from 0) of a batch, as a copy that shares no buffer with it. */
export function pickRows(batch: ColumnBatch, rows: readonly number[]): ColumnBatch {
  return { rows: rows.length, columns: batch.columns.map((column) => pickCells(column, rows)) };
}

/** Rows made of the cells of several: `rows[column]` says from which row (from 0) each cell of a column is. */
export function mixRows(batch: ColumnBatch, rows: readonly (readonly number[])[]): ColumnBatch {
  return {
    rows: rows[0]?.length ?? 0,
    columns: batch.columns.map((column, index) => pickCells(column, rows[index]!)),
  };
}

function pickCells(column: ColumnData, rows: readonly number[]): ColumnData {
  switch (column.type) {
    case 'number':
    case 'integer':
    case 'date':
      return { type: column.type, values: Float64Array.from(rows, (row) => column.values[row]!) };
    case 'boolean':
      return { type: 'boolean', values: Uint8Array.from(rows, (row) => column.values[row]!) };
    case 'bigint':
      return {
        type: 'bigint',
        values: BigInt64Array.from(rows, (row) => column.values[row]!),
        missing: pickMissing(column.missing, rows),
      };
    case 'text': {
      const offsets = new Int32Array(rows.length + 1);
      rows.forEach((row, i) => {
        offsets[i + 1] = offsets[i]! + column.offsets[row + 1]! - column.offsets[row]!;
      });
      const bytes = new Uint8Array(offsets[rows.length]!);
      rows.forEach((row, i) =>
        bytes.set(column.bytes.subarray(column.offsets[row], column.offsets[row + 1]), offsets[i]),
      );
      return { type: 'text', bytes, offsets, missing: pickMissing(column.missing, rows) };
    }
  }
}

function pickMissing(missing: Uint8Array | undefined, rows: readonly number[]): Uint8Array | undefined {
  return missing === undefined ? undefined : Uint8Array.from(rows, (row) => missing[row]!);
}

/**
 * The rows of several batches of the same columns as one batch. Where one batch holds a column as
 * `integer` and another as `number` the joined column is `number`.
 */
export function joinBatches(list: readonly ColumnBatch[]): ColumnBatch {
  const first = list[0];
  if (first === undefined) {
    return { rows: 0, columns: [] };
  }
  if (list.length === 1) {
    return first;
  }
  const columns = first.columns.map((_, index) => joinColumns(list.map((batch) => batch.columns[index]!)));
  const cleaned: Record<string, number> = {};
  for (const batch of list) {
    addCounts(cleaned, batch.cleaned);
  }
  const rows = list.reduce((sum, batch) => sum + batch.rows, 0);
  return Object.keys(cleaned).length === 0 ? { rows, columns } : { rows, columns, cleaned };
}

function joinColumns(parts: ColumnData[]): ColumnData {
  const type = joinedType(parts);
  const rows = parts.reduce((sum, part) => sum + countRows(part), 0);
  if (type === 'text') {
    return joinText(parts as Extract<ColumnData, { type: 'text' }>[], rows);
  }
  let at = 0;
  if (type === 'bigint') {
    const bigints = parts as Extract<ColumnData, { type: 'bigint' }>[];
    const values = new BigInt64Array(rows);
    for (const part of bigints) {
      values.set(part.values, at);
      at += part.values.length;
    }
    return { type, values, missing: joinMissing(bigints, rows) };
  }
  if (type === 'boolean') {
    const values = new Uint8Array(rows);
    for (const part of parts as Extract<ColumnData, { type: 'boolean' }>[]) {
      values.set(part.values, at);
      at += part.values.length;
    }
    return { type, values };
  }
  const values = new Float64Array(rows);
  for (const part of parts as Extract<ColumnData, { type: 'number' | 'integer' | 'date' }>[]) {
    values.set(part.values, at);
    at += part.values.length;
  }
  return { type, values };
}

function joinedType(parts: ColumnData[]): ColumnType {
  const types = new Set(parts.map((part) => part.type));
  if (types.size === 2 && types.has('integer') && types.has('number')) {
    return 'number';
  }
  if (types.size !== 1) {
    throw new TypeError(`Batches of unlike columns cannot be joined (${[...types].join(', ')})`);
  }
  return parts[0]!.type;
}

function joinText(parts: Extract<ColumnData, { type: 'text' }>[], rows: number): ColumnData {
  const size = parts.reduce((sum, part) => sum + part.bytes.length, 0);
  const bytes = new Uint8Array(size);
  const offsets = new Int32Array(rows + 1);
  let at = 0;
  let row = 0;
  for (const part of parts) {
    bytes.set(part.bytes, at);
    for (let i = 1; i < part.offsets.length; i++) {
      offsets[++row] = at + part.offsets[i]!;
    }
    at += part.bytes.length;
  }
  return { type: 'text', bytes, offsets, missing: joinMissing(parts, rows) };
}

function joinMissing(parts: (ColumnData & { missing?: Uint8Array })[], rows: number): Uint8Array | undefined {
  if (parts.every((part) => part.missing === undefined)) {
    return undefined;
  }
  const missing = new Uint8Array(rows);
  let at = 0;
  for (const part of parts) {
    if (part.missing !== undefined) {
      missing.set(part.missing, at);
    }
    at += countRows(part);
  }
  return missing;
}
