import type { KeptRow } from '../kept-row';
import type { Machine } from '../readings/machine';
import { EVENT_LABELS } from './outcome';

const YES = EVENT_LABELS.indexOf('yes');

/**
 * How many events the outcomes of rows tell of: runs of `yes`, by key. Of several aheads the rows of the shortest
 * count, since a longer one makes one run of events that are near each other. A run counts once rows reach `ahead`
 * beyond its beginning: when its first row has its outcome the others have none yet, and a model that is fitted then
 * has learned next to nothing of that event.
 */
export class EventCounter {
  private events = 0;
  /** Rows of `yes` at the last count. */
  private of = 0;
  /** An event that was not over then is from this time of rows on, in milliseconds. */
  private openUntil = Infinity;

  /**
   * @param ahead the shortest, in milliseconds
   * @param most counting ends here
   */
  constructor(
    private readonly ahead: number,
    private readonly most: number,
  ) {}

  /**
   * Counted anew only where that may change the count.
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

/** Up to when rows of the shortest ahead have their outcome, of whichever machine is furthest. */
function newestRow(machines: Iterable<Machine>): number {
  let newest = -Infinity;
  for (const { released } of machines) {
    newest = Math.max(newest, released[0]!);
  }
  return newest;
}
