import type { Semaphore } from '../../util/semaphore';
import type { ServiceError } from '../../wire/service-error';
import { Fifo, type Turn } from './ordered-delivery';

export interface BatchingOptions {
  batchRows: number;
  batchMs: number;
  slots: Semaphore;
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
 * Which messages go together, and when: each queue waits for a slot while it holds messages, and takes a batch when it
 * gets one. With `batchMs` it first waits until its batch is full or its first message has waited that long; and
 * where nothing may start it is held until `resume`.
 */
export class BatchQueues<Payload, Outcome> {
  private readonly queues = new Map<string, BatchQueue<Payload, Outcome>>();
  private readonly held = new Set<BatchQueue<Payload, Outcome>>();
  private closed = false;

  /** `start` takes the messages of a batch together with the slot, which it has to give back. */
  constructor(
    private readonly options: BatchingOptions,
    private readonly start: (key: string, batch: QueuedMessage<Payload, Outcome>[]) => void,
    private readonly mayStart: () => boolean,
  ) {}

  push(key: string, message: QueuedMessage<Payload, Outcome>): void {
    const queue = this.queues.get(key) ?? this.open(key);
    if (this.options.batchMs > 0) {
      message.since = performance.now();
    }
    message.batchKey = key;
    queue.messages.add(message);
    queue.rows += message.rows;
    queue.due ||= message.hurried;
    this.schedule(queue);
  }

  /** A message that waits no longer, having settled. */
  remove(message: QueuedMessage<Payload, Outcome>): void {
    const queue = this.queues.get(message.batchKey ?? '');
    if (queue !== undefined) {
      take(queue, message);
      if (queue.messages.size === 0) {
        this.drop(queue);
      }
    }
  }

  /** Sends incomplete batches as soon as a slot is free. */
  flush(): void {
    for (const queue of this.queues.values()) {
      queue.due = true;
      this.schedule(queue);
    }
  }

  /** Something may start again: the queue that was held first goes first. */
  resume(): void {
    for (const queue of this.held) {
      if (!this.mayStart()) {
        return;
      }
      this.held.delete(queue);
      this.schedule(queue);
    }
  }

  /** Cancels every request for a slot and every timer. */
  close(): void {
    this.closed = true;
    for (const queue of this.queues.values()) {
      this.drop(queue);
    }
  }

  private open(key: string): BatchQueue<Payload, Outcome> {
    const queue: BatchQueue<Payload, Outcome> = {
      key,
      messages: new Fifo(),
      rows: 0,
      due: false,
      requested: false,
      timer: undefined,
      onSlot: () => this.startBatch(queue),
    };
    this.queues.set(key, queue);
    return queue;
  }

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
    clearTimer(queue);
    if (!this.mayStart()) {
      this.held.add(queue);
      return;
    }
    queue.requested = true;
    this.options.slots.request(queue.onSlot);
  }

  private startBatch(queue: BatchQueue<Payload, Outcome>): void {
    queue.requested = false;
    const batch = this.mayStart() && !this.closed ? nextBatch(queue, this.options.batchRows) : [];
    if (batch.length === 0) {
      this.options.slots.release();
    } else {
      this.start(queue.key, batch);
    }
    this.schedule(queue);
  }

  private drop(queue: BatchQueue<Payload, Outcome>): void {
    clearTimer(queue);
    this.held.delete(queue);
    if (queue.requested) {
      queue.requested = false;
      this.options.slots.cancel(queue.onSlot);
    }
    if (this.queues.get(queue.key) === queue) {
      this.queues.delete(queue.key);
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
    take(queue, next);
    rows += next.rows;
    batch.push(next);
    if (next.alone) {
      break;
    }
  }
  return batch;
}

function take<Payload, Outcome>(
  queue: BatchQueue<Payload, Outcome>,
  message: QueuedMessage<Payload, Outcome>,
): void {
  queue.messages.delete(message);
  queue.rows -= message.rows;
  message.batchKey = undefined;
}

function clearTimer(queue: { timer: NodeJS.Timeout | undefined }): void {
  clearTimeout(queue.timer);
  queue.timer = undefined;
}

/**
 * Where a message is: `reading` its table, or waiting for a model · `waiting` for a slot or a full batch · `flying`:
 * being scored · `parked`: scored, waiting for the results before it · `settled`.
 */
export type MessageState = 'reading' | 'waiting' | 'flying' | 'parked' | 'settled';

/** One message on its way through a batcher. */
export interface QueuedMessage<Payload, Outcome> {
  readonly payload: Payload;
  readonly promise: Promise<Outcome>;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: ServiceError) => void;
  readonly signal: AbortSignal | undefined;
  readonly turn: Turn | undefined;
  state: MessageState;
  rows: number;
  bytes: number;
  /** It shares no batch with others. */
  alone: boolean;
  /** A flush came after it: it does not wait for a full batch. */
  hurried: boolean;
  /** Milliseconds (performance.now) when it began to wait for a slot. */
  since: number;
  /** Key of the queue that it waits in. */
  batchKey: string | undefined;
  /** Set while it flies. */
  flight: Flight | undefined;
}

/** A batch being scored. */
export interface Flight {
  readonly controller: AbortController;
  /** Messages that still want its result. */
  wanted: number;
}

export function queuedMessage<Payload, Outcome>(
  payload: Payload,
  turn: Turn | undefined,
  rows: number,
  bytes: number,
  signal: AbortSignal | undefined,
): QueuedMessage<Payload, Outcome> {
  let resolve!: (outcome: Outcome) => void;
  let reject!: (error: ServiceError) => void;
  const promise = new Promise<Outcome>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return {
    payload,
    promise,
    resolve,
    reject,
    signal,
    turn,
    state: 'reading',
    rows,
    bytes,
    alone: false,
    hurried: false,
    since: 0,
    batchKey: undefined,
    flight: undefined,
  };
}
