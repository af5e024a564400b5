import type { Log } from '../options';
import { Refusal } from '../refusal';

/** Logs an unexpected failure of a request: the answer gives no internal details, so the log must. */
export function logFailure(log: Log, method: string | undefined, error: unknown): void {
  if (!(error instanceof Refusal)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log('warn', `A ${method ?? ''} request failed: ${text}`);
  }
}
