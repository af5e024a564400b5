import { HOUR } from '../util/durations';
import { Refusal } from './refusal';

/** The most requests of a kind in a running minute and hour (S 8). */
interface Rate {
  perMinute?: number;
  perHour?: number;
}

/** Kinds of requests that S 8 limits separately. */
export type RateKind = 'upload' | 'fit' | 'predict';

export type RateLimits = Partial<Record<RateKind, Rate>>;

const MINUTE = 60_000;

/** Counts requests per kind in running windows and refuses those beyond the limits. */
export class RateLimiter {
  private readonly sent: Record<RateKind, number[]> = { upload: [], fit: [], predict: [] };

  constructor(
    private readonly limits: RateLimits,
    private readonly now: () => number = Date.now,
  ) {}

  /** Counts one request. @throws Refusal 429 with the seconds until a place is free; it is then not counted */
  take(kind: RateKind): void {
    const rate = this.limits[kind];
    if (rate === undefined) {
      return;
    }
    const now = this.now();
    const times = this.sent[kind];
    while (times.length > 0 && times[0]! <= now - HOUR) {
      times.shift();
    }
    const waits = [waitFor(times, rate.perMinute, MINUTE, now), waitFor(times, rate.perHour, HOUR, now)];
    const wait = Math.max(...waits);
    if (wait > 0) {
      throw tooMany(kind, wait);
    }
    times.push(now);
  }
}

/** Milliseconds until fewer than `max` of `times` lie within the window; 0 when that is so already. */
function waitFor(times: number[], max: number | undefined, windowMs: number, now: number): number {
  if (max === undefined) {
    return 0;
  }
  const oldest = times[times.length - max];
  return oldest === undefined ? 0 : Math.max(0, oldest + windowMs - now);
}

function tooMany(kind: RateKind, waitMs: number): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  return new Refusal({
    status: 429,
    errorCode: 'RATE_LIMIT_EXCEEDED',
    message: `Too many ${kind} requests; try again in ${seconds} s.`,
    retryable: true,
    retryAfter: seconds,
  });
}
