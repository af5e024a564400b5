import type { ServiceClient } from '../../client/service-client';
import type { CallOptions, LegacyPredictCall, LegacyPredictResult } from '../../client/types';

/** What scoring asks of the service: the part of a ServiceClient that it uses. */
export type ClientPort = Pick<
  ServiceClient,
  'getModelLimits' | 'uploadTrainSet' | 'uploadTestSet' | 'fit' | 'predict' | 'estimateCost' | 'close'
> &
  Partial<
    Pick<
      ServiceClient,
      | 'resumeFit'
      | 'getUsage'
      | 'rateLimit'
      | 'getSettings'
      | 'fitProgress'
      | 'deleteDataset'
      | 'exportModel'
      | 'importModel'
    >
  > & {
    // Written out: the client's own is marked deprecated, for programs.
    predictLegacy(request: LegacyPredictCall, options?: CallOptions): Promise<LegacyPredictResult>;
  };
