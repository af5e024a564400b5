import { profileTable } from '../table';
import type { Context } from './context/context';
import { checkedCard, unknownModel } from './models/model-request';
import { openInput } from './train/train-set';
import type { CostRequest, ModelCard } from './types';

/**
 * Estimated cost in tokens (S 4.6). What the request does not count is counted in its table, or known from its model.
 *
 * @throws ServiceError `model.unknown`; those of the table; those of the service
 */
export async function estimatedCost(
  context: Context,
  request: CostRequest,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { operation = 'predict', thinkingEffort, modelVersion, nEstimators, table, model, target } = request;
  const card = cardOf(context, model);
  const isFit = operation === 'thinking_fit';
  let { trainRows, testRows, rawColumns } = request;
  const rows = isFit ? trainRows : testRows;
  if (!isFit) {
    trainRows ??= card?.rows;
    rawColumns ??= card?.columns.length || undefined;
  }
  if (table !== undefined && (rows === undefined || rawColumns === undefined)) {
    const profile = await profileTable(await openInput(table, signal), { signal });
    if (isFit) {
      trainRows ??= profile.rows;
    } else {
      testRows ??= profile.rows;
    }
    rawColumns ??= profile.columns.filter(({ name }) => name !== target).length;
  }
  const version = modelVersion ?? (await context.service.limits.forChecks(signal)).default_model_version;
  const estimators = nEstimators ?? card?.options.n_estimators;
  return context.service.costs.estimate(
    {
      operation,
      ...(thinkingEffort !== undefined && { thinking_effort: thinkingEffort }),
      ...(version !== undefined && { model_version: version }),
      ...(trainRows !== undefined && { train_rows: trainRows }),
      ...(testRows !== undefined && { test_rows: testRows }),
      ...(rawColumns !== undefined && { raw_columns: rawColumns }),
      ...(typeof estimators === 'number' && { n_estimators: estimators }),
    },
    signal,
  );
}

function cardOf({ cards }: Context, model: string | ModelCard | undefined): ModelCard | undefined {
  if (typeof model !== 'string') {
    return model && checkedCard(model);
  }
  const card = cards.get(model);
  if (card === undefined) {
    throw unknownModel(model, cards);
  }
  return card;
}
