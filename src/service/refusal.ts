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

/** What the file system says when the service's folder is full, gone, or not to be written. */
const STORAGE_FAILURES = new Set([
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EACCES',
  'EPERM',
  'EIO',
  'EFBIG',
  'ENOENT',
  'ENOTDIR',
]);

/** Did the file system refuse? Connections have errors of the same shape, with other codes. */
export function isStorageFailure(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code !== undefined && STORAGE_FAILURES.has(code);
}

/**
 * Any thrown value as a refusal; what is none is a mistake of ours and becomes a 500 that names no inner detail. The
 * same request would meet it again: a fit of minutes is not worth repeating for it.
 */
export function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) {
    return error;
  }
  if (isStorageFailure(error)) {
    const { code } = error as NodeJS.ErrnoException;
    return new Refusal({
      status: 507,
      errorCode: 'STORAGE_FAILED',
      message: `The service could not work in its folder (${code}): make room or mend its permissions.`,
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
