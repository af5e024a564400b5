import { Core, warm } from './core';
import { callRowsPredict, overheadOf } from './predict';
import type { CallOptions, ClientOptions, RowsPredictCall, RowsPredictResult } from './types';

/**
 * An endpoint of one stateless route, on-premises: train rows and test rows in, predictions out. `baseUrl` is the
 * address of the route itself; a token is sent where one is given. Retries, deadlines, limits of requests in flight
 * and errors are those of `ServiceClient`.
 */
export class EndpointClient {
  private readonly core: Core;

  /** @throws ServiceError `config.invalid` */
  constructor(options: ClientOptions) {
    this.core = new Core({ ...options, anonymous: true, free: true });
  }

  /**
   * Predicts rows by rows.
   * @param kind whose slots it uses, and how its errors name it
   * @throws ServiceError; `model.unknown` for an unknown `model_id`
   */
  async predictRows(
    request: RowsPredictCall,
    options: CallOptions = {},
    kind: 'fit' | 'predict' = 'predict',
  ): Promise<RowsPredictResult> {
    await warm();
    return callRowsPredict(this.core, request, options, kind);
  }

  /** Bytes of a request's body other than those of its rows. */
  overhead(request: Omit<RowsPredictCall, 'rows'>): number {
    return overheadOf(request, this.core.dialect.apiName);
  }

  /** Ends every call with `closed` and every connection. */
  async close(): Promise<void> {
    await this.core.close();
  }
}
