import { ServiceError } from '../../wire/service-error';
import type { CallKind } from '../types';
import { sleep } from './backoff';
import type { Call } from './deadline';

/** Calls in flight of one kind: a slot for each, first come first served, and a gate that Retry-After closes. */
class Lane {
  inFlight = 0;
  private heldUntil = 0;
  private heldBy: ServiceError | undefined;
  private readonly queue: (() => void)[] = [];

  constructor(private readonly slots: number) {}

  /** Waits for a slot. The caller gives it back by the function it receives. */
  async enter(call: Call): Promise<() => void> {
    call.throwIfOver();
    if (this.inFlight >= this.slots) {
      await new Promise<void>((resolve, reject) => {
        const enter = () => {
          call.signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = () => {
          this.queue.splice(this.queue.indexOf(enter), 1);
          reject(call.over(`${this.slots} calls of its kind were in flight and none ended`));
        };
        call.signal.addEventListener('abort', leave, { once: true });
        this.queue.push(enter);
      });
    } else {
      this.inFlight += 1;
    }
    let given = false;
    return () => {
      if (!given) {
        given = true;
        this.leave();
      }
    };
  }

  /** Waits until the service takes requests of this kind again; fails at once where that is past the deadline. */
  async pass(call: Call): Promise<void> {
    for (;;) {
      const ms = this.heldForMs();
      if (ms <= 0) {
        return;
      }
      if (ms > call.leftMs() && this.heldBy !== undefined) {
        throw beyondDeadline(this.heldBy, ms);
      }
      await call.until(sleep(ms, call.signal));
    }
  }

  hold(ms: number, by: ServiceError): void {
    const until = Date.now() + ms;
    if (until > this.heldUntil) {
      this.heldUntil = until;
      this.heldBy = by;
    }
  }

  heldForMs(): number {
    return Math.max(0, this.heldUntil - Date.now());
  }

  /** A slot that is left goes straight to whoever waits longest. */
  private leave(): void {
    const next = this.queue.shift();
    if (next === undefined) {
      this.inFlight -= 1;
    } else {
      next();
    }
  }
}

/** The error that closed the gate, as one of another call that finds it closed. */
function beyondDeadline(by: ServiceError, ms: number): ServiceError {
  return new ServiceError(by.code, by.message, { ...by.cause, retryAfterMs: Math.ceil(ms) });
}

/** Slots and holds of a client, a lane per kind of call, so that a long fit never starves predicts. */
export class Pacing {
  private readonly lanes: Record<CallKind, Lane>;
  /** PUTs have no slot of their own: their upload has one. Their storage may ask for patience by itself. */
  readonly storage: Lane;

  constructor(concurrency: number) {
    this.lanes = {
      fit: new Lane(concurrency),
      predict: new Lane(concurrency),
      upload: new Lane(concurrency),
      info: new Lane(concurrency),
    };
    this.storage = new Lane(Infinity);
  }

  lane(kind: CallKind): Lane {
    return this.lanes[kind];
  }
}

export type { Lane };
