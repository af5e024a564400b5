import type { Connection } from '../scoring';
import type { CheckLimitsRequest, Hooks } from '../scoring/types';
import { ServiceError } from '../wire/service-error';
import type { ModelLimits } from '../wire/types';
import { fromEnvironment } from './environment';
import { choiceField, textField } from './fields';
import type { FlowNode, FlowNodeDef, Message, Red } from './node-red';
import type { TableDef, TableReader } from './table-input';

/** The limits node as it stands in a flow file (DESIGN 6). */
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
  if (def.check !== true) return undefined;
  const env = (value: unknown): string => fromEnvironment(red, node, value);
  return {
    table: await table.read(msg),
    set: choiceField(['train', 'test'], { place: 'The field Set', value: env(def.set) }) ?? 'train',
    modelVersion: textField({ place: 'The field Model version', value: env(def.modelVersion).trim() }),
  };
}

/**
 * The service's limits. For a check, a service that has no such route has none to check against: a warning,
 * and nothing is beyond them (DESIGN section 4).
 */
export async function limitsOrNone(
  connection: Connection,
  forCheck: boolean,
  hooks: Hooks,
): Promise<ModelLimits> {
  try {
    return await connection.limits(hooks);
  } catch (error) {
    if (!forCheck || !(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    hooks.onWarning?.(`The table goes unchecked: ${error.message}`);
    return {};
  }
}
