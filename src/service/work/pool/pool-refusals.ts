import { fileSystemCode } from '../../../util/files';
import { isStartFailure, Refusal } from '../../refusal';

/* What a pool refuses jobs with. `what` is the kind of job: `fit`, `predict`. */

/** 429: the queue is full. */
export function tooManyWait(what: string): Refusal {
  return new Refusal({
    status: 429,
    errorCode: 'BUSY',
    message: `Too many ${what} requests wait already; try again in a moment.`,
    retryable: true,
    retryAfter: 1,
  });
}

/** 503: the service is closing. */
export function shuttingDown(): Refusal {
  return new Refusal({
    status: 503,
    errorCode: 'SHUTTING_DOWN',
    message: 'The service is shutting down.',
    retryable: true,
  });
}

/** Whether an error is the 503 of a service that is closing. */
export function isShuttingDown(error: unknown): boolean {
  return error instanceof Refusal && error.body.errorCode === 'SHUTTING_DOWN';
}

/** 413: the job needed more memory than its thread may use. */
export function outOfMemory(what: string): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'LIMIT_EXCEEDED',
    message:
      `The ${what} needs more memory than it may use here: give it fewer rows or columns, or leave out columns of ` +
      'long text.',
    retryable: false,
  });
}

/** 504: the job did not get on for as long as it may, and was ended. */
export function tookTooLong(what: string, ms: number): Refusal {
  return new Refusal({
    status: 504,
    errorCode: 'TIMEOUT',
    message:
      `The ${what} got no further for ${Math.round(ms / 1000)} s, more than it can need, and was ended: its model or its ` +
      'file must be damaged. Upload or fit it again, or send fewer rows.',
    retryable: false,
  });
}

/** The refusal of a job whose thread ended over it, or did not start: 413, 503 where it may start in a moment, else 500. */
export function causeOfDeath(what: string, reason: Error): Refusal {
  if (isOutOfMemory(reason)) {
    return outOfMemory(what);
  }
  return isStartFailure(reason) ? notStarted(what, reason) : threadDied(what, reason.message);
}

function notStarted(what: string, reason: Error): Refusal {
  const why = fileSystemCode(reason) ?? reason.message.split('\n')[0]!;
  return new Refusal({
    status: 503,
    errorCode: 'UNAVAILABLE',
    message: `No thread could be started for this ${what} (${why}): send it again.`,
    retryable: true,
    retryAfter: 1,
  });
}

function threadDied(what: string, reason: string): Refusal {
  return new Refusal({
    status: 500,
    errorCode: 'INTERNAL_ERROR',
    message: `The ${what} could not be finished: its thread died (${reason}).`,
    retryable: false,
  });
}

/** Whether it is a failed allocation that could be caught: an array, a string or a map that is too large. */
export function isOutOfMemory(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return (
    code === 'ERR_WORKER_OUT_OF_MEMORY' ||
    code === 'ERR_STRING_TOO_LONG' ||
    (error instanceof RangeError &&
      /allocation failed|could not allocate memory|unable to grow|upper bound|maximum size exceeded|Invalid .*length/i.test(
        error.message,
      ))
  );
}
