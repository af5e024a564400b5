import { closedError } from '../models/service';
import type { PredictLoad } from '../models/types';
import { AbortWatch, type Semaphore } from '../util/concurrency';
import { ServiceError, toServiceError } from '../wire/service-error';
import {
  Fifo,
  type Flight,
  LoadReport,
  OrderedDelivery,
  Outbox,
  QueueCapacity,
  QueuedMessage,
  type Result,
  type Size,
} from './queue';

export interface BatcherOptions<Payload, Outcome> {
  /** Rows of a batch at most, and how long its first message waits for it to be full. */
  batchRows: number;
  batchMs: number;
  slots: Semaphore;
  ordered: boolean;
  queueRows: number;
  queueBytes: number;
  overflow: 'reject' | 'dropOldest';
  /** Scores a batch: the result of each of its messages, in any order. What it leaves out is failed. */
  run: (
    batch: QueuedMessage<Payload, Outcome>[],
    signal: AbortSignal,
  ) => AsyncIterable<Result<QueuedMessage<Payload, Outcome>, Outcome>>;
  onLoad?: (load: PredictLoad) => void;
}

/** Messages that wait for the same model with the same options: what one batch may be taken from. */
interface BatchQueue<Payload, Outcome> {
  readonly key: string;
  readonly messages: Fifo<QueuedMessage<Payload, Outcome>>;
  rows: number;
  /** Does not wait for a full batch any longer. */
  due: boolean;
  /** Waits for a slot. */
  requested: boolean;
  timer: NodeJS.Timeout | undefined;
  /** What is handed to the slots: the same function each time, so that it can be cancelled. */
  readonly onSlot: () => void;
}

/**
 * Micro-batching like a group commit: a message is sent at once while a slot is free; while none is, messages
 * with the same key gather. With `batchMs` a queue first waits until its batch is full or its first message has waited
 * that long. All are bounded in rows and bytes, results that wait to be delivered in order included.
 */
export class Batcher<Payload, Outcome> {
  private readonly queues = new Map<string, BatchQueue<Payload, Outcome>>();
  /** Those that would start, where nothing may. */
  private readonly held = new Set<BatchQueue<Payload, Outcome>>();
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
  admit(order: string, payload: Payload, size: Size, signal?: AbortSignal): QueuedMessage<Payload, Outcome> {
    if (this.closed || signal?.aborted === true) {
      throw closedError();
    }
    if (!this.capacity.fits(size) && this.pending.size + this.parked.size > 0) {
      this.makeRoom(size);
    }
    const turn = this.options.ordered ? this.delivery.enter(order) : undefined;
    const message = new QueuedMessage<Payload, Outcome>(payload, size, { turn, signal });
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
    message.batchKey = key;
    if (this.options.batchMs > 0) {
      message.since = performance.now();
    }
    let queue = this.queues.get(key);
    if (queue === undefined) {
      const opened: BatchQueue<Payload, Outcome> = {
        key,
        messages: new Fifo(),
        rows: 0,
        due: false,
        requested: false,
        timer: undefined,
        onSlot: () => this.start(opened),
      };
      queue = opened;
      this.queues.set(key, queue);
    }
    queue.messages.add(message);
    queue.rows += message.rows;
    queue.due ||= message.hurried;
    this.schedule(queue);
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
    for (const queue of this.queues.values()) {
      queue.due = true;
      this.schedule(queue);
    }
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
    for (const queue of this.queues.values()) {
      this.drop(queue);
    }
    this.report.end();
    await Promise.all(this.flights.values());
  }

