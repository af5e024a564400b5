import { ServiceError } from '../wire/service-error';

/** The error of work that was under way, or waiting, when its node or connection was closed. */
export function closedError(): ServiceError {
  return new ServiceError('closed', 'The work was cancelled because the node was closed or redeployed.');
}
