import { setMaxListeners } from 'node:events';

import { ServiceError } from '../../wire/service-error';
import type { CallOptions } from '../types';

/**
 * One call of a user: one deadline for all its retries and waits, and one signal that ends them all, be it the
 * deadline, the user's abort or the closing of the client.
 */
export class Call {
  readonly signal: AbortSignal;
  private readonly controller = new AbortController();
  private readonly deadline: number;
  private readonly timer: NodeJS.Timeout;
  private timedOut = false;
  private readonly stop = () => this.controller.abort();

  constructor(
    /** What the call does, for messages: `fit`. */
    readonly what: string,
    readonly timeoutMs: number,
    private readonly sources: readonly (AbortSignal | undefined)[],
    /** What is left of it. */
    leftMs = timeoutMs,
  ) {
    this.signal = this.controller.signal;
    // A signal that many calls or chunks listen to is no leak: each takes its listener away when it ends.
    setMaxListeners(0, this.signal, ...sources.filter((source) => source !== undefined));
    this.deadline = performance.now() + leftMs;
    this.timer = setTimeout(
      () => {
        this.timedOut = true;
        this.controller.abort();
      },
      Math.min(leftMs, 2 ** 31 - 1),
    );
    for (const source of sources) {
      if (source?.aborted === true) {
        this.controller.abort();
      }
      source?.addEventListener('abort', this.stop, { once: true });
    }
  }

  /** Milliseconds until the deadline. */
  leftMs(): number {
    return this.deadline - performance.now();
  }

  /** Why the call is over, or undefined while it is not. */
  get ending(): 'timeout' | 'cancelled' | undefined {
    if (!this.signal.aborted) {
      return undefined;
    }
    return this.timedOut ? 'timeout' : 'cancelled';
  }

  /** The error of a call that is over: `service.timeout`, `closed`, or the ServiceError it was aborted with. */
  over(detail?: string): ServiceError {
    if (this.timedOut) {
      const seconds = Math.round(this.timeoutMs / 100) / 10;
      const because = detail === undefined ? '' : `: ${detail}`;
      return new ServiceError(
        'service.timeout',
        `The ${this.what} did not end within ${seconds} s${because}.`,
      );
    }
    for (const source of this.sources) {
      if (source?.aborted === true && source.reason instanceof ServiceError) {
        return source.reason;
      }
    }
    return new ServiceError('closed', `The ${this.what} was cancelled.`);
  }

  /** A part of this call that may be stopped by itself; it shares the deadline. */
  within(stop: AbortSignal): Call {
    return new Call(this.what, this.timeoutMs, [this.signal, stop], this.leftMs());
  }

  throwIfOver(): void {
    if (this.signal.aborted) {
      throw this.over();
    }
  }

  /** Awaits something that the call's signal ends, and gives its end our own error. */
  async until<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (this.signal.aborted && !(error instanceof ServiceError)) {
        throw this.over();
      }
      throw error;
    }
  }

  end(): void {
    clearTimeout(this.timer);
    for (const source of this.sources) {
      source?.removeEventListener('abort', this.stop);
    }
  }
}

/** Runs one call and ends it whatever happens. */
export async function withCall<T>(
  what: string,
  timeoutMs: number,
  options: CallOptions,
  closing: AbortSignal,
  work: (call: Call) => Promise<T>,
): Promise<T> {
  const call = new Call(what, timeoutMs, [options.signal, closing]);
  try {
    return await work(call);
  } finally {
    call.end();
  }
}
