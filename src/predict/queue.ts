import type { PredictLoad } from '../models/types';
import { ServiceError } from '../wire/service-error';

/** Results handed over per turn of the event loop: what each sets off in the flow then stays a few ms together. */
const PER_TURN = 64;
/** Between two reports of the load. */
const INTERVAL_MS = 250;

/**
 * Where a message is: `reading` its table, or waiting for a model · `waiting` for a slot or a full batch · `flying`:
 * being scored · `parked`: scored, waiting for the results before it · `settled`.
 */
type MessageState = 'reading' | 'waiting' | 'flying' | 'parked' | 'settled';

/** One message on its way through a batcher. */
export class QueuedMessage<Payload, Outcome> {
  readonly promise: Promise<Outcome>;
  resolve!: (outcome: Outcome) => void;
  reject!: (error: ServiceError) => void;
  state: MessageState = 'reading';
  /** It shares no batch with others. */
  alone = false;
  /** A flush came after it: it does not wait for a full batch. */
  hurried = false;
  /** Milliseconds (performance.now) when it began to wait for a slot. */
  since = 0;
  /** Key of the queue that it waits in. */
  batchKey: string | undefined;
  /** Set while it flies. */
  flight: Flight | undefined;
  /** What it takes up: expected, until its table is read; then of its result. */
  rows: number;
  bytes: number;
  /** Its place in the order of its model, where results leave in order. */
  readonly turn: Turn | undefined;
  readonly signal: AbortSignal | undefined;

  constructor(
    readonly payload: Payload,
    { rows, bytes }: Size,
    { turn, signal }: { turn: Turn | undefined; signal: AbortSignal | undefined },
  ) {
    this.rows = rows;
    this.bytes = bytes;
    this.turn = turn;
    this.signal = signal;
    this.promise = new Promise<Outcome>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** It is in a batch, and nobody has given it up meanwhile. */
  get isWanted(): boolean {
    return this.state === 'flying';
  }
}

/** A message of a batch that is refused. */
export interface Failed<Message> {
  message: Message;
  error: unknown;
}

/** What came of a message of a batch: its outcome, with what that takes up while it waits for its turn, or its error. */
export type Result<Message, Outcome> = ({ message: Message; outcome: Outcome } & Size) | Failed<Message>;

/** A batch being scored. */
export interface Flight {
  readonly controller: AbortController;
  /** Messages that still want its result. */
  wanted: number;
}

/** What a message takes up while it waits. */
export interface Size {
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

/** Hands results over one after the other, a slice per turn of the event loop, the first ones at once. */
export class Outbox {
  private readonly waiting = new Fifo<() => void>();
  private left = PER_TURN;
  private ticking = false;

  push(deliver: () => void): void {
    this.tickLater();
    if (this.waiting.first() === undefined && this.left > 0) {
      this.left--;
      deliver();
    } else {
      this.waiting.add(deliver);
    }
  }

  private tickLater(): void {
    if (!this.ticking) {
      this.ticking = true;
      setImmediate(this.tick);
    }
  }

  private readonly tick = (): void => {
    this.ticking = false;
    this.left = PER_TURN;
    for (let next = this.waiting.first(); next !== undefined && this.left > 0; next = this.waiting.first()) {
      this.left--;
      this.waiting.delete(next);
      next();
    }
    if (this.waiting.first() !== undefined) {
      this.tickLater();
    }
  };
}

/** A message's place in the order of its model. */
interface Turn {
  readonly key: string;
  over: boolean;
  deliver: (() => void) | undefined;
}

/**
 * Lets results leave in the order in which their messages came, per key. A message that failed holds nobody up, and
 * leaves nothing behind: while one result is long in coming, any number of others may come and go.
 */
export class OrderedDelivery {
  private readonly lines = new Map<string, Fifo<Turn>>();

  constructor(private readonly outbox: Outbox) {}

  enter(key: string): Turn {
    let line = this.lines.get(key);
    if (line === undefined) {
      line = new Fifo();
      this.lines.set(key, line);
    }
    const turn: Turn = { key, over: false, deliver: undefined };
    line.add(turn);
    return turn;
  }

  /** Ends a turn; `deliver` is called when every turn before it is over. Without it the turn is taken back. */
  leave(turn: Turn, deliver?: () => void): void {
    turn.deliver = deliver;
    const line = this.lines.get(turn.key);
    if (deliver === undefined) {
      line?.delete(turn);
    }
    // What is over already holds nobody up. Nor may a result that is just being delivered let the next one out first.
    if (turn.over || line === undefined) {
      return;
    }
    turn.over = true;
    for (let next = line.first(); next?.over === true; next = line.first()) {
      line.delete(next);
      if (next.deliver !== undefined) {
        this.outbox.push(next.deliver);
      }
    }
    if (line.first() === undefined && this.lines.get(turn.key) === line) {
      this.lines.delete(turn.key);
    }
  }

  /** Turns that are not over, or wait for one before them. */
  get size(): number {
    let size = 0;
    for (const line of this.lines.values()) {
      size += line.size;
    }
    return size;
  }
}

/** A place in the queue. */
interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;
}

/**
 * A queue that items may leave from anywhere: `add`, `delete` and `first` take the same time at any length, and what
 * has left is not held. A linked list: a bare Set would search past all that have left each time its first item is
 * asked for, and an iterator that remembers the place would keep each of them from garbage collection, since V8 holds
 * every former table of a Set for an iterator that has not passed it.
 */
export class Fifo<Item> {
  private readonly links = new Map<Item, Link<Item>>();
  private head: Link<Item> | undefined;
  private tail: Link<Item> | undefined;

  get size(): number {
    return this.links.size;
  }

  /** @param item not in the queue yet */
  add(item: Item): void {
    const link: Link<Item> = { item, before: this.tail, after: undefined };
    if (this.tail === undefined) {
      this.head = link;
    } else {
      this.tail.after = link;
    }
    this.tail = link;
    this.links.set(item, link);
  }

  delete(item: Item): void {
    const link = this.links.get(item);
    if (link === undefined) {
      return;
    }
    this.links.delete(item);
    const { before, after } = link;
    if (before === undefined) {
      this.head = after;
    } else {
      before.after = after;
    }
    if (after === undefined) {
      this.tail = before;
    } else {
      after.before = before;
    }
  }

  /** The item that has been here longest. */
  first(): Item | undefined {
    return this.head?.item;
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.head; link !== undefined; link = link.after) {
      yield link.item;
    }
  }
}
