/** The client for programs and for the layers above. */
export { EndpointClient } from './endpoint-client';
export { DuplicateUploadError } from './errors';
export { ServiceClient } from './service-client';
export type {
  BodyPart,
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
  RowsPredictCall,
  RowsPredictResult,
  TestSetUpload,
  TlsOptions,
  TrainSetOptions,
  TrainSetUpload,
  UploadSource,
} from './types';
