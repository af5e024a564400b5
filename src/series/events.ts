import type { KeptRow } from './kept-rows';
import { EVENT_LABELS } from './outcome';

const YES = EVENT_LABELS.indexOf('yes');

/**
 * How many events the outcomes of rows tell of: runs of `yes`, by key. Of several aheads the rows of the shortest
 * count, since a longer one makes one run of events that are near each other.
 *
 * @param rows those of each key in order of time
 * @param most counting ends here
 */
export function countEvents(rows: Iterable<KeptRow>, ahead: number, most: number): number {
  const before = new Map<string | null, number>();
  let events = 0;
  for (const row of rows) {
    if (row.ahead !== ahead) {
      continue;
    }
    if (row.truth === YES && before.get(row.key) !== YES && ++events >= most) {
      break;
    }
    before.set(row.key, row.truth);
  }
  return events;
}
