import { Fifo } from './fifo';

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
