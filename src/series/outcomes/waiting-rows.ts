import { BoundedMap } from '../../util/collections';
import type { WaitingRow } from '../kept-row';

/** The newest rows whose outcome a message will bring, by id. */
export class WaitingRows {
  private readonly rows: BoundedMap<string, WaitingRow>;
  /** By key: ids with their times, in order of arrival. */
  private readonly byKey = new Map<string | null, Map<string, number>>();

  constructor(keep: number) {
    this.rows = new BoundedMap(keep, ({ key }, id) => this.forget(key, id));
  }

  get size(): number {
    return this.rows.size;
  }

  add(id: string, row: WaitingRow): void {
    let ids = this.byKey.get(row.key);
    if (ids === undefined) {
      ids = new Map();
      this.byKey.set(row.key, ids);
    }
    ids.set(id, row.time);
    this.rows.set(id, row);
  }

  /** Removes and returns the row with an id. */
  take(id: string): WaitingRow | undefined {
    const row = this.rows.get(id);
    if (row !== undefined) {
      this.rows.delete(id);
      this.forget(row.key, id);
    }
    return row;
  }

  get(id: string): WaitingRow | undefined {
    return this.rows.get(id);
  }

  /** The id of a key's row at a time, or else of the last one before it. */
  idAt(key: string | null, time: number): string | undefined {
    let best: { id: string; at: number } | undefined;
    for (const [id, at] of this.byKey.get(key) ?? []) {
      if (at <= time && (best === undefined || at >= best.at)) {
        best = { id, at };
      }
    }
    return best?.id;
  }

  dropWhere(isDropped: (row: WaitingRow) => boolean): void {
    for (const [id, row] of this.rows) {
      if (isDropped(row)) {
        this.take(id);
      }
    }
  }

  values(): IterableIterator<WaitingRow> {
    return this.rows.values();
  }

  private forget(key: string | null, id: string): void {
    const ids = this.byKey.get(key);
    ids?.delete(id);
    if (ids?.size === 0) {
      this.byKey.delete(key);
    }
  }
}
