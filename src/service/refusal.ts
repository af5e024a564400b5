import { DELETED, fileSystemCode, isPassingFailure, isStorageFailure } from '../util/files';

/**
 * A request that the service refuses: status, a code of envelope 2 and a sentence (S 7). Plain data, so that a
 * worker can send one through a message port.
 */
export interface RefusalBody {
  status: number;
  /** `error_code` of envelope 2, in capitals. */
  errorCode: string;
  message: string;
  /** May the same request be sent again later? */
  retryable?: boolean;
  /** Seconds for a Retry-After header. */
  retryAfter?: number;
  headers?: Record<string, string>;
}

/** Thrown anywhere in the service to end a request with a status and an error body. */
export class Refusal extends Error {
  constructor(readonly body: RefusalBody) {
    super(body.message);
    this.name = 'Refusal';
  }

  get status(): number {
    return this.body.status;
  }
}

/** 422: the request, or the data behind it, cannot be worked with. */
export function invalid(message: string, errorCode = 'VALIDATION_ERROR'): Refusal {
  return new Refusal({ status: 422, errorCode, message });
}

/** 404: no such upload, fitted train set or route. */
export function notFound(message: string): Refusal {
  return new Refusal({ status: 404, errorCode: 'NOT_FOUND', message });
}

/** 404: a fitted train set whose file is not what was written. */
export function damagedModel(reason: string): Refusal {
  return new Refusal({
    status: 404,
    errorCode: 'MODEL_DAMAGED',
    message: `The fitted train set cannot be read any more (${reason}): fit it again.`,
  });
}

/**
 * Did a thread not come up, or not find its own modules? Without a free file descriptor, memory or a free thread of the
 * system neither works, and Node remembers a module that it could not look for as missing: a new thread has to look.
 */
export function isStartFailure(error: unknown): boolean {
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ERR_WORKER_INIT_FAILED' || code === 'MODULE_NOT_FOUND' || isPassingFailure(error);
}

/** 503: a stored file cannot be read just now. It stays as it is. */
export function unreadableNow(what: string, reason: string): Refusal {
  return new Refusal({
    status: 503,
    errorCode: 'STORAGE_FAILED',
    message: `The ${what} cannot be read now (${reason}). It is kept; send the request again.`,
    retryable: true,
    retryAfter: 1,
  });
}

/**
 * Any thrown value as a refusal. What is not one is a mistake of ours and becomes a 500 that names no inner detail. The
 * same request would meet it again: a fit of minutes is not worth repeating for it.
 */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) {
    return error;
  }
  if (fileSystemCode(error) === DELETED) {
    return new Refusal({
      status: 503,
      errorCode: 'STORAGE_FAILED',
      message: 'Something in the folder of the service was deleted in the meantime. Send the request again.',
      retryable: true,
      retryAfter: 1,
    });
  }
  if (isPassingFailure(error)) {
    return new Refusal({
      status: 503,
      errorCode: 'STORAGE_FAILED',
      message: `The service could not work in its folder (${fileSystemCode(error)}). Send the request again.`,
      retryable: true,
      retryAfter: 1,
    });
  }
  if (isStorageFailure(error)) {
    return new Refusal({
      status: 507,
      errorCode: 'STORAGE_FAILED',
      message: `The service could not work in its folder (${fileSystemCode(error)}): make room or mend its permissions.`,
      retryable: false,
    });
  }
  return new Refusal({
    status: 500,
    errorCode: 'INTERNAL_ERROR',
    message: 'The service failed on this request; its log says why.',
    retryable: false,
  });
}
