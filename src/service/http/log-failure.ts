import type { Log } from '../options';
import { Refusal } from '../refusal';

/** Logs what ended a request and is no refusal: its answer names no inner detail, so the log has to. */
export function logFailure(log: Log, method: string | undefined, error: unknown): void {
  if (!(error instanceof Refusal)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log('warn', `A ${method ?? ''} request failed: ${text}`);
  }
}
