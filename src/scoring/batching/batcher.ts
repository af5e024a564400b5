import { AbortWatch } from '../../util/abort';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { closedError } from '../closed-error';
import type { PredictLoad } from '../types';
import {
  type BatchingOptions,
  BatchQueues,
  type Flight,
  type QueuedMessage,
  queuedMessage,
} from './batch-queues';
import { Fifo, OrderedDelivery, Outbox } from './ordered-delivery';

export interface BatcherOptions<Payload, Outcome> extends BatchingOptions {
  ordered: boolean;
  queueRows: number;
  queueBytes: number;
  overflow: 'reject' | 'dropOldest';
  /** Scores a batch: settles each of its messages by `finish` or `fail`. What it leaves unsettled is failed. */
  run: (key: string, batch: QueuedMessage<Payload, Outcome>[], signal: AbortSignal) => Promise<void>;
  onLoad?: (load: PredictLoad) => void;
}

/**
 * Micro-batching like a group commit: a message is sent at once while a slot is free; while none is, messages
 * with the same key gather. The queue is bounded in rows and bytes, results that wait to be delivered in order included.
 */
export class Batcher<Payload, Outcome> {
  private readonly queues: BatchQueues<Payload, Outcome>;
  /** Messages not yet sent, in the order in which they came. */
  private readonly pending = new Fifo<QueuedMessage<Payload, Outcome>>();
  private readonly parked = new Set<QueuedMessage<Payload, Outcome>>();
  private readonly flying = new Set<QueuedMessage<Payload, Outcome>>();
  private readonly flights = new Map<Flight, Promise<void>>();
  private readonly aborts = new AbortWatch<QueuedMessage<Payload, Outcome>>((messages) => {
    const error = closedError();
    for (const message of messages) {
      this.fail(message, error);
    }
  });
  private readonly outbox = new Outbox();
  private readonly delivery = new OrderedDelivery(this.outbox);
  private readonly capacity: QueueCapacity;
  /** The part of it that is taken by results which wait for their turn: those cannot be dropped. */
  private readonly parkedCapacity: QueueCapacity;
  private readonly report: LoadReport;
  private closed = false;

  constructor(private readonly options: BatcherOptions<Payload, Outcome>) {
    this.queues = new BatchQueues(
      options,
      (key, batch) => this.start(key, batch),
      () => this.mayStart(),
    );
    const max = { rows: options.queueRows, bytes: options.queueBytes };
    this.capacity = new QueueCapacity(max);
    this.parkedCapacity = new QueueCapacity(max);
    this.report = new LoadReport(() => this.load(), options.onLoad);
  }

  /**
   * Admits a message: its place in the order is fixed, and it counts in the queue with its expected rows and bytes.
   *
   * @throws ServiceError `queue.full`, `closed`
   */
  admit(
    order: string,
    payload: Payload,
    rows: number,
    bytes: number,
    signal?: AbortSignal,
  ): QueuedMessage<Payload, Outcome> {
    if (this.closed || signal?.aborted === true) {
      throw closedError();
    }
    this.makeRoom({ rows, bytes });
    const turn = this.options.ordered ? this.delivery.enter(order) : undefined;
    const message = queuedMessage<Payload, Outcome>(payload, turn, rows, bytes, signal);
    this.pending.add(message);
    this.capacity.add(message);
    if (signal !== undefined) {
      this.aborts.add(signal, message);
    }
    this.report.changed();
    return message;
  }

  /** Rows that a message may have now; unlimited if nothing else waits. */
  rowsFor(message: QueuedMessage<Payload, Outcome>): number {
    return this.isAlone() ? Infinity : this.capacity.rowsLeft() + message.rows;
  }

  /**
   * Corrects the expected size of a message once its table is read. False, and nothing changes, if it does not fit:
   * then its table may not stay in memory.
   */
  resize(message: QueuedMessage<Payload, Outcome>, rows: number, bytes: number): boolean {
    if (message.state !== 'reading') {
      return true;
    }
    const size = { rows, bytes };
    this.capacity.remove(message);
    const fits = this.isAlone() || this.capacity.fits(size);
    if (fits) {
      message.rows = rows;
      message.bytes = bytes;
    }
    this.capacity.add(message);
    return fits;
  }

