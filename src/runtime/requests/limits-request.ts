import type { CheckLimitsRequest } from '../../scoring/types';
import { fromEnvironment } from '../fields/environment';
import { choiceField, textField } from '../fields/fields';
import type { TableDef, TableReader } from '../input/table-input';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';

/** The limits node as it stands in a flow file. */
export interface LimitsDef extends FlowNodeDef, TableDef {
  config?: string;
  check?: boolean;
  /** Which set the table is to be: the limits differ. */
  set?: string;
  modelVersion?: string;
}

/** The check that a message asks for; undefined where only the limits are wanted. */
export async function limitsCheck(
  red: Red,
  node: FlowNode,
  def: LimitsDef,
  table: TableReader,
  msg: Message,
): Promise<CheckLimitsRequest | undefined> {
  if (def.check !== true) {
    return undefined;
  }
  const env = (value: unknown): string => fromEnvironment(red, node, value);
  return {
    table: await table.read(msg),
    set: choiceField(['train', 'test'], { place: 'The field Check as', value: env(def.set) }) ?? 'train',
    modelVersion: textField({ place: 'The field Model version', value: env(def.modelVersion).trim() }),
  };
}

/** The part of its tokens that an account has used, in percent; undefined where the service names no budget. */
export function percentUsed(
  usage: { current_usage: number; usage_limit: number } | undefined,
): number | undefined {
  return usage === undefined || usage.usage_limit <= 0
    ? undefined
    : Math.round((100 * usage.current_usage) / usage.usage_limit);
}
