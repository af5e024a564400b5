export { ERROR_CODES, ServiceError } from './wire/service-error';
export type { ErrorCode, ServiceErrorCause } from './wire/service-error';
export type { Dialect } from './wire/dialect';
