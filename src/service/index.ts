export type { Log as ServiceLog, ServiceOptions } from './options';
export type { RateLimits } from './rate-limit';
export { type ServiceHandle, startService } from './start';
