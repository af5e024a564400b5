import { readReason } from '../util/values';

/**
 * The closed table of error codes (README, "Errors": one row each). A Catch node sees `code`, `message`,
 * `stack` and `cause`, so everything a flow may branch on is in these.
 */
export const ERROR_CODES = [
  'auth.unauthorized',
  'auth.forbidden',
  'not_found',
  'model.unknown',
  'duplicate',
  'validation.failed',
  'rate.limit.exceeded',
  'budget.exceeded',
  'limit.exceeded',
  'cost.exceeded',
  'service.unavailable',
  'service.timeout',
  'response.invalid',
  'fit.failed',
  'rollback.impossible',
  'upload.failed',
  'upload.expired',
  'predict.unknown',
  'table.invalid',
  'table.empty',
  'columns.missing',
  'target.missing',
  'time.invalid',
  'outcome.unknown',
  'file.unreadable',
  'sequence.incomplete',
  'queue.full',
  'storage.failed',
  'closed',
  'engine.unsupported',
  'config.invalid',
  'internal',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** What the service said of a failure (S 7), free of secrets and of class instances. */
export interface ServiceErrorCause {
  /** HTTP status. */
  status?: number;
  /** `code` or `error_code` of the service's own body. */
  serviceCode?: string;
  traceId?: string;
  retryable?: boolean;
  /** Milliseconds until the service is willing to answer again. */
  retryAfterMs?: number;
  /** Support URL. */
  support?: string;
}

/** Every error of this package that a user can meet. `code` and `message` are own enumerable properties. */
export class ServiceError extends Error {
  readonly code: ErrorCode;
  declare readonly cause?: ServiceErrorCause;

  constructor(code: ErrorCode, message: string, cause?: ServiceErrorCause) {
    super(message);
    this.name = 'ServiceError';
    this.code = code;
    Object.defineProperty(this, 'message', {
      value: message,
      enumerable: true,
      writable: true,
      configurable: true,
    });
    if (cause !== undefined) {
      this.cause = cause;
    }
  }

  /** Node-RED writes this into `msg.error.message` and its log, where the class's name says nothing. */
  override toString(): string {
    return this.message;
  }
}

/** Any thrown value as a ServiceError; what is not one of ours becomes `internal`, or `closed` for an abort. Never throws. */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) {
    return error;
  }
  const wrapped = new ServiceError('internal', `Unexpected error: ${readReason(error)}`);
  try {
    if (error instanceof Error) {
      if (error.name === 'AbortError') {
        return new ServiceError('closed', 'The work was cancelled because the node was closed.');
      }
      wrapped.stack = error.stack ?? wrapped.stack;
    }
  } catch {
    // A name or stack that throws as it is read: the message has to do.
  }
  return wrapped;
}
