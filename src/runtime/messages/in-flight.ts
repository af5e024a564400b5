import { setImmediate as immediate } from 'node:timers/promises';

import type { ServiceError } from '../../wire/service-error';

/**
 * Turns of the event loop in which nothing is under way. Node-RED delivers each send in a turn of its own, so what a
 * message sets off may be between two nodes; a flow has fewer than these in a row between two of this package.
 */
const QUIET_TURNS = 20;

/** One message under way. It settles once; what comes later is ignored. */
export interface Ticket {
  open: boolean;
  settle(error?: ServiceError): void;
}

/** The messages a node has taken and not yet answered with `done`. */
export class InFlight {
  private readonly tickets = new Set<Ticket>();
  private idle: (() => void)[] = [];

  get size(): number {
    return this.tickets.size;
  }

  /** Adds a message; `onSettled` is called exactly once. */
  begin(onSettled: (error?: ServiceError) => void): Ticket {
    const ticket: Ticket = {
      open: true,
      settle: (error) => {
        if (ticket.open) {
          ticket.open = false;
          this.leave(ticket);
          onSettled(error);
        }
      },
    };
    this.tickets.add(ticket);
    return ticket;
  }

  /** Resolves when nothing is under way, or after `ms` milliseconds. */
  async drained(ms: number): Promise<void> {
    if (this.tickets.size === 0) {
      return;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.idle.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  settleAll(error: ServiceError): void {
    for (const ticket of [...this.tickets]) {
      ticket.settle(error);
    }
  }

  private leave(ticket: Ticket): void {
    this.tickets.delete(ticket);
    if (this.tickets.size > 0) {
      return;
    }
    const idle = this.idle;
    this.idle = [];
    for (const wake of idle) {
      wake();
    }
  }
}

/** By the id of a message, which Node-RED gives on to whatever the message sets off. */
const followed = new Map<string, Set<HandOver>>();

/** Resolves when the nodes of this package behind what was just sent have taken it. */
export async function delivered(): Promise<void> {
  for (let turn = 0; turn < QUIET_TURNS; turn++) {
    await immediate();
  }
}

/**
 * Follows the messages with an id through the nodes of this package, from now on: when all of them are done with what was
 * sent, it is handed over. Of other nodes nothing is known, but most of them work at once.
 */
export class HandOver {
  private underWay = 0;
  private wake: () => void = () => undefined;

  constructor(private readonly id: string) {
    const all = followed.get(id) ?? new Set();
    followed.set(id, all.add(this));
  }

  /** A node takes a message with this id. @returns to be called when it is done; undefined where nobody follows it */
  static enter(id: string): (() => void) | undefined {
    const all = followed.get(id);
    if (all === undefined) {
      return undefined;
    }
    const entered = [...all];
    entered.forEach((one) => one.underWay++);
    return () => entered.forEach((one) => one.leave());
  }

  /** Resolves when what was sent so far is handed over. @throws the signal's reason once it is aborted */
  async over(signal: AbortSignal): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      await immediate();
      while (this.underWay > 0) {
        quiet = 0;
        await this.change(signal);
        signal.throwIfAborted();
      }
    }
    signal.throwIfAborted();
  }

  /** Follows them no longer. */
  end(): void {
    const all = followed.get(this.id);
    all?.delete(this);
    if (all?.size === 0) {
      followed.delete(this.id);
    }
  }

  private change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.wake = (): void => {
        signal.removeEventListener('abort', this.wake);
        resolve();
      };
      signal.addEventListener('abort', this.wake);
      if (signal.aborted) {
        this.wake();
      }
    });
  }

  private leave(): void {
    this.underWay--;
    this.wake();
  }
}
