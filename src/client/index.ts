/** The client for programs and for the layers above. */
export { DuplicateUploadError } from './errors/errors';
export { ServiceClient } from './service-client';
export type {
  CallOptions,
  ClientOptions,
  FitCall,
  FitOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  ProxyOptions,
  RateLimit,
  TestSetUpload,
  TlsOptions,
  TrainSetUpload,
  UploadSource,
} from './types';
