import type { ServiceError } from '../../wire/service-error';
import type { ClientSettings } from '../settings';
import { backOff, sleep } from './backoff';
import type { Call } from './deadline';
import type { RateGate } from './rate-gate';

/** An attempt that did not succeed. */
export interface FailedAttempt {
  error: ServiceError;
  retry: boolean;
  /** Milliseconds for which the service asked for no more requests of this kind. */
  holdMs?: number;
}

/**
 * Makes attempts until one succeeds, may not be repeated, or the next would begin after the deadline.
 * @throws ServiceError of the last attempt, or whatever an attempt throws
 */
export async function retrying<Result>(
  call: Call,
  gate: RateGate,
  settings: Pick<ClientSettings, 'retries' | 'log'>,
  attempt: () => Promise<{ result: Result } | FailedAttempt>,
): Promise<Result> {
  for (let failures = 0; ; failures += 1) {
    await gate.pass(call);
    const outcome = await attempt();
    if ('result' in outcome) {
      return outcome.result;
    }
    const { error, retry, holdMs } = outcome;
    if (holdMs !== undefined) {
      gate.hold(holdMs, error);
    }
    const waitMs = holdMs ?? backOff(failures);
    if (!retry || failures >= settings.retries || waitMs > call.leftMs()) {
      throw error;
    }
    settings.log('warn', `${error.message} Trying again in ${Math.round(waitMs)} ms.`);
    if (holdMs === undefined) {
      await call.until(sleep(waitMs, call.signal));
    }
  }
}
