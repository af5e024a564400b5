import { ServiceError, toServiceError } from '../wire/service-error';
import { AbortWatch } from './abort-watch';
import { type Flight, type Job, newJob } from './job';
import { Lane } from './lane';
import type { Slots } from './slots';
import { Outbox, Turns } from './turns';
import type { PredictLoad } from './types';

export interface BatcherOptions<Payload, Outcome> {
  batchRows: number;
  batchMs: number;
  ordered: boolean;
  queueRows: number;
  queueBytes: number;
  overflow: 'reject' | 'dropOldest';
  slots: Slots;
  /** Scores a batch: settles each of its messages by `finish` or `fail`. What it leaves unsettled is failed. */
  run: (lane: string, jobs: Job<Payload, Outcome>[], signal: AbortSignal) => Promise<void>;
  onLoad?: (load: PredictLoad) => void;
}

const LOAD_MS = 250;

/**
 * Micro-batching like a group commit: a message goes at once while a slot is free; while none is, messages
 * of one lane gather. The queue is bounded in rows and bytes, results that wait for their turn included.
 */
export class Batcher<Payload, Outcome> {
  private readonly lanes = new Map<string, Lane<Payload, Outcome>>();
  /** Messages not yet sent, in the order in which they came. */
  private readonly pending = new Set<Job<Payload, Outcome>>();
  private readonly parked = new Set<Job<Payload, Outcome>>();
  private readonly flying = new Set<Job<Payload, Outcome>>();
  private readonly flights = new Map<Flight, Promise<void>>();
  private readonly aborts = new AbortWatch<Job<Payload, Outcome>>((jobs) => {
    const error = closedError();
    for (const job of jobs) {
      this.fail(job, error);
    }
  });
  private readonly turns = new Turns(new Outbox());
  private readonly outbox = new Outbox();
  private rows = 0;
  private bytes = 0;
  private loadTimer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(private readonly options: BatcherOptions<Payload, Outcome>) {}

  /**
   * Takes a message in: it has its turn from now on, and counts in the queue with the rows and bytes expected of it.
   *
   * @throws ServiceError `queue.full`, `closed`
   */
  admit(
    order: string,
    payload: Payload,
    rows: number,
    bytes: number,
    signal?: AbortSignal,
  ): Job<Payload, Outcome> {
    if (this.closed || signal?.aborted === true) {
      throw closedError();
    }
    this.makeRoom(rows, bytes);
    const turn = this.options.ordered ? this.turns.enter(order) : undefined;
    const job = newJob<Payload, Outcome>(payload, turn, rows, bytes, signal);
    this.pending.add(job);
    this.count(job, 1);
    if (signal !== undefined) {
      this.aborts.add(signal, job);
    }
    this.loadChanged();
    return job;
  }

  /** Corrects what a message was expected to hold, once its table is read. */
  resize(job: Job<Payload, Outcome>, rows: number, bytes: number): void {
    if (job.state === 'reading') {
      this.count(job, -1);
      job.rows = rows;
      job.bytes = bytes;
      this.count(job, 1);
    }
  }

  /** The message may be scored now, together with others of the same lane unless `alone`. */
  enqueue(job: Job<Payload, Outcome>, laneKey: string, alone = false): void {
    if (job.state !== 'reading') {
      return;
    }
    let lane = this.lanes.get(laneKey);
    if (lane === undefined) {
      lane = new Lane(laneKey, (started) => this.start(started));
      this.lanes.set(laneKey, lane);
    }
    job.state = 'waiting';
    job.alone = alone;
    if (this.options.batchMs > 0) {
      job.since = performance.now();
    }
    job.lane = lane;
    lane.push(job);
    this.schedule(lane);
  }

  /** Its result: delivered when its turn has come; `bytes` are held meanwhile. */
  finish(job: Job<Payload, Outcome>, outcome: Outcome, bytes = job.bytes): void {
    if (job.state !== 'flying') {
      return;
    }
    this.leaveState(job);
    job.flight = undefined;
    job.state = 'parked';
    job.bytes = bytes;
    this.parked.add(job);
    this.count(job, 1);
    const deliver = (): void => {
      if (job.state === 'parked') {
        this.settle(job);
        job.resolve(outcome);
      }
    };
    if (job.turn === undefined) {
      this.outbox.push(deliver);
    } else {
      this.turns.leave(job.turn, deliver);
    }
    this.loadChanged();
  }

  /** Its error: delivered at once, since only results have an order. */
  fail(job: Job<Payload, Outcome>, error: unknown): void {
    if (job.state === 'settled') {
      return;
    }
    const { flight } = job;
    this.settle(job);
    job.reject(toServiceError(error));
    if (flight?.wanted === 0) {
      flight.controller.abort();
    }
  }

  /** Whoever waits for company waits no longer. */
  flush(): void {
    for (const lane of this.lanes.values()) {
      lane.due = true;
      this.schedule(lane);
    }
  }

  /** Fails everything that is not yet sent; answers how many messages. */
  reset(): number {
    const dropped = [...this.pending];
    const error = new ServiceError('closed', 'Dropped by msg.reset before it was scored.');
    for (const job of dropped) {
      this.fail(job, error);
    }
    return dropped.length;
  }

