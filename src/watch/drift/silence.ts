import { BoundedMap } from '../../util/bounded-map';

/** Times ahead after which a truth is missed. */
const OVERDUE = 3;
/** A time without rows counts for this share of ahead at most: nothing is due of a machine that was off. */
const STEP_SHARE = 0.25;
const MOST_KEYS = 1000;

interface Waiting {
  /** Of the newest row, milliseconds since 1970. */
  time: number;
  since: number;
  /** Milliseconds in which rows came and no truth. */
  waited: number;
  /** The same, when the newest message began; left out: none of it is of the newest message. */
  before?: number;
}

export type SilenceState = [key: string, waiting: Waiting][];

/** How long rows have come and no truth of any: beyond three times ahead something does not bring it any more. */
export class Silence {
  private readonly keys = new BoundedMap<string, Waiting>(MOST_KEYS);
  /** Keys that the newest message has rows of. */
  private readonly ofMessage = new Set<string>();

  constructor(state: SilenceState = []) {
    for (const [key, waiting] of state) {
      this.keys.set(key, { ...waiting });
    }
  }

  /** Another message begins: truths may have come since the last one, and cannot come between its rows. */
  message(): void {
    this.ofMessage.clear();
  }

  /** A row is predicted: says since when truth is missed, where it is. */
  row(key: string, time: number, ahead: number): { since: number; waited: number } | undefined {
    const waiting = this.keys.get(key);
    const isFirst = !this.ofMessage.has(key);
    this.ofMessage.add(key);
    if (waiting === undefined) {
      this.keys.set(key, { time, since: time, waited: 0, before: 0 });
      return undefined;
    }
    if (time > waiting.time) {
      waiting.waited += Math.min(time - waiting.time, STEP_SHARE * ahead);
      waiting.time = time;
    }
    if (isFirst) {
      waiting.before = waiting.waited;
    }
    return (waiting.before ?? waiting.waited) > OVERDUE * ahead ? waiting : undefined;
  }

  /** A truth has come, of one key or (left out) for all of them. */
  truth(key?: string): void {
    if (key === undefined) {
      this.keys.clear();
    } else {
      this.keys.delete(key);
    }
  }

  toJSON(): SilenceState {
    return Array.from(this.keys, ([key, waiting]) => [key, { ...waiting }]);
  }
}
