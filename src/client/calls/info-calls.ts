import { DELETE_DATASET_PATH, USAGE_PATH } from '../../wire/dialect';
import { schemas } from '../../wire/load-schemas';
import { ServiceError } from '../../wire/service-error';
import type { ModelLimits, ServiceSettings, Usage } from '../../wire/types';
import { withoutNulls } from '../errors/answer';
import type { Call } from '../retry/deadline';
import { ask } from '../retry/request';
import { type Core } from './core';

/** S 4.5. The route is deprecated: if it is gone, `get_settings` has the limits. */
export async function getModelLimits(core: Core, call: Call): Promise<ModelLimits> {
  try {
    const plan = core.plan('info', call.what, 'get_model_limits', { repeatable: true });
    return withoutNulls(await core.ask(call, plan, schemas().ModelLimitsResponseSchema));
  } catch (error) {
    if (!isNotFound(error)) {
      throw error;
    }
    return getSettings(core, call).catch((second: unknown) => {
      throw isNotFound(second) ? error : second;
    });
  }
}

/** The limits, and the settings for large train sets. */
export async function getSettings(core: Core, call: Call): Promise<ServiceSettings> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  return withoutNulls(await core.ask(call, plan, schemas().SettingsResponseSchema));
}

/** What the account has used. */
export async function getUsage(core: Core, call: Call): Promise<Usage> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const request = { method: 'POST' as const, url: core.url(USAGE_PATH), headers: core.headers() };
  const body = await core.ask(call, { ...plan, path: USAGE_PATH, request }, schemas().UsageResponseSchema);
  return usageOf(withoutNulls(body));
}

/** The budget that is nearer to its end stands for both where the service tells of a day and a month. */
function usageOf(body: Partial<Usage>): Usage {
  const budgets = [
    { used: body.daily_tokens_used, limit: body.daily_token_limit },
    { used: body.monthly_tokens_used, limit: body.monthly_token_limit },
  ].flatMap(({ used, limit = -1 }) => (used === undefined ? [] : [{ used, limit }]));
  const share = ({ used, limit }: { used: number; limit: number }): number => (limit > 0 ? used / limit : -1);
  const [fullest] = budgets.sort((a, b) => share(b) - share(a));
  return {
    current_usage: fullest?.used ?? 0,
    usage_limit: fullest?.limit ?? -1,
    ...body,
  };
}

/** Removes an upload with its models, or a model, from the service. */
export async function askDeletion(core: Core, call: Call, id: string): Promise<void> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const url = core.url(DELETE_DATASET_PATH);
  url.searchParams.set('dataset_uid', id);
  const request = { method: 'DELETE' as const, url, headers: core.headers() };
  await ask(core.wiring, call, { ...plan, path: DELETE_DATASET_PATH, request });
}

function isNotFound(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'not_found';
}