  /** The message may be scored now, together with others of the same key unless `alone`. */
  enqueue(message: QueuedMessage<Payload, Outcome>, key: string, alone = false): void {
    if (message.state !== 'reading') {
      return;
    }
    message.state = 'waiting';
    message.alone = alone;
    this.queues.push(key, message);
  }

  /** Delivers the result, after those before it; until then it counts in the queue with `bytes` and `rows`. */
  finish(
    message: QueuedMessage<Payload, Outcome>,
    outcome: Outcome,
    bytes = message.bytes,
    rows = message.rows,
  ): void {
    if (message.state !== 'flying') {
      return;
    }
    this.leaveState(message);
    message.flight = undefined;
    message.state = 'parked';
    message.bytes = bytes;
    message.rows = rows;
    this.parked.add(message);
    this.capacity.add(message);
    this.parkedCapacity.add(message);
    const deliver = (): void => {
      if (message.state === 'parked') {
        // First: settling makes room, and the next batch may have its results before this returns.
        message.resolve(outcome);
        this.settle(message);
      }
    };
    if (message.turn === undefined) {
      this.outbox.push(deliver);
    } else {
      this.delivery.leave(message.turn, deliver);
    }
    this.report.changed();
  }

  /** Fails a message at once: only results have an order. */
  fail(message: QueuedMessage<Payload, Outcome>, error: unknown): void {
    if (message.state === 'settled') {
      return;
    }
    const { flight } = message;
    this.settle(message);
    message.reject(toServiceError(error));
    if (flight?.wanted === 0) {
      flight.controller.abort();
    }
  }

  /** Sends incomplete batches as soon as a slot is free; messages that are still being read will not wait either. */
  flush(): void {
    for (const message of this.pending) {
      message.hurried = true;
    }
    this.queues.flush();
  }

  /** Fails every message that is not yet sent; returns how many. */
  reset(): number {
    const dropped = [...this.pending];
    const error = new ServiceError('closed', 'Dropped by msg.reset before it was scored.');
    for (const message of dropped) {
      this.fail(message, error);
    }
    return dropped.length;
  }

  load(): PredictLoad {
    return {
      inFlight: this.flying.size,
      waiting: this.pending.size + this.parked.size,
      rows: this.capacity.rows,
      bytes: this.capacity.bytes,
    };
  }

  async close(): Promise<void> {
    this.closed = true;
    // One error for all: the stack traces of 100,000 would take a second to make.
    const error = closedError();
    for (const message of [...this.parked, ...this.flying, ...this.pending]) {
      this.fail(message, error);
    }
    this.queues.close();
    this.report.end();
    await Promise.all(this.flights.values());
  }

  private makeRoom(size: { rows: number; bytes: number }): void {
    const { capacity } = this;
    if (capacity.fits(size) || this.pending.size + this.parked.size === 0) {
      return;
    }
    if (this.options.overflow === 'dropOldest' && this.parkedCapacity.fits(size)) {
      for (let oldest = this.pending.first(); oldest !== undefined; oldest = this.pending.first()) {
        this.fail(
          oldest,
          capacity.full('This message was the oldest waiting and made room for a newer one.'),
        );
        if (capacity.fits(size)) {
          return;
        }
      }
    }
    throw capacity.full('This message was refused.');
  }

  /** At most one message waits: it may be sent, whatever its size. */
  private isAlone(): boolean {
    return this.pending.size + this.parked.size <= 1;
  }

  /**
   * Results may turn out larger than their messages (a path becomes rows). While those that wait for their turn fill
   * the queue, only what is under way is waited for: one of those, or the next one, has the turn.
   */
  private mayStart(): boolean {
    return !this.closed && (this.flights.size === 0 || !this.parkedCapacity.isFull());
  }

