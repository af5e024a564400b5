import type { ServiceError } from '../../wire/service-error';

/** One message under way. It settles once; what comes later is ignored. */
export interface Ticket {
  readonly open: boolean;
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
    const tickets = this.tickets;
    const leave = (): void => this.leave(ticket);
    const ticket: Ticket = {
      get open() {
        return tickets.has(ticket);
      },
      settle(error) {
        if (!tickets.has(ticket)) {
          return;
        }
        leave();
        onSettled(error);
      },
    };
    tickets.add(ticket);
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
