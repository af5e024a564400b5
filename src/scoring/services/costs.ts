import type { ServiceClient } from '../../client/service-client';
import { BoundedMap } from '../../util/collections';
import { ServiceError } from '../../wire/service-error';
import type { EstimateCostRequest } from '../../wire/types';

const FRESH_MS = 3_600_000;
const MAX_KNOWN = 1000;

/** Estimated costs (S 4.6), asked for once an hour per size. */
export class CostEstimates {
  private readonly known = new BoundedMap<string, { cost: number; at: number }>(MAX_KNOWN);

  constructor(private readonly client: () => Promise<Pick<ServiceClient, 'estimateCost'>>) {}

  async estimate(request: EstimateCostRequest, signal?: AbortSignal): Promise<number> {
    const key = JSON.stringify([
      request.operation,
      request.model_version,
      request.train_rows,
      request.test_rows,
      request.raw_columns,
      request.n_estimators,
      request.thinking_effort,
    ]);
    const known = this.known.get(key);
    if (known !== undefined && performance.now() - known.at < FRESH_MS) {
      return known.cost;
    }
    const client = await this.client();
    const { estimated_cost: cost } = await client.estimateCost(request, { signal });
    this.known.set(key, { cost, at: performance.now() });
    return cost;
  }

  /** @throws ServiceError `cost.exceeded` when one predict call is estimated to cost more than `maxCost` */
  async assertAtMost(maxCost: number, request: EstimateCostRequest, signal?: AbortSignal): Promise<void> {
    const cost = await this.estimate(request, signal);
    if (cost > maxCost) {
      throw new ServiceError(
        'cost.exceeded',
        `Predicting ${request.test_rows ?? 0} rows is estimated to cost ${cost}, more than the ${maxCost} allowed ` +
          'per predict call: nothing was sent. Send fewer rows, or raise the maximum cost.',
      );
    }
  }
}
