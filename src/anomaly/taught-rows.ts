import { HISTORY_ROWS, type HistoryCell } from './method/history';

export interface TaughtRow {
  time: number;
  cells: ReadonlyMap<string, HistoryCell>;
}

/** The past rows of one machine in order of time: a table may have the newest first. */
export class TaughtRows {
  private readonly kept: TaughtRow[] = [];
  private order: 'unknown' | 'oldest first' | 'newest first' = 'unknown';

  /** @param take a row, each after those before it */
  constructor(private readonly take: (row: TaughtRow) => void) {}

  add(row: TaughtRow): void {
    const [first] = this.kept;
    if (this.order === 'unknown' && first !== undefined && row.time !== first.time) {
      this.order = row.time < first.time ? 'newest first' : 'oldest first';
    }
    if (this.order === 'oldest first') {
      this.flush();
      this.take(row);
    } else if (this.kept.length < HISTORY_ROWS) {
      // Of a table with the newest first, more than a machine keeps is not needed.
      this.kept.push(row);
    }
  }

  end(): void {
    if (this.order === 'newest first') {
      this.kept.reverse();
    }
    this.flush();
  }

  private flush(): void {
    for (const row of this.kept.splice(0)) {
      this.take(row);
    }
  }
}
