import { type Column, type ColumnBatch, type ColumnData, MISSING_BOOLEAN } from '../../table';
import type { Reference, ReferenceCell } from './types';

/**
 * Rows of a reference as a batch of these columns, held as `like` holds them.
 *
 * @param rows numbers of rows of the reference, from 0
 * @returns undefined where the reference lacks a column, or was made of another type of it
 */
export function referenceBatch(
  reference: Reference,
  columns: readonly Column[],
  like: ColumnBatch,
  rows: readonly number[],
): ColumnBatch | undefined {
  const data: ColumnData[] = [];
  for (const [index, { name }] of columns.entries()) {
    const at = reference.columns.findIndex((column) => column.name === name);
    const cells = rows.map((row) => reference.rows[row]?.[at] ?? null);
    const made = at < 0 ? undefined : dataOf(like.columns[index]!.type, cells);
    if (made === undefined) {
      return undefined;
    }
    data.push(made);
  }
  return { rows: rows.length, columns: data };
}

function dataOf(type: ColumnData['type'], cells: readonly ReferenceCell[]): ColumnData | undefined {
  const missing = Uint8Array.from(cells, (cell) => (cell === null ? 1 : 0));
  switch (type) {
    case 'number':
    case 'integer':
    case 'date':
      return cells.every((cell) => cell === null || typeof cell === 'number')
        ? { type, values: Float64Array.from(cells, (cell) => cell ?? Number.NaN) }
        : undefined;
    case 'boolean':
      return cells.every((cell) => cell === null || typeof cell === 'boolean')
        ? { type, values: Uint8Array.from(cells, (cell) => (cell === null ? MISSING_BOOLEAN : Number(cell))) }
        : undefined;
    case 'bigint':
      return cells.every((cell) => cell === null || /^-?\d+$/.test(String(cell)))
        ? { type, values: BigInt64Array.from(cells, (cell) => BigInt(cell ?? 0)), missing }
        : undefined;
    case 'text': {
      const texts = cells.map((cell) => Buffer.from(cell === null ? '' : String(cell)));
      const offsets = new Int32Array(cells.length + 1);
      texts.forEach((text, i) => (offsets[i + 1] = offsets[i]! + text.length));
      return { type, bytes: new Uint8Array(Buffer.concat(texts)), offsets, missing };
    }
  }
}
