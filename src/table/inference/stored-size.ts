import type { ColumnType } from '../cells/types';
import { assertText, MAX_TEXT } from '../columns/bounds';
import { rowsOf } from '../columns/column-batch';
import type { SliceColumn } from '../columns/slices';

/** Bytes that a cell other than text takes as text at most: those of a date, or of a long number. */
const OTHER_BYTES = 30;

/** How much the cells of a column take as they are stored, without compression. */
export class StoredSize {
  private rows = 0;
  private textBytes = 0;

  /** Bytes of the column as this type, at most. */
  bytesAs(type: ColumnType): number {
    return type === 'text' ? 4 * this.rows + this.textBytes : 9 * this.rows;
  }

  /**
   * @param name that of the column, for an error
   * @param first number of the slice's first row
   * @throws ServiceError `limit.exceeded` for more text than is read at once
   */
  add(name: string, column: SliceColumn, first: number): void {
    if (column.kind === 'typed') {
      const { data } = column;
      this.rows += rowsOf(data);
      this.textBytes += data.type === 'text' ? data.bytes.length : OTHER_BYTES * rowsOf(data);
      return;
    }
    const { cells } = column;
    let characters = 0;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      characters += typeof cell === 'string' ? cell.length : OTHER_BYTES / 3;
      if (characters > MAX_TEXT && column.kind === 'values') {
        assertText(name, first + i, typeof cell === 'string' ? cell.length : 0, characters);
      }
    }
    this.rows += cells.length;
    this.textBytes += 3 * characters;
  }
}
