import type { CheckLimitsRequest, CostRequest } from '../../models/types';
import { column, type FlowProperties, numberIn } from '../../settings/kinds';
import { COST, LIMITS } from '../../settings/nodes';
import type { Usage } from '../../wire/types';
import { readProperty } from '../fields/settings-reader';
import type { TableDef, TableReader } from '../input/table-input';
import type { FlowNodeDef, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import type { Shown } from '../status/status-line';
import { namedModel } from './common';

/** The cost node as it stands in a flow file. */
export type CostDef = FlowNodeDef & FlowProperties<typeof COST>;

const COUNT = numberIn({ min: 0, integer: true });

/** What a message asks of the cost node. Numbers in the message win over those counted in a table. */
export async function costRequest(
  runtime: NodeRuntime<CostDef>,
  table: TableReader,
  msg: Message,
): Promise<CostRequest> {
  const read = runtime.settings(COST, msg);
  const operation = read('operation');
  const trainRows = readProperty(COUNT, 'train_rows', msg);
  const testRows = readProperty(COUNT, 'test_rows', msg);
  const rawColumns = readProperty(COUNT, 'raw_columns', msg);
  const rows = operation === 'thinking_fit' ? trainRows : testRows;
  const counted = rows !== undefined && rawColumns !== undefined;
  return {
    operation,
    thinkingEffort: /^thinking_/.test(operation) ? read('thinkingEffort') : undefined,
    target: readProperty(column(), 'target', msg),
    modelVersion: read('modelVersion'),
    nEstimators: read('nEstimators'),
    ...(counted ? {} : await optionalTable(table, msg, runtime.def)),
    ...readModelChoice(msg),
    trainRows,
    testRows,
    rawColumns,
  };
}

/** The table, if there is one: the numbers may come from the message or the model card alone. */
async function optionalTable(
  table: TableReader,
  msg: Message,
  def: TableDef,
): Promise<Pick<CostRequest, 'table'>> {
  const input = await table.read(msg);
  if (def.source === 'file' || 'path' in input) {
    return { table: input };
  }
  const { value } = input;
  const isTable = (typeof value === 'object' && value !== null) || typeof value === 'string';
  return isTable ? { table: input } : {};
}

function readModelChoice(msg: Message): Pick<CostRequest, 'model'> {
  const { model } = namedModel('', msg);
  return model === undefined ? {} : { model };
}

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
