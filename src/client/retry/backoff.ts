import { setTimeout as delay } from 'node:timers/promises';

/** Longest delay that a timer can take; a longer one would fire at once. */
const LONGEST_MS = 2 ** 31 - 1;

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
export const MAX_HOLD_MS = 3_600_000;

/**
 * `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), as milliseconds from now, an hour at most; undefined where
 * unreadable.
 */
export function retryAfter(header: string | undefined, now = Date.now()): number | undefined {
  const text = header?.trim();
  if (text === undefined || text === '') {
    return undefined;
  }
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    return Math.min(MAX_HOLD_MS, Number(text) * 1000);
  }
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.min(MAX_HOLD_MS, Math.max(0, date - now));
}
