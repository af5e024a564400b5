import type {
  CallOptions,
  FitCall,
  FitOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  RateLimit,
  TestSetUpload,
  TrainSetUpload,
} from '../../client/types';
import type {
  EstimateCostRequest,
  EstimateCostResponse,
  FitResponse,
  ModelLimits,
  ServiceSettings,
  Usage,
} from '../../wire/types';

/** What scoring asks of the service: a ServiceClient of src/client is one. */
export interface ClientPort {
  getModelLimits(options?: CallOptions): Promise<ModelLimits>;
  uploadTrainSet(
    request: TrainSetUpload,
    options?: CallOptions,
  ): Promise<{ train_set_upload_id: string; reused: boolean }>;
  uploadTestSet(
    request: TestSetUpload,
    options?: CallOptions,
  ): Promise<{ test_set_upload_id: string; reused: boolean }>;
  fit(request: FitCall, options?: FitOptions): Promise<FitResponse>;
  resumeFit?(fittedTrainSetId: string, options?: CallOptions): Promise<FitResponse>;
  getUsage?(options?: CallOptions): Promise<Usage>;
  readonly rateLimit?: RateLimit;
  getSettings?(options?: CallOptions): Promise<ServiceSettings>;
  predict(request: PredictCall, options?: CallOptions): Promise<PredictResult>;
  estimateCost(request: EstimateCostRequest, options?: CallOptions): Promise<EstimateCostResponse>;
  predictLegacy(request: LegacyPredictCall, options?: CallOptions): Promise<LegacyPredictResult>;
  fitProgress?(trainSetUploadId: string, options?: CallOptions): Promise<number | undefined>;
  close(): Promise<void>;
}
