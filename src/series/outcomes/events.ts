import type { KeptRow } from '../kept-row';
import type { Machine } from '../readings/machine';
import { EVENT_LABELS } from './outcome';

const YES = EVENT_LABELS.indexOf('yes');

/**
 * Counts separate events in the outcomes of rows: runs of `yes` per key. With several aheads only rows of the shortest
 * count, since a longer one merges neighbouring events into one run. A run counts once rows reach `ahead` beyond its
 * start: when its first row has an outcome the others have none yet, and a model fitted then learns next to nothing of
 * that event.
 */
export class EventCounter {
  private events = 0;
  /** Rows with `yes` at the last count. */
  private of = 0;
  /** When the first event that was not over then will count, milliseconds since 1970. */
  private openUntil = Infinity;

  /**
   * @param ahead the shortest, in milliseconds
   * @param most counting stops here
   */
  constructor(
    private readonly ahead: number,
    private readonly most: number,
  ) {}

  /**
   * Recounts only where the count may have changed.
   *
   * @param of how many rows say `yes`
   * @param rows those of each key in order of time
   */
  count(of: number, rows: () => Iterable<KeptRow>, machines: Iterable<Machine>): number {
    if (of === this.of && this.openUntil === Infinity) {
      return this.events;
    }
    const newest = newestRow(machines);
    if (of !== this.of || this.openUntil <= newest) {
      this.of = of;
      this.countAll(rows(), newest);
    }
    return this.events;
  }

  private countAll(rows: Iterable<KeptRow>, newest: number): void {
    const before = new Map<string | null, number>();
    this.events = 0;
    this.openUntil = Infinity;
    for (const row of rows) {
      if (row.ahead !== this.ahead) {
        continue;
      }
      if (row.truth === YES && before.get(row.key) !== YES) {
        const end = row.time + this.ahead;
        if (end > newest) {
          this.openUntil = Math.min(this.openUntil, end);
        } else if (++this.events >= this.most) {
          this.openUntil = Infinity;
          return;
        }
      }
      before.set(row.key, row.truth);
    }
  }
}

/** The time up to which rows of the shortest ahead are released, on the machine that is furthest. */
function newestRow(machines: Iterable<Machine>): number {
  let newest = -Infinity;
  for (const { released } of machines) {
    newest = Math.max(newest, released[0]!);
  }
  return newest;
}
