import { Semaphore } from '../../util/semaphore';
import { ServiceError } from '../../wire/service-error';
import type { CallKind } from '../types';
import { sleep } from './backoff';
import type { Call } from './deadline';

/** Calls of one kind: a limited number at a time, first come first served, and none while `Retry-After` holds. */
export class RateGate {
  inFlight = 0;
  private heldUntil = 0;
  private heldBy: ServiceError | undefined;
  private readonly slots: Semaphore;

  constructor(private readonly limit: number) {
    this.slots = new Semaphore(limit);
  }

  /** Waits for a slot. The caller gives it back by the function it receives. */
  async enter(call: Call): Promise<() => void> {
    call.throwIfOver();
    await this.slot(call);
    let given = false;
    return () => {
      if (!given) {
        given = true;
        this.inFlight -= 1;
        this.slots.release();
      }
    };
  }

  private slot(call: Call): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        call.signal.removeEventListener('abort', leave);
        this.inFlight += 1;
        resolve();
      };
      const leave = () => {
        this.slots.cancel(start);
        reject(call.over(`${this.limit} calls of its kind were in flight and none ended`));
      };
      call.signal.addEventListener('abort', leave, { once: true });
      this.slots.request(start);
    });
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
}

/** The error that closed the gate, as one of another call that finds it closed. */
function beyondDeadline(by: ServiceError, ms: number): ServiceError {
  return new ServiceError(by.code, by.message, { ...by.cause, retryAfterMs: Math.ceil(ms) });
}

/** The gates of a client, one per kind of call, so that a long fit never starves predicts. */
export class RateGates {
  private readonly gates: Record<CallKind, RateGate>;
  /** PUTs need no slot of their own: their upload has one. Their storage may ask for patience by itself. */
  readonly storage = new RateGate(Infinity);

  constructor(concurrency: number) {
    this.gates = {
      fit: new RateGate(concurrency),
      predict: new RateGate(concurrency),
      upload: new RateGate(concurrency),
      info: new RateGate(concurrency),
    };
  }

  of(kind: CallKind): RateGate {
    return this.gates[kind];
  }
}