  private makeRoom(size: Size): void {
    const { capacity } = this;
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

  /** Asks for a slot for a queue, as soon as its batch may go. */
  private schedule(queue: BatchQueue<Payload, Outcome>): void {
    if (queue.requested || this.closed) {
      return;
    }
    const first = queue.messages.first();
    if (first === undefined) {
      this.drop(queue);
      return;
    }
    const { batchMs, batchRows } = this.options;
    if (batchMs > 0 && !queue.due && !first.alone && queue.rows < batchRows) {
      queue.timer ??= setTimeout(
        () => {
          queue.timer = undefined;
          queue.due = true;
          this.schedule(queue);
        },
        Math.max(0, batchMs - (performance.now() - first.since)),
      );
      return;
    }
    clearTimeout(queue.timer);
    queue.timer = undefined;
    if (!this.mayStart()) {
      this.held.add(queue);
      return;
    }
    queue.requested = true;
    this.options.slots.request(queue.onSlot);
  }

  /** Something may start again: the queue that was held first goes first. */
  private resume(): void {
    for (const queue of this.held) {
      if (!this.mayStart()) {
        return;
      }
      this.held.delete(queue);
      this.schedule(queue);
    }
  }

  /** A queue has its slot: its next batch takes it, or gives it back. */
  private start(queue: BatchQueue<Payload, Outcome>): void {
    queue.requested = false;
    const batch = this.mayStart() ? nextBatch(queue, this.options.batchRows) : [];
    if (batch.length === 0) {
      this.options.slots.release();
    } else {
      const flight: Flight = { controller: new AbortController(), wanted: batch.length };
      for (const message of batch) {
        this.pending.delete(message);
        this.capacity.remove(message);
        message.state = 'flying';
        message.flight = flight;
        this.flying.add(message);
      }
      this.flights.set(flight, this.fly(batch, flight));
      this.report.changed();
    }
    this.schedule(queue);
  }

  private drop(queue: BatchQueue<Payload, Outcome>): void {
    clearTimeout(queue.timer);
    queue.timer = undefined;
    this.held.delete(queue);
    if (queue.requested) {
      queue.requested = false;
      this.options.slots.cancel(queue.onSlot);
    }
    if (this.queues.get(queue.key) === queue) {
      this.queues.delete(queue.key);
    }
  }

  private async fly(messages: QueuedMessage<Payload, Outcome>[], flight: Flight): Promise<void> {
    let thrown: { error: unknown } | undefined;
    try {
      for await (const result of this.options.run(messages, flight.controller.signal)) {
        this.take(result);
      }
    } catch (error) {
      thrown = { error };
    }
    for (const message of messages) {
      if (message.isWanted) {
        // An error is expensive to create (its stack trace), so it is created only when it is needed.
        thrown ??= {
          error: new ServiceError('internal', 'The batch ended without a result for this message.'),
        };
        this.fail(message, thrown.error);
      }
    }
    this.flights.delete(flight);
    this.options.slots.release();
    if (this.held.size > 0) {
      this.resume();
    }
    this.report.changed();
  }

  /** Delivers an outcome after those before it; until then it counts in the queue with its own size. */
  private take(result: Result<QueuedMessage<Payload, Outcome>, Outcome>): void {
    const { message } = result;
    if ('error' in result) {
      this.fail(message, result.error);
      return;
    }
    if (!message.isWanted) {
      return;
    }
    const { outcome, bytes, rows } = result;
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

  private settle(message: QueuedMessage<Payload, Outcome>): void {
    this.leaveState(message);
    message.state = 'settled';
    if (message.signal !== undefined) {
      this.aborts.remove(message.signal, message);
    }
    if (message.turn !== undefined) {
      this.delivery.leave(message.turn);
    }
    if (this.held.size > 0) {
      this.resume();
    }
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
        this.leaveQueue(message);
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

  private leaveQueue(message: QueuedMessage<Payload, Outcome>): void {
    const queue = this.queues.get(message.batchKey ?? '');
    if (queue !== undefined) {
      queue.messages.delete(message);
      queue.rows -= message.rows;
      message.batchKey = undefined;
      if (queue.messages.first() === undefined) {
        this.drop(queue);
      }
    }
  }
}

/** Takes the messages of the next batch out: at most `maxRows` rows, at least one message. */
function nextBatch<Payload, Outcome>(
  queue: BatchQueue<Payload, Outcome>,
  maxRows: number,
): QueuedMessage<Payload, Outcome>[] {
  const batch: QueuedMessage<Payload, Outcome>[] = [];
  let rows = 0;
  for (let next = queue.messages.first(); next !== undefined; next = queue.messages.first()) {
    if (batch.length > 0 && (next.alone || rows + next.rows > maxRows)) {
      break;
    }
    queue.messages.delete(next);
    queue.rows -= next.rows;
    next.batchKey = undefined;
    rows += next.rows;
    batch.push(next);
    if (next.alone) {
      break;
    }
  }
  return batch;
}
