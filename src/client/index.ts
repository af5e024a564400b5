/** The client for programs and for the layers above. */
export { DuplicateUploadError } from './errors';
export { EndpointClient, ServiceClient } from './service-client';
export type { ClientOptions, ProxyOptions, TlsOptions } from './settings';
export type {
  BodyPart,
  CallOptions,
  FitCall,
  FitOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  RateLimit,
  RowsPredictCall,
  RowsPredictResult,
  TestSetUpload,
  TrainSetOptions,
  TrainSetUpload,
  UploadSource,
} from './types';
