import type { Column } from '../cells/types';
import { type Cell, cellsOf, type ColumnBatch } from '../columns/column-batch';
import type { Sink } from '../storage/table-file';

/**
 * Writes batches as CSV (RFC 4180 quoting, LF, UTF-8): a header, empty for missing, dates in ISO 8601. The
 * only field of a row is quoted when empty, because readers skip empty lines.
 */
export async function writeCsv(
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  sink: Sink,
): Promise<void> {
  const single = columns.length === 1;
  await sink.write(Buffer.from(`${columns.map(({ name }) => quoted(name, single)).join(',')}\n`));
  for await (const batch of batches) {
    const cells = batch.columns.map(cellsOf);
    let text = '';
    for (let row = 0; row < batch.rows; row++) {
      for (let i = 0; i < cells.length; i++) {
        text += i === 0 ? field(cells[i]![row]!, single) : `,${field(cells[i]![row]!, single)}`;
      }
      text += '\n';
    }
    await sink.write(Buffer.from(text));
  }
}

function field(cell: Cell, single: boolean): string {
  if (cell === null) {
    return single ? '""' : '';
  }
  if (typeof cell === 'string') {
    return quoted(cell, single);
  }
  return cell instanceof Date ? cell.toISOString() : String(cell);
}

function quoted(text: string, single: boolean): string {
  return /[",\r\n]/.test(text) || (single && text === '') ? `"${text.replaceAll('"', '""')}"` : text;
}
