import type { KeptRow } from '../kept-row';

/** Cells that all rows kept may have together: wide rows mean fewer than `keep`. */
const MAX_CELLS = 5_000_000;

/** The newest settled rows, and how many there are of each outcome. */
export class RowsWithOutcome {
  private rows: KeptRow[] = [];
  private head = 0;
  private cells = 0;
  private readonly counts = new Map<number, number>();

  /** @param onTooWide called when wide rows leave space for fewer than `keep`, with how many are kept */
  constructor(
    private readonly keep: number,
    private readonly onTooWide: (rows: number) => void,
  ) {}

  get size(): number {
    return this.rows.length - this.head;
  }

  add(row: KeptRow): void {
    this.rows.push(row);
    this.cells += row.row.length;
    this.counts.set(row.truth, (this.counts.get(row.truth) ?? 0) + 1);
    while (this.size > this.keep || (this.cells > MAX_CELLS && this.size > 1)) {
      if (this.size <= this.keep) {
        this.onTooWide(this.size);
      }
      this.forget(this.rows[this.head++]!);
    }
    if (this.head > 1024 && this.head > this.rows.length / 2) {
      this.rows = this.rows.slice(this.head);
      this.head = 0;
    }
  }

  /** Forgets the rows for which this is true. */
  dropWhere(isDropped: (row: KeptRow) => boolean): void {
    const left: KeptRow[] = [];
    for (const row of this) {
      if (isDropped(row)) {
        this.forget(row);
      } else {
        left.push(row);
      }
    }
    this.rows = left;
    this.head = 0;
  }

  /** Gives each row the value of its outcome's code, and forgets those whose outcome has none (NaN). */
  translate(values: readonly number[]): void {
    for (const row of this) {
      this.discount(row.truth);
      row.truth = values[row.truth]!;
      this.counts.set(row.truth, (this.counts.get(row.truth) ?? 0) + 1);
    }
    this.dropWhere(({ truth }) => Number.isNaN(truth));
  }

  /** How many rows each outcome has. */
  get outcomes(): ReadonlyMap<number, number> {
    return this.counts;
  }

  *[Symbol.iterator](): IterableIterator<KeptRow> {
    for (let i = this.head; i < this.rows.length; i++) {
      yield this.rows[i]!;
    }
  }

  private forget({ row, truth }: KeptRow): void {
    this.cells -= row.length;
    this.discount(truth);
  }

  private discount(truth: number): void {
    const count = this.counts.get(truth)! - 1;
    if (count === 0) {
      this.counts.delete(truth);
    } else {
      this.counts.set(truth, count);
    }
  }
}
