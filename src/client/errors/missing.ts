import { type ErrorCode, ServiceError, type ServiceErrorCause } from '../../wire/service-error';
import type { ErrorEnvelope } from './envelope';

/** What a 404 says is missing: `unclear` if it may be the upload or the model, `route` if it is not from the service. */
export type Missing = 'upload' | 'model' | 'unclear' | 'route';

/** The service does not have something that a request names, or the route itself (status 404 or 410). */
export class MissingError extends ServiceError {
  constructor(
    code: ErrorCode,
    message: string,
    readonly missing: Missing,
    cause?: ServiceErrorCause,
  ) {
    super(code, message, cause);
  }
}

/** What an error says is missing; undefined for any other error. */
export function missingOf(error: unknown): Missing | undefined {
  return error instanceof MissingError ? error.missing : undefined;
}

/** Finds out what is missing from the wording of the body: the specification has one code for all (S 7). */
export function missingIn(envelope: ErrorEnvelope): Missing {
  if (!envelope.own) {
    return 'route';
  }
  const said = `${envelope.serviceCode ?? ''} ${envelope.message}`;
  const upload = /test[\s_-]*set|upload/i.test(said);
  const model = /fitted|train|model/i.test(said);
  if (upload === model) {
    return 'unclear';
  }
  return upload ? 'upload' : 'model';
}
