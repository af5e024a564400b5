import type { Semaphore } from '../../util/semaphore';
import { Lane } from './lane';
import type { Job } from './queued-message';

export interface LanesOptions {
  batchRows: number;
  batchMs: number;
  slots: Semaphore;
}

/**
 * Which messages go together, and when: each lane stands in line for a slot while something waits in it, and takes a
 * batch when it gets one. With `batchMs` it stands back until its batch is full or its first message has waited so
 * long; and where nothing may start it is held until `resume`.
 */
export class Lanes<Payload, Outcome> {
  private readonly lanes = new Map<string, Lane<Payload, Outcome>>();
  private readonly held = new Set<Lane<Payload, Outcome>>();
  private closed = false;

  /** `start` takes the jobs of a batch together with the slot, which it has to give back. */
  constructor(
    private readonly options: LanesOptions,
    private readonly start: (key: string, jobs: Job<Payload, Outcome>[]) => void,
    private readonly mayStart: () => boolean,
  ) {}

  /** Lets a job wait in its lane. */
  push(key: string, job: Job<Payload, Outcome>): void {
    let lane = this.lanes.get(key);
    if (lane === undefined) {
      lane = new Lane(key, (ready) => this.takeOff(ready));
      this.lanes.set(key, lane);
    }
    if (this.options.batchMs > 0) {
      job.since = performance.now();
    }
    job.lane = lane;
    lane.push(job);
    lane.due ||= job.hurried;
    this.schedule(lane);
  }

  /** A job that waits no longer, having settled. */
  left(job: Job<Payload, Outcome>): void {
    const { lane } = job;
    if (lane === undefined) {
      return;
    }
    job.lane = undefined;
    lane.left(job);
    if (lane.first() === undefined) {
      this.drop(lane);
    }
  }

  /** Whoever waits for company waits no longer. */
  flush(): void {
    for (const lane of this.lanes.values()) {
      lane.due = true;
      this.schedule(lane);
    }
  }

  /** Something may start again: the lane that was held first goes first. */
  resume(): void {
    for (const lane of this.held) {
      if (!this.mayStart()) {
        return;
      }
      this.held.delete(lane);
      this.schedule(lane);
    }
  }

  /** Leaves every line and stops every timer. */
  close(): void {
    this.closed = true;
    for (const lane of this.lanes.values()) {
      this.drop(lane);
    }
  }

  private schedule(lane: Lane<Payload, Outcome>): void {
    if (lane.requested || this.closed) {
      return;
    }
    const first = lane.first();
    if (first === undefined) {
      this.drop(lane);
      return;
    }
    const { batchMs, batchRows } = this.options;
    if (batchMs > 0 && !lane.due && !first.alone && lane.rows < batchRows) {
      lane.timer ??= setTimeout(
        () => {
          lane.timer = undefined;
          lane.due = true;
          this.schedule(lane);
        },
        Math.max(0, batchMs - (performance.now() - first.since)),
      );
      return;
    }
    lane.clearTimer();
    if (!this.mayStart()) {
      this.held.add(lane);
      return;
    }
    lane.requested = true;
    this.options.slots.request(lane.onSlot);
  }

  private takeOff(lane: Lane<Payload, Outcome>): void {
    lane.requested = false;
    const jobs = this.mayStart() ? lane.take(this.options.batchRows) : [];
    if (jobs.length === 0 || this.closed) {
      this.options.slots.release();
    } else {
      for (const job of jobs) {
        job.lane = undefined;
      }
      this.start(lane.key, jobs);
      lane.due &&= lane.rows > 0;
    }
    this.schedule(lane);
  }

  private drop(lane: Lane<Payload, Outcome>): void {
    lane.clearTimer();
    this.held.delete(lane);
    if (lane.requested) {
      lane.requested = false;
      this.options.slots.cancel(lane.onSlot);
    }
    if (this.lanes.get(lane.key) === lane) {
      this.lanes.delete(lane.key);
    }
  }
}
