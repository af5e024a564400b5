import { setImmediate as immediate } from 'node:timers/promises';

import type { ServiceError } from '../../wire/service-error';

/**
 * Turns of the event loop in which nothing is under way. Node-RED delivers each send in a turn of its own, so what a
 * message sets off may be between two nodes; a flow has fewer than these in a row between two of this package.
 */
const QUIET_TURNS = 20;

/** A message under way. */
interface Pending {
  settle(error: ServiceError): void;
}

/** The messages a node has taken and not yet answered with `done`. */
export class InFlight {
  private readonly messages = new Set<Pending>();
  private idle: (() => void)[] = [];

  get size(): number {
    return this.messages.size;
  }

  add(message: Pending): void {
    this.messages.add(message);
  }

  delete(message: Pending): void {
    this.messages.delete(message);
    if (this.messages.size > 0) {
      return;
    }
    const idle = this.idle;
    this.idle = [];
    for (const wake of idle) {
      wake();
    }
  }

  /** Resolves when nothing is under way, or after `ms` milliseconds. */
  async drained(ms: number): Promise<void> {
    if (this.messages.size === 0) {
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
    for (const message of [...this.messages]) {
      message.settle(error);
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
