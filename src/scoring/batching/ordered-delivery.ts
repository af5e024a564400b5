/** Results handed over per turn of the event loop: what each sets off in the flow then stays a few ms together. */
const PER_TICK = 64;
const COMPACT_AT = 1024;

/** Hands results over one after the other, a slice per turn of the event loop, the first ones at once. */
export class Outbox {
  private readonly queue: (() => void)[] = [];
  private head = 0;
  private room = PER_TICK;
  private ticking = false;

  push(deliver: () => void): void {
    if (this.head === this.queue.length && this.room > 0) {
      this.room--;
      this.tickLater();
      deliver();
    } else {
      this.queue.push(deliver);
      this.tickLater();
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
    this.room = PER_TICK;
    while (this.room > 0 && this.head < this.queue.length) {
      this.room--;
      this.queue[this.head++]!();
    }
    if (this.head === this.queue.length) {
      this.queue.length = 0;
      this.head = 0;
    } else {
      if (this.head > COMPACT_AT) {
        this.queue.splice(0, this.head);
        this.head = 0;
      }
      this.tickLater();
    }
  }
}

/** A message's place in the order of its model: a link of a chain. */
export interface Turn {
  readonly line: Line;
  over: boolean;
  deliver: (() => void) | undefined;
  before: Turn | undefined;
  after: Turn | undefined;
}

interface Line {
  key: string;
  first: Turn | undefined;
  last: Turn | undefined;
}

/**
 * Lets results leave in the order in which their messages came, per key. A message that failed holds nobody up, and
 * leaves nothing behind: while one result is long in coming, any number of others may come and go.
 */
export class Turns {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly outbox: Outbox) {}

  enter(key: string): Turn {
    let line = this.lines.get(key);
    if (line === undefined) {
      line = { key, first: undefined, last: undefined };
      this.lines.set(key, line);
    }
    const turn: Turn = { line, over: false, deliver: undefined, before: line.last, after: undefined };
    if (line.last === undefined) {
      line.first = turn;
    } else {
      line.last.after = turn;
    }
    line.last = turn;
    return turn;
  }

  /** Ends a turn; `deliver` is called when every turn before it is over. Without it the turn is taken back. */
  leave(turn: Turn, deliver?: () => void): void {
    turn.deliver = deliver;
    if (turn.over) {
      if (deliver === undefined && turn.line.first !== turn) {
        this.unlink(turn);
      }
      return;
    }
    turn.over = true;
    const { line } = turn;
    if (deliver === undefined) {
      this.unlink(turn);
    }
    for (let next = line.first; next?.over === true; next = line.first) {
      const delivered = next;
      this.unlink(next);
      if (next.deliver !== undefined) {
        this.outbox.push(() => delivered.deliver?.());
      }
    }
  }

  private unlink(turn: Turn): void {
    const { line, before, after } = turn;
    if (before === undefined && line.first !== turn) {
      return;
    }
    if (before === undefined) {
      line.first = after;
    } else {
      before.after = after;
    }
    if (after === undefined) {
      line.last = before;
    } else {
      after.before = before;
    }
    turn.before = turn.after = undefined;
    if (line.first === undefined && this.lines.get(line.key) === line) {
      this.lines.delete(line.key);
    }
  }
}
