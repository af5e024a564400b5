import { AbortWatch } from '../../util/abort';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { PredictLoad } from '../types';
import { Lanes, type LanesOptions } from './lanes';
import { LoadReport } from './load-report';
import { Outbox, Turns } from './ordered-delivery';
import { Room } from './queue-capacity';
import { type Flight, type Job, newJob } from './queued-message';

export interface BatcherOptions<Payload, Outcome> extends LanesOptions {
  ordered: boolean;
  queueRows: number;
  queueBytes: number;
  overflow: 'reject' | 'dropOldest';
  /** Scores a batch: settles each of its messages by `finish` or `fail`. What it leaves unsettled is failed. */
  run: (lane: string, jobs: Job<Payload, Outcome>[], signal: AbortSignal) => Promise<void>;
  onLoad?: (load: PredictLoad) => void;
}

/**
 * Micro-batching like a group commit: a message goes at once while a slot is free; while none is, messages
 * of one lane gather. The queue is bounded in rows and bytes, results that wait for their turn included.
 */
export class Batcher<Payload, Outcome> {
  private readonly lanes: Lanes<Payload, Outcome>;
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
  private readonly room: Room;
  /** What of it results hold that wait for their turn: room that no message can be dropped for. */
  private readonly parkedRoom: Room;
  private readonly report: LoadReport;
  private closed = false;

  constructor(private readonly options: BatcherOptions<Payload, Outcome>) {
    this.lanes = new Lanes(
      options,
      (key, jobs) => this.start(key, jobs),
      () => this.mayStart(),
    );
    const most = { rows: options.queueRows, bytes: options.queueBytes };
    this.room = new Room(most);
    this.parkedRoom = new Room(most);
    this.report = new LoadReport(() => this.load(), options.onLoad);
  }

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
    this.makeRoom({ rows, bytes });
    const turn = this.options.ordered ? this.turns.enter(order) : undefined;
    const job = newJob<Payload, Outcome>(payload, turn, rows, bytes, signal);
    this.pending.add(job);
    this.room.add(job);
    if (signal !== undefined) {
      this.aborts.add(signal, job);
    }
    this.report.changed();
    return job;
  }

  /** Rows that a message may have by the room there is; any number where nothing else waits. */
  rowsFor(job: Job<Payload, Outcome>): number {
    return this.isAlone() ? Infinity : this.room.rowsLeft() + job.rows;
  }

  /**
   * Corrects what a message was expected to hold, once its table is read. False, and nothing changes, where there is
   * no room for that: its table may not be kept.
   */
  resize(job: Job<Payload, Outcome>, rows: number, bytes: number): boolean {
    if (job.state !== 'reading') {
      return true;
    }
    const size = { rows, bytes };
    this.room.remove(job);
    const fits = this.isAlone() || this.room.holds(size);
    if (fits) {
      job.rows = rows;
      job.bytes = bytes;
    }
    this.room.add(job);
    return fits;
  }

  /** The message may be scored now, together with others of the same lane unless `alone`. */
  enqueue(job: Job<Payload, Outcome>, laneKey: string, alone = false): void {
    if (job.state !== 'reading') {
      return;
    }
    job.state = 'waiting';
    job.alone = alone;
    this.lanes.push(laneKey, job);
  }

  /** Its result: delivered when its turn has come; `bytes` and `rows` are held meanwhile. */
  finish(job: Job<Payload, Outcome>, outcome: Outcome, bytes = job.bytes, rows = job.rows): void {
    if (job.state !== 'flying') {
      return;
    }
    this.leaveState(job);
    job.flight = undefined;
    job.state = 'parked';
    job.bytes = bytes;
    job.rows = rows;
    this.parked.add(job);
    this.room.add(job);
    this.parkedRoom.add(job);
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
    this.report.changed();
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

  /** Whoever waits for company waits no longer; whoever is still being read will not wait for any. */
  flush(): void {
    for (const job of this.pending) {
      job.hurried = true;
    }
    this.lanes.flush();
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
      rows: this.room.rows,
      bytes: this.room.bytes,
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    // One error for all: the stack traces of 100,000 would take a second to make.
    const error = closedError();
    for (const job of [...this.parked, ...this.flying, ...this.pending]) {
      this.fail(job, error);
    }
    this.lanes.close();
    this.report.end();
    await Promise.all(this.flights.values());
  }

  private makeRoom(size: { rows: number; bytes: number }): void {
    const { room } = this;
    if (room.holds(size) || this.pending.size + this.parked.size === 0) {
      return;
    }
    if (this.options.overflow === 'dropOldest' && this.parkedRoom.holds(size)) {
      for (const oldest of this.pending) {
        this.fail(oldest, room.full('This message was the oldest waiting and made room for a newer one.'));
        if (room.holds(size)) {
          return;
        }
      }
    }
    throw room.full('This message was refused.');
  }

  /** At most one message waits: it may go, whatever its size. */
  private isAlone(): boolean {
    return this.pending.size + this.parked.size <= 1;
  }

  /**
   * Results may turn out larger than their messages (a path becomes rows). While those that wait for their turn fill
   * the queue, only what is under way is waited for: one of those, or the next one, has the turn.
   */
  private mayStart(): boolean {
    return !this.closed && (this.flights.size === 0 || !this.parkedRoom.isFull());
  }

  private start(key: string, jobs: Job<Payload, Outcome>[]): void {
    const flight: Flight = { controller: new AbortController(), wanted: jobs.length };
    for (const job of jobs) {
      this.pending.delete(job);
      this.room.remove(job);
      job.state = 'flying';
      job.flight = flight;
      this.flying.add(job);
    }
    this.flights.set(flight, this.fly(key, jobs, flight));
    this.report.changed();
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
    this.lanes.resume();
    this.report.changed();
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
    this.lanes.resume();
    this.report.changed();
  }

  /** Takes a job out of the counts and sets of the state that it is in. */
  private leaveState(job: Job<Payload, Outcome>): void {
    switch (job.state) {
      case 'reading':
        this.pending.delete(job);
        this.room.remove(job);
        break;
      case 'waiting':
        this.pending.delete(job);
        this.room.remove(job);
        job.state = 'settled';
        this.lanes.left(job);
        break;
      case 'flying':
        this.flying.delete(job);
        job.flight!.wanted--;
        break;
      case 'parked':
        this.parked.delete(job);
        this.room.remove(job);
        this.parkedRoom.remove(job);
        break;
      case 'settled':
        break;
    }
  }
}

function closedError(): ServiceError {
  return new ServiceError('closed', 'The work was cancelled because the node was closed or redeployed.');
}
