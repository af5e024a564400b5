import type { CheckLimitsRequest } from '../../scoring/types';
import { type FlowProperties, LIMITS } from '../../settings';
import { settingsReader } from '../fields/settings-reader';
import type { TableReader } from '../input/table-input';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';

/** The limits node as it stands in a flow file. */
export type LimitsDef = FlowNodeDef & FlowProperties<typeof LIMITS>;

/** The check that a message asks for; undefined if only the limits are wanted. */
export async function limitsCheck(
  red: Red,
  node: FlowNode,
  def: LimitsDef,
  table: TableReader,
  msg: Message,
): Promise<CheckLimitsRequest | undefined> {
  const read = settingsReader(red, node, LIMITS, def);
  return read('check')
    ? { table: await table.read(msg), set: read('set'), modelVersion: read('modelVersion') }
    : undefined;
}

/** The share of its tokens that an account has used, in percent; undefined if the service names no budget. */
export function percentUsed(
  usage: { current_usage: number; usage_limit: number } | undefined,
): number | undefined {
  return usage === undefined || usage.usage_limit <= 0
    ? undefined
    : Math.round((100 * usage.current_usage) / usage.usage_limit);
}
