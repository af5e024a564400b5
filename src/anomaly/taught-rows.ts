import type { Yielder } from '../util/concurrency';
import { History, HISTORY_ROWS, type HistoryCell, type HistoryRow } from './method/history';

/**
 * The newest rows of a table for one machine, in whichever order the table has them. Bounded: the newest as a machine
 * keeps them, and as many at most beside them that came out of order.
 */
export class TaughtRows {
  private kept = new History();
  private others = new History();

  /** Takes a row. Full once it is: `makeRoom` comes before the next. */
  add(time: number, cells: ReadonlyMap<string, HistoryCell>): void {
    const { kept, others } = this;
    (kept.length === 0 || time >= kept.time(kept.taken - 1) ? kept : others).push(time, cells);
  }

  get isFull(): boolean {
    return this.others.length === HISTORY_ROWS;
  }

  /** Lets go of rows that are older than the newest. */
  async makeRoom(yielder: Yielder): Promise<void> {
    const newest = this.inOrder().slice(-HISTORY_ROWS);
    this.others = new History();
    this.kept = new History();
    for (const { time, cells } of newest) {
      this.kept.push(time, cells());
      await yielder.due();
    }
  }

  /** The oldest first. */
  inOrder(): HistoryRow[] {
    const { kept, others } = this;
    return others.length === 0 ? kept.rows : inOrder([...kept.rows, ...others.rows]);
  }
}

/** The oldest first; those of one time as they came. */
export function inOrder(rows: readonly HistoryRow[]): HistoryRow[] {
  return [...rows].sort((a, b) => a.time - b.time);
}
