/** Results handed over per turn of the event loop: what each sets off in the flow then stays a few ms together. */
const PER_TURN = 64;

/** Hands results over one after the other, a slice per turn of the event loop, the first ones at once. */
export class Outbox {
  private readonly waiting = new Fifo<() => void>();
  private left = PER_TURN;
  private ticking = false;

  push(deliver: () => void): void {
    this.tickLater();
    if (this.waiting.size === 0 && this.left > 0) {
      this.left--;
      deliver();
    } else {
      this.waiting.add(deliver);
    }
  }

  private tickLater(): void {
    if (!this.ticking) {
      this.ticking = true;
      setImmediate(() => this.tick());
    }
  }

  private tick(): void {
    this.ticking = false;
    this.left = PER_TURN;
    for (let next = this.waiting.first(); next !== undefined && this.left > 0; next = this.waiting.first()) {
      this.left--;
      this.waiting.delete(next);
      next();
    }
    if (this.waiting.size > 0) {
      this.tickLater();
    }
  }
}

/** A message's place in the order of its model. */
export interface Turn {
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
      const delivered = next;
      line.delete(next);
      this.outbox.push(() => delivered.deliver?.());
    }
    if (line.size === 0 && this.lines.get(turn.key) === line) {
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
