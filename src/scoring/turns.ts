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

/** A message's place in the order of its model. */
export interface Turn {
  key: string;
  over: boolean;
  deliver: (() => void) | undefined;
}

interface Line {
  turns: Turn[];
  head: number;
}

/** Lets results leave in the order in which their messages came, per key; a message that failed holds nobody up. */
export class Turns {
  private readonly lines = new Map<string, Line>();

  constructor(private readonly outbox: Outbox) {}

  enter(key: string): Turn {
    const turn: Turn = { key, over: false, deliver: undefined };
    const line = this.lines.get(key);
    if (line === undefined) {
      this.lines.set(key, { turns: [turn], head: 0 });
    } else {
      line.turns.push(turn);
    }
    return turn;
  }

  /** Ends a turn; `deliver` is called when every turn before it is over. */
  leave(turn: Turn, deliver?: () => void): void {
    if (turn.over) {
      turn.deliver = deliver;
      return;
    }
    turn.over = true;
    turn.deliver = deliver;
    const line = this.lines.get(turn.key);
    if (line === undefined) {
      return;
    }
    while (line.head < line.turns.length && line.turns[line.head]!.over) {
      const next = line.turns[line.head]!;
      line.head++;
      if (next.deliver !== undefined) {
        this.outbox.push(() => next.deliver?.());
      }
    }
    if (line.head === line.turns.length) {
      this.lines.delete(turn.key);
    } else if (line.head > COMPACT_AT && line.head * 2 > line.turns.length) {
      line.turns.splice(0, line.head);
      line.head = 0;
    }
  }
}
