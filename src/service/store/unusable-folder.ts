import { isPassingFailure } from '../../util/files';
import { ServiceError } from '../../wire/service-error';

/** `storage.failed`: the service's folder cannot be used, and what to do about it. */
export function unusableFolder(folder: string, error: unknown): ServiceError {
  const { code, message } = error as NodeJS.ErrnoException;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const advice = full
    ? 'make room on its disk, or choose one on another'
    : isPassingFailure(error)
      ? 'try again in a moment'
      : 'choose one that can be written';
  return new ServiceError('storage.failed', `The folder ${folder} cannot be used (${message}): ${advice}.`);
}
