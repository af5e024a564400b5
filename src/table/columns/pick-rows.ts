import type { ColumnBatch, ColumnData } from './column-batch';

/** The given rows (counted from 0) of a batch, as a copy that shares no buffer with it. */
export function pickRows(batch: ColumnBatch, rows: readonly number[]): ColumnBatch {
  return { rows: rows.length, columns: batch.columns.map((column) => pickCells(column, rows)) };
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
