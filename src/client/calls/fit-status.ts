import { ServiceError } from '../../wire/service-error';
import type { Body } from '../errors/answer';
import { sleep } from '../retry/backoff';
import type { Call } from '../retry/deadline';

const DONE = /^(?:completed?|succeeded|success|done|finished|ready|ok|fitted)$/i;
const FAILED = /fail|error|cancel|abort|reject/i;
const DEFAULT_POLL_MS = 2_000;
const LEAST_POLL_MS = 100;

/**
 * The answer of a fit that is completed. The specification's fit answers when it is done, and says no status; where
 * one says that the fit still runs, it is polled, if the service offers a route for it.
 * @throws ServiceError `fit.failed`
 */
export async function completedFit(
  first: Body,
  call: Call,
  status: (id: string | undefined) => Promise<Body>,
  clean: (text: string) => string,
): Promise<Body> {
  let body = first;
  while (typeof body.status === 'string' && !DONE.test(body.status)) {
    if (FAILED.test(body.status)) {
      throw notCompleted(body, clean);
    }
    const id = typeof body.fitted_train_set_id === 'string' ? body.fitted_train_set_id : undefined;
    if (body !== first || typeof body.retry_in_secs === 'number') {
      await call.until(sleep(pollMs(body.retry_in_secs), call.signal));
    }
    try {
      body = { ...(id !== undefined && { fitted_train_set_id: id }), ...(await status(id)) };
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') {
        throw notCompleted(body, clean);
      }
      throw error;
    }
  }
  return body;
}

/** The part done, 0 to 1, of the newest fit of a train set in the embedded service's status. */
export function progressOf({ fits }: Body, trainSetUploadId: string): number | undefined {
  const list = Array.isArray(fits) ? (fits as Partial<Record<string, unknown>>[]) : [];
  const own = list.filter((fit) => fit?.train_set_upload_id === trainSetUploadId.toLowerCase());
  const progress = own.at(-1)?.progress;
  return typeof progress === 'number' ? Math.min(1, Math.max(0, progress)) : undefined;
}

function pollMs(seconds: unknown): number {
  return typeof seconds === 'number' && Number.isFinite(seconds)
    ? Math.max(LEAST_POLL_MS, seconds * 1000)
    : DEFAULT_POLL_MS;
}

function notCompleted(body: Body, clean: (text: string) => string): ServiceError {
  const said = [body.message, body.detail, body.error].find((text) => typeof text === 'string');
  const because = said === undefined ? '' : `: ${clean(said)}`;
  return new ServiceError('fit.failed', `The fit ended as "${clean(String(body.status))}"${because}.`);
}
