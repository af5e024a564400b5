import type { ServiceClient } from '../../client/service-client';
import type { CallOptions, LegacyPredictCall, LegacyPredictResult } from '../../client/types';

/** The calls that are the same for every service. */
export type ServiceCalls = Pick<
  ServiceClient,
  'getModelLimits' | 'uploadTrainSet' | 'uploadTestSet' | 'fit' | 'predict' | 'estimateCost' | 'close'
> & {
  // Written out: the client's own is marked deprecated, for programs.
  predictLegacy(request: LegacyPredictCall, options?: CallOptions): Promise<LegacyPredictResult>;
};
