import type { Context } from '../../context/context';
import { predictToEstimate } from '../../context/estimate';
import type { ResolvedModel } from '../../models/model-request';

interface Announcing {
  context: Context;
  model: ResolvedModel;
  options: { signal: AbortSignal };
  /** Warns the user, once per key. */
  warn: (key: string, text: string) => void;
}

/** Warns once that more rows are predicted than the message has, on a service that may charge for them. */
export async function announceRows(
  { context, model, options: { signal }, warn }: Announcing,
  rows: number,
  what: string,
): Promise<void> {
  if (context.service.isLocal) {
    return;
  }
  const limits = await context.service.limits.forChecks(signal);
  const request = predictToEstimate(limits, model, { train: model.trainRows, test: rows });
  let price: string;
  try {
    const cost = !context.service.isMetered ? 0 : await context.service.costs.estimate(request, signal);
    price = cost > 0 ? `, estimated to cost ${cost}` : '';
  } catch {
    signal.throwIfAborted();
    price = ', at a cost that could not be found out';
  }
  warn(`cost ${what}`, `${what} asks the service for ${rows} more rows${price}.`);
}
