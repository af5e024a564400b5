import { ServiceError } from '../wire/service-error';

/**
 * The same error without the given secrets. The layers below keep them out of their messages; this is the
 * last door before a Catch node or the log.
 */
export function withoutSecrets(error: ServiceError, secrets: readonly string[]): ServiceError {
  const found = secrets.filter((secret) => secret.length >= 4 && holds(error, secret));
  if (found.length === 0) {
    return error;
  }
  const clean = new ServiceError(
    error.code,
    strip(error.message, found),
    error.cause === undefined
      ? undefined
      : (JSON.parse(strip(JSON.stringify(error.cause), found)) as ServiceError['cause']),
  );
  if (error.stack !== undefined) {
    clean.stack = strip(error.stack, found);
  }
  return clean;
}

function holds(error: ServiceError, secret: string): boolean {
  return (
    error.message.includes(secret) ||
    (error.stack?.includes(secret) ?? false) ||
    (error.cause !== undefined && JSON.stringify(error.cause).includes(secret))
  );
}

function strip(value: string, secrets: readonly string[]): string {
  return secrets.reduce((result, secret) => result.replaceAll(secret, '***'), value);
}
