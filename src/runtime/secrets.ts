import { ServiceError } from '../wire/service-error';

/** Shorter texts occur in too many words to be hidden. */
const MIN_SECRET_LENGTH = 4;

/**
 * The same error without the given secrets. The layers below keep secrets out of their messages; this is the last
 * check before a Catch node or the log.
 */
export function withoutSecrets(error: ServiceError, secrets: readonly string[]): ServiceError {
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  const strip = (value: string): string =>
    hidden.reduce((result, secret) => result.replaceAll(secret, '***'), value);
  const cause = error.cause === undefined ? undefined : stripped(error.cause, strip);
  const message = strip(error.message);
  const stack = error.stack === undefined ? undefined : strip(error.stack);
  if (message === error.message && stack === error.stack && cause === error.cause) {
    return error;
  }
  const clean = new ServiceError(error.code, message, cause);
  clean.stack = stack;
  return clean;
}

/** Strips texts; numbers and booleans stay as they are. Returns the same object if nothing is hidden. */
function stripped<Cause extends object>(cause: Cause, strip: (value: string) => string): Cause {
  const entries = Object.entries(cause).map(([key, value]: [string, unknown]) => [
    key,
    typeof value === 'string' ? strip(value) : value,
  ]);
  return entries.every(([key, value]) => value === cause[key as keyof Cause])
    ? cause
    : (Object.fromEntries(entries) as Cause);
}
