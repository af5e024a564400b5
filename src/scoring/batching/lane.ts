import type { Job } from './queued-message';

const COMPACT_AT = 1024;

/** Messages that wait for the same model with the same options: what one batch may be taken from. */
export class Lane<Payload, Outcome> {
  private queue: Job<Payload, Outcome>[] = [];
  private head = 0;
  /** Rows of the messages that wait here. */
  rows = 0;
  /** Waits no longer for company. */
  due = false;
  /** Stands in line for a slot. */
  requested = false;
  timer: NodeJS.Timeout | undefined;

  constructor(
    readonly key: string,
    readonly start: (lane: Lane<Payload, Outcome>) => void,
  ) {}

  /** What is handed to the slots: the same function each time, so that it can be cancelled. */
  readonly onSlot = (): void => {
    this.start(this);
  };

  push(job: Job<Payload, Outcome>): void {
    this.queue.push(job);
    this.rows += job.rows;
  }

  /** The message that waits longest. */
  first(): Job<Payload, Outcome> | undefined {
    while (this.head < this.queue.length && this.queue[this.head]!.state !== 'waiting') {
      this.head++;
    }
    if (this.head === this.queue.length) {
      this.queue = [];
      this.head = 0;
      return undefined;
    }
    if (this.head > COMPACT_AT && this.head * 2 > this.queue.length) {
      this.queue = this.queue.slice(this.head);
      this.head = 0;
    }
    return this.queue[this.head];
  }

  /** A message that settled while it waited. */
  left(job: Job<Payload, Outcome>): void {
    this.rows -= job.rows;
  }

  /** Takes the messages of the next batch: at most `maxRows` rows, at least one message. */
  take(maxRows: number): Job<Payload, Outcome>[] {
    const taken: Job<Payload, Outcome>[] = [];
    let rows = 0;
    for (let job = this.first(); job !== undefined; job = this.first()) {
      if (taken.length > 0 && (job.alone || rows + job.rows > maxRows)) {
        break;
      }
      this.head++;
      this.rows -= job.rows;
      rows += job.rows;
      taken.push(job);
      if (job.alone) {
        break;
      }
    }
    return taken;
  }

  clearTimer(): void {
    if (this.timer !== undefined) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
  }
}
