/** The client for programs and for the layers above. */
export { DuplicateUploadError } from './errors';
export { EndpointClient, ServiceClient } from './service-client';
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
