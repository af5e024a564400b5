import { HISTORY_ROWS, type HistoryCell } from './method/history';

export interface TaughtRow {
  time: number;
  cells: ReadonlyMap<string, HistoryCell>;
}

/** The newest rows of a table for one machine, in whichever order the table has them. Bounded. */
export class TaughtRows {
  private rows: TaughtRow[] = [];
  private isSorted = true;

  add(row: TaughtRow): void {
    this.isSorted &&= this.rows.length === 0 || row.time >= this.rows.at(-1)!.time;
    this.rows.push(row);
    if (this.rows.length >= 2 * HISTORY_ROWS) {
      this.rows = this.inOrder().slice(-HISTORY_ROWS);
    }
  }

  /** The oldest first. */
  inOrder(): TaughtRow[] {
    if (!this.isSorted) {
      this.rows.sort((a, b) => a.time - b.time);
      this.isSorted = true;
    }
    return this.rows;
  }
}
