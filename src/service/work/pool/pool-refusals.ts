import { isPassingFailure, Refusal, toRefusal } from '../../refusal';

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

/** 503: there is no thread for it now. */
export function notStarted(what: string, reason: string): Refusal {
  return new Refusal({
    status: 503,
    errorCode: 'BUSY',
    message: `No thread could be started for this ${what} (${reason}): send it again.`,
    retryable: true,
    retryAfter: 1,
  });
}

/** The refusal of a job whose thread ended over it: 413, 503 where it could not read its own modules, else 500. */
export function causeOfDeath(what: string, reason: Error): Refusal {
  if (isOutOfMemory(reason)) {
    return outOfMemory(what);
  }
  return isPassingFailure(reason) ? toRefusal(reason) : threadDied(what, reason.message);
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
      /allocation failed|maximum size exceeded|Invalid .*length/i.test(error.message))
  );
}
