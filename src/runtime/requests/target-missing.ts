import { ServiceError } from '../../wire/service-error';

export function targetMissing(): ServiceError {
  return new ServiceError(
    'target.missing',
    'No target is named: fill in the column to predict, or set msg.target.',
  );
}
