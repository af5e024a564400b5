import { Refusal } from '../../refusal';

/* What a pool refuses jobs with. `what` is the kind of job: `fit`, `predict`. */

/** 429: as many wait as may. */
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

/** 500: its thread ended without a word. */
export function threadDied(what: string, reason: string): Refusal {
  return new Refusal({
    status: 500,
    errorCode: 'INTERNAL_ERROR',
    message: `The ${what} could not be finished: its thread died (${reason}).`,
    retryable: false,
  });
}

/** Did an allocation fail that could be caught? An array, a string or a map beyond what there is room for. */
export function isOutOfMemory(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return (
    code === 'ERR_WORKER_OUT_OF_MEMORY' ||
    code === 'ERR_STRING_TOO_LONG' ||
    (error instanceof RangeError &&
      /allocation failed|maximum size exceeded|Invalid .*length/i.test(error.message))
  );
}