  load(): PredictLoad {
    return {
      inFlight: this.flying.size,
      waiting: this.pending.size + this.parked.size,
      rows: this.rows,
      bytes: this.bytes,
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    // One error for all: the stack traces of 100,000 would take a second to make.
    const error = closedError();
    for (const job of [...this.parked, ...this.flying, ...this.pending]) {
      this.fail(job, error);
    }
    for (const lane of this.lanes.values()) {
      this.dropLane(lane);
    }
    clearTimeout(this.loadTimer);
    this.loadTimer = undefined;
    await Promise.all(this.flights.values());
  }

  private makeRoom(rows: number, bytes: number): void {
    const { queueRows, queueBytes, overflow } = this.options;
    const fits = (): boolean => this.rows + rows <= queueRows && this.bytes + bytes <= queueBytes;
    const empty = (): boolean => this.pending.size + this.parked.size === 0;
    if (fits() || empty()) {
      return;
    }
    if (overflow === 'dropOldest' && rows <= queueRows && bytes <= queueBytes) {
      for (const oldest of this.pending) {
        this.fail(oldest, this.full('This message was the oldest waiting and made room for a newer one.'));
        if (fits()) {
          return;
        }
      }
    }
    throw this.full('This message was refused.');
  }

  private full(what: string): ServiceError {
    return new ServiceError(
      'queue.full',
      `The queue is full: ${this.rows} rows, ${Math.ceil(this.bytes / 1024)} KiB wait. ${what} ` +
        'Send fewer messages, or raise batchRows, queue or the concurrency of the config node.',
    );
  }

  private schedule(lane: Lane<Payload, Outcome>): void {
    if (lane.requested || this.closed) {
      return;
    }
    const first = lane.first();
    if (first === undefined) {
      this.dropLane(lane);
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
    lane.requested = true;
    this.options.slots.request(lane.onSlot);
  }

  private start(lane: Lane<Payload, Outcome>): void {
    lane.requested = false;
    const jobs = lane.take(this.options.batchRows);
    if (jobs.length === 0 || this.closed) {
      this.options.slots.release();
      this.schedule(lane);
      return;
    }
    const flight: Flight = { controller: new AbortController(), wanted: jobs.length };
    for (const job of jobs) {
      this.pending.delete(job);
      job.lane = undefined;
      this.count(job, -1);
      job.state = 'flying';
      job.flight = flight;
      this.flying.add(job);
    }
    this.flights.set(flight, this.fly(lane.key, jobs, flight));
    lane.due &&= lane.rows > 0;
    this.schedule(lane);
    this.loadChanged();
  }

  private async fly(key: string, jobs: Job<Payload, Outcome>[], flight: Flight): Promise<void> {
    let thrown: { error: unknown } | undefined;
    try {
      await this.options.run(key, jobs, flight.controller.signal);
    } catch (error) {
      thrown = { error };
    }
    for (const job of jobs) {
      if (job.state === 'flying') {
        // An error is dear to make, so it is made only where it is needed.
        thrown ??= {
          error: new ServiceError('internal', 'The batch ended without a result for this message.'),
        };
        this.fail(job, thrown.error);
      }
    }
    this.flights.delete(flight);
    this.options.slots.release();
    this.loadChanged();
  }

  private settle(job: Job<Payload, Outcome>): void {
    this.leaveState(job);
    job.state = 'settled';
    if (job.signal !== undefined) {
      this.aborts.remove(job.signal, job);
    }
    if (job.turn !== undefined) {
      this.turns.leave(job.turn);
    }
    this.loadChanged();
  }

  /** Takes a job out of the counts and sets of the state that it is in. */
  private leaveState(job: Job<Payload, Outcome>): void {
    switch (job.state) {
      case 'reading':
        this.pending.delete(job);
        this.count(job, -1);
        break;
      case 'waiting': {
        this.pending.delete(job);
        this.count(job, -1);
        const { lane } = job;
        job.lane = undefined;
        job.state = 'settled';
        lane?.left(job);
        if (lane?.first() === undefined && lane !== undefined) {
          this.dropLane(lane);
        }
        break;
      }
      case 'flying':
        this.flying.delete(job);
        job.flight!.wanted--;
        break;
      case 'parked':
        this.parked.delete(job);
        this.count(job, -1);
        break;
      case 'settled':
        break;
    }
  }

  private dropLane(lane: Lane<Payload, Outcome>): void {
    lane.clearTimer();
    if (lane.requested) {
      lane.requested = false;
      this.options.slots.cancel(lane.onSlot);
    }
    if (this.lanes.get(lane.key) === lane) {
      this.lanes.delete(lane.key);
    }
  }

  private count(job: Job<Payload, Outcome>, sign: 1 | -1): void {
    this.rows += sign * job.rows;
    this.bytes += sign * job.bytes;
  }

  private loadChanged(): void {
    if (this.options.onLoad === undefined || this.closed || this.loadTimer !== undefined) {
      return;
    }
    this.loadTimer = setTimeout(() => {
      this.loadTimer = undefined;
      this.options.onLoad?.(this.load());
    }, LOAD_MS).unref();
  }
}

function closedError(): ServiceError {
  return new ServiceError('closed', 'The work was cancelled because the node was closed or redeployed.');
}