  private start(key: string, messages: QueuedMessage<Payload, Outcome>[]): void {
    const flight: Flight = { controller: new AbortController(), wanted: messages.length };
    for (const message of messages) {
      this.pending.delete(message);
      this.capacity.remove(message);
      message.state = 'flying';
      message.flight = flight;
      this.flying.add(message);
    }
    this.flights.set(flight, this.fly(key, messages, flight));
    this.report.changed();
  }

  private async fly(key: string, messages: QueuedMessage<Payload, Outcome>[], flight: Flight): Promise<void> {
    let thrown: { error: unknown } | undefined;
    try {
      await this.options.run(key, messages, flight.controller.signal);
    } catch (error) {
      thrown = { error };
    }
    for (const message of messages) {
      if (message.state === 'flying') {
        // An error is expensive to create (its stack trace), so it is created only when it is needed.
        thrown ??= {
          error: new ServiceError('internal', 'The batch ended without a result for this message.'),
        };
        this.fail(message, thrown.error);
      }
    }
    this.flights.delete(flight);
    this.options.slots.release();
    this.queues.resume();
    this.report.changed();
  }

  private settle(message: QueuedMessage<Payload, Outcome>): void {
    this.leaveState(message);
    message.state = 'settled';
    if (message.signal !== undefined) {
      this.aborts.remove(message.signal, message);
    }
    if (message.turn !== undefined) {
      this.delivery.leave(message.turn);
    }
    this.queues.resume();
    this.report.changed();
  }

  /** Takes a message out of the counts and sets of the state that it is in. */
  private leaveState(message: QueuedMessage<Payload, Outcome>): void {
    switch (message.state) {
      case 'reading':
        this.pending.delete(message);
        this.capacity.remove(message);
        break;
      case 'waiting':
        this.pending.delete(message);
        this.capacity.remove(message);
        message.state = 'settled';
        this.queues.remove(message);
        break;
      case 'flying':
        this.flying.delete(message);
        message.flight!.wanted--;
        break;
      case 'parked':
        this.parked.delete(message);
        this.capacity.remove(message);
        this.parkedCapacity.remove(message);
        break;
      case 'settled':
        break;
    }
  }
}

/** What a message takes up while it waits. */
interface Size {
  readonly rows: number;
  readonly bytes: number;
}

/** How full a queue is, in rows and in bytes: results that wait to be delivered in order count too. */
export class QueueCapacity {
  rows = 0;
  bytes = 0;

  constructor(private readonly max: Size) {}

  add({ rows, bytes }: Size): void {
    this.rows += rows;
    this.bytes += bytes;
  }

  remove({ rows, bytes }: Size): void {
    this.rows -= rows;
    this.bytes -= bytes;
  }

  /** Whether it fits now. */
  fits({ rows, bytes }: Size): boolean {
    return this.rows + rows <= this.max.rows && this.bytes + bytes <= this.max.bytes;
  }

  /** Rows that fit now. */
  rowsLeft(): number {
    return Math.max(0, this.max.rows - this.rows);
  }

  isFull(): boolean {
    return this.rows >= this.max.rows || this.bytes >= this.max.bytes;
  }

  /** The error of a message that does not fit. */
  full(what: string): ServiceError {
    return new ServiceError(
      'queue.full',
      `The queue is full: ${this.rows} rows, ${Math.ceil(this.bytes / 1024)} KiB wait. ${what} ` +
        'Send fewer messages, or raise batchRows, queue or the concurrency of the config node.',
    );
  }
}

const INTERVAL_MS = 250;

/** Reports the load a moment after it changed, so that a burst of changes makes one report. */
export class LoadReport {
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly load: () => PredictLoad,
    private readonly onLoad: ((load: PredictLoad) => void) | undefined,
  ) {}

  changed(): void {
    if (this.onLoad === undefined || this.ended || this.timer !== undefined) {
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.onLoad?.(this.load());
    }, INTERVAL_MS).unref();
  }

  /** Reports nothing more, and leaves no timer. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
