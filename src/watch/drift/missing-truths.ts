import { BoundedMap } from '../../util/collections';

/** Truths are missing after this many times `ahead`. */
const OVERDUE = 3;
/** A gap between rows counts for at most this share of `ahead`: a machine that is off owes no truths. */
const STEP_SHARE = 0.25;
const MOST_KEYS = 1000;

interface Waiting {
  /** Of the newest row, milliseconds since 1970. */
  time: number;
  since: number;
  /** Milliseconds during which rows came and no truth. */
  waited: number;
  /** The same at the start of the newest message; left out where that has no row of this key. */
  before?: number;
}

export type MissingTruthsState = [key: string, waiting: Waiting][];

/** Notices that rows come but truths do not: after three times `ahead` something has stopped delivering them. */
export class MissingTruths {
  private readonly keys = new BoundedMap<string, Waiting>(MOST_KEYS);
  /** Keys with rows in the newest message. */
  private readonly ofMessage = new Set<string>();

  constructor(state: MissingTruthsState = []) {
    for (const [key, waiting] of state) {
      this.keys.set(key, { ...waiting });
    }
  }

  /** Call at the start of a message: truths can arrive between messages, but not between the rows of one. */
  message(): void {
    this.ofMessage.clear();
  }

  /** Call for each predicted row. @returns since when truths are missing, if they are */
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

  /** Call for each truth, with its key, or without one for all keys. */
  truth(key?: string): void {
    if (key === undefined) {
      this.keys.clear();
    } else {
      this.keys.delete(key);
    }
  }

  toJSON(): MissingTruthsState {
    return Array.from(this.keys, ([key, waiting]) => [key, { ...waiting }]);
  }
}
