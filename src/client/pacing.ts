import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import { Semaphore } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { HttpAnswer } from './http';
import type { RateLimit } from './types';

/** Most routes with a remembered warning; a service has a dozen. */
const MAX_ROUTES = 100;
/** Longest delay that a timer can take; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

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
    setMaxListeners(0, this.signal);
    this.deadline = performance.now() + leftMs;
    this.timer = setTimeout(
      () => {
        this.timedOut = true;
        this.controller.abort();
      },
      Math.min(leftMs, 2 ** 31 - 1),
    );
    for (const source of sources) {
      if (source === undefined) {
        continue;
      }
      if (source.aborted) {
        this.controller.abort();
      }
      setMaxListeners(0, source);
      source.addEventListener('abort', this.stop, { once: true });
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

/** Calls of one kind: a limited number at a time, first come first served, and none while `Retry-After` holds. */
export class RateGate {
  inFlight = 0;
  /** As `performance.now()` counts: the clock of a machine may be set back meanwhile. */
  private heldUntil = 0;
  private heldBy: ServiceError | undefined;
  private readonly slots: Semaphore;

  constructor(private readonly limit: number) {
    this.slots = new Semaphore(limit);
  }

  /** Waits for a slot; each needs its `leave`. */
  async enter(call: Call): Promise<void> {
    call.throwIfOver();
    if (!this.slots.take()) {
      await this.slot(call);
    }
    this.inFlight += 1;
  }

  leave(): void {
    this.inFlight -= 1;
    this.slots.release();
  }

  private slot(call: Call): Promise<void> {
    return new Promise((resolve, reject) => {
      const start = () => {
        call.signal.removeEventListener('abort', leave);
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
    for (let ms = this.heldForMs(); ms > 0; ms = this.heldForMs()) {
      if (ms > call.leftMs() && this.heldBy !== undefined) {
        throw beyondDeadline(this.heldBy, ms);
      }
      await call.until(sleep(ms, call.signal));
    }
  }

  hold(ms: number, by: ServiceError): void {
    const until = performance.now() + ms;
    if (until > this.heldUntil) {
      this.heldUntil = until;
      this.heldBy = by;
    }
  }

  heldForMs(): number {
    return Math.max(0, this.heldUntil - performance.now());
  }
}

/** The error that closed the gate, as one of another call that finds it closed. */
function beyondDeadline(by: ServiceError, ms: number): ServiceError {
  return new ServiceError(by.code, by.message, { ...by.cause, retryAfterMs: Math.ceil(ms) });
}

/** What answers say beside what was asked: that a route is on its way out, and how many requests are left. */
export class Notices {
  rateLimit: RateLimit | undefined;
  private readonly deprecated = new Set<string>();

  constructor(private readonly warn: (text: string) => void) {}

  /** Reads `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `X-RateLimit-*`; warns once of each route. */
  read(path: string, { headers }: HttpAnswer): void {
    const { deprecation, sunset } = headers;
    if (headers['x-ratelimit-limit'] !== undefined) {
      this.readRate(headers);
    }
    if ((deprecation !== undefined && isDeprecation(deprecation)) || sunset !== undefined) {
      this.warnOfEnd(path, sunset);
    }
  }

  private readRate(headers: HttpAnswer['headers']): void {
    const limit = count(headers['x-ratelimit-limit']);
    const remaining = count(headers['x-ratelimit-remaining']);
    if (limit !== undefined && remaining !== undefined) {
      const reset = readSeconds(headers['x-ratelimit-reset']);
      this.rateLimit = { limit, remaining, ...(reset !== undefined && { reset }) };
    }
  }

  private warnOfEnd(path: string, sunset: string | undefined): void {
    if (this.deprecated.has(path) || this.deprecated.size >= MAX_ROUTES) {
      return;
    }
    this.deprecated.add(path);
    const end = readDate(sunset);
    const until = end === undefined ? '' : ` and will be gone on ${new Date(end).toISOString().slice(0, 10)}`;
    this.warn(
      `The service says that its route ${path} is deprecated${until}. Look for an update of this package.`,
    );
  }
}

/** The first number of a header, which may name several policies: `60, 60;w=60`. */
function count(header: string | undefined): number | undefined {
  const digits = /^\s*(\d{1,15})(?:\.\d+)?\s*(?:$|[,;])/.exec(header ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** When a span of time ends: seconds as they are given, or those since the epoch of a date. */
function readSeconds(header: string | undefined): number | undefined {
  const date = readDate(header);
  return count(header) ?? (date === undefined ? undefined : Math.floor(date / 1000));
}

/** Milliseconds since the epoch. Other texts may pass for dates too, but only those with a year are meant. */
function readDate(header = ''): number | undefined {
  const date = /\b\d{4}\b/.test(header) ? Date.parse(header) : NaN;
  return Number.isNaN(date) ? undefined : date;
}

/** Whether `Deprecation` says so: `true`, or since when, as `@1735689600` or a date. */
function isDeprecation(header = ''): boolean {
  return /^\s*(?:true|@-?\d+)\s*$/i.test(header) || readDate(header) !== undefined;
}

/** Resolves after `ms`; rejects as soon as the signal aborts. */
export async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await delay(Math.min(Math.max(ms, 0), LONGEST_MS), undefined, { signal });
}

/**
 * Exponential back-off with full jitter: anything from 0 to 0.5 s, 1 s, 2 s … 20 s, so that clients that failed
 * together do not come back together. `attempt` counts from 0.
 */
export function backOff(attempt: number, random: () => number = Math.random): number {
  return random() * Math.min(20_000, 500 * 2 ** attempt);
}

/** The longest pause that a service may ask for. */
const MAX_HOLD_MS = 3_600_000;

/**
 * `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), as milliseconds from now, an hour at most; undefined where
 * unreadable. A date is by the clock of the sender, which the answer's `Date` tells: that of this machine may be wrong.
 */
export function retryAfter({
  'retry-after': header,
  date: sentAt,
}: HttpAnswer['headers']): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') {
    return undefined;
  }
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    return Math.min(MAX_HOLD_MS, Number(text) * 1000);
  }
  const date = readDate(text);
  const now = readDate(sentAt) ?? Date.now();
  return date === undefined ? undefined : Math.min(MAX_HOLD_MS, Math.max(0, date - now));
}
