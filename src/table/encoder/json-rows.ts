import { type Cell, cellsOf, type ColumnBatch } from '../columns/column-batch';
import type { Sink } from '../storage/table-file';

/** Stands between two rows, and nowhere else: inside a cell a line feed is escaped. */
export const ROW_SEPARATOR = ',\n';

/** Rows that are made into text at a time. */
const AT_ONCE = 1000;

/**
 * Writes batches as JSON arrays, one for each row, with `ROW_SEPARATOR` between; the brackets around all of them are
 * left to the caller, which may put several such files into one body. Missing cells are null, dates seconds since 1970 (JSON has no
 * dates), infinite numbers such that overflow, as JSON readers take them.
 */
export async function writeJsonRows(batches: AsyncIterable<ColumnBatch>, sink: Sink): Promise<void> {
  let isFirst = true;
  for await (const batch of batches) {
    const cells = batch.columns.map(cellsOf);
    for (let from = 0; from < batch.rows; from += AT_ONCE) {
      let text = '';
      for (let row = from; row < Math.min(batch.rows, from + AT_ONCE); row++) {
        text += `${isFirst ? '' : ROW_SEPARATOR}[${cells.map((column) => jsonOf(column[row]!)).join(',')}]`;
        isFirst = false;
      }
      await sink.write(Buffer.from(text));
    }
  }
}

function jsonOf(cell: Cell): string {
  if (typeof cell === 'string') {
    return JSON.stringify(cell);
  }
  if (typeof cell === 'number') {
    return Number.isFinite(cell) ? String(cell) : cell > 0 ? '1e999' : '-1e999';
  }
  return cell instanceof Date ? String(cell.getTime() / 1000) : String(cell);
}
