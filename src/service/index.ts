export type { Log as ServiceLog, ServiceOptions } from './options';
export { type ServiceHandle, startService } from './process/start';
export type { RateLimits } from './rate-limit';
