import { History, HISTORY_ROWS, type HistoryCell } from './method/history';

export interface TaughtRow {
  time: number;
  cells: ReadonlyMap<string, HistoryCell>;
}

/**
 * The newest rows of a table for one machine, in whichever order the table has them. Bounded: the newest as a machine
 * keeps them, and as many at most beside them that came out of order.
 */
export class TaughtRows {
  private kept = new History();
  private others: History | undefined;

  add({ time, cells }: TaughtRow): void {
    const { kept } = this;
    if (kept.length === 0 || time >= kept.time(kept.taken - 1)) {
      kept.push(time, cells);
      return;
    }
    this.others ??= new History();
    this.others.push(time, cells);
    if (this.others.length === HISTORY_ROWS) {
      const newest = this.inOrder().slice(-HISTORY_ROWS);
      this.others = undefined;
      this.kept = new History();
      newest.forEach((row) => this.kept.push(row.time, row.cells));
    }
  }

  /** The oldest first. */
  inOrder(): TaughtRow[] {
    const rows = [...rowsOf(this.kept)];
    return this.others === undefined
      ? rows
      : [...rows, ...rowsOf(this.others)].sort((a, b) => a.time - b.time);
  }
}

function* rowsOf(history: History): Generator<TaughtRow> {
  for (let row = history.first; row < history.taken; row++) {
    yield { time: history.time(row), cells: history.cells(row) };
  }
}
