import { ServiceError } from '../../wire/service-error';

/**
 * Options travel as JSON, so they have to be plain values.
 *
 * @param place where they come from, for the error
 * @throws ServiceError `validation.failed` for an object within itself, a BigInt, or a getter that throws
 */
export function assertPlain(options: unknown, place: string): void {
  if (options === undefined) {
    return;
  }
  try {
    JSON.stringify(options);
  } catch (error) {
    // The engine's own message draws the whole cycle on several lines.
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new ServiceError('validation.failed', `${place} cannot be written as JSON: ${why}.`);
  }
}
