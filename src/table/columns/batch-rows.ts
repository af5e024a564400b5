import type { ColumnType } from '../cells/types';
import { addCounts, type ColumnBatch, type ColumnData, rowsOf } from './column-batch';

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
  const rows = parts.reduce((sum, part) => sum + rowsOf(part), 0);
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
    at += rowsOf(part);
  }
  return missing;
}
