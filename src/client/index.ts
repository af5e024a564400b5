export { DuplicateUploadError } from './errors/errors';
export { ServiceClient } from './service-client';
export type {
  CallOptions,
  ClientOptions,
  FitCall,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  ProxyOptions,
  TestSetUpload,
  TlsOptions,
  TrainSetUpload,
  UploadSource,
} from './types';
