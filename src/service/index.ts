export type { RateLimits } from './http/rate-limit';
export type { Log as ServiceLog, ServiceOptions } from './options';
export { type ServiceHandle, startService } from './start';
