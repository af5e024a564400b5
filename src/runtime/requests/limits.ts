import type { CheckLimitsRequest } from '../../models/types';
import type { FlowProperties } from '../../settings/kinds';
import { LIMITS } from '../../settings/nodes';
import type { Usage } from '../../wire/types';
import type { TableReader } from '../input/table-input';
import type { FlowNodeDef, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import type { Shown } from '../status/status-line';

/** The limits node as it stands in a flow file. */
export type LimitsDef = FlowNodeDef & FlowProperties<typeof LIMITS>;

/** The check that a message asks for; undefined if only the limits are wanted. */
export async function limitsCheck(
  runtime: NodeRuntime<LimitsDef>,
  table: TableReader,
  msg: Message,
): Promise<CheckLimitsRequest | undefined> {
  const read = runtime.settings(LIMITS);
  return read('check')
    ? { table: await table.read(msg), set: read('set'), modelVersion: read('modelVersion') }
    : undefined;
}

/** What an account has used of its tokens, as a status; undefined if the service names no budget. */
export function usedTokens(usage: Usage | undefined): Shown | undefined {
  const day = percent(usage?.daily_tokens_used, usage?.daily_token_limit);
  const month = percent(usage?.monthly_tokens_used, usage?.monthly_token_limit);
  if (day !== undefined && month !== undefined) {
    return { key: 'limits.usedBoth', values: { day, month } };
  }
  const one = percent(usage?.current_usage, usage?.usage_limit);
  return one === undefined ? undefined : { key: 'limits.used', values: { percent: one } };
}

function percent(used: number | undefined, limit: number | undefined): number | undefined {
  return used === undefined || limit === undefined || limit <= 0
    ? undefined
    : Math.round((100 * used) / limit);
}
