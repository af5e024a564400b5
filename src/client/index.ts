export { ServiceClient } from './service-client';
export { DuplicateUploadError } from './errors/errors';
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
