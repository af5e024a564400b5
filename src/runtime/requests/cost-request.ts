import type { CostRequest } from '../../scoring/types';
import { fromEnvironment } from '../fields/environment';
import { numberField, textField } from '../fields/fields';
import type { TableDef, TableReader } from '../input/table-input';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';
import { namedModel } from './model-field';

/** The cost node as it stands in a flow file. */
export interface CostDef extends FlowNodeDef, TableDef {
  config?: string;
  operation?: string;
  modelVersion?: string;
  nEstimators?: string | number;
}

/** What a message asks of the cost node. Numbers in the message win over what is counted in a table. */
export async function costRequest(
  red: Red,
  node: FlowNode,
  def: CostDef,
  table: TableReader,
  msg: Message,
): Promise<CostRequest> {
  const env = (value: unknown): string => fromEnvironment(red, node, value);
  const count = (property: string): number | undefined =>
    numberField({ min: 0, integer: true }, { place: `msg.${property}`, value: msg[property] });
  const trainRows = count('train_rows');
  const testRows = count('test_rows');
  const rawColumns = count('raw_columns');
  const counted = testRows !== undefined && rawColumns !== undefined;
  return {
    operation: textField({ place: 'The field Operation', value: env(def.operation).trim() }) ?? 'predict',
    modelVersion: textField({ place: 'The field Model version', value: env(def.modelVersion).trim() }),
    nEstimators: numberField(
      { min: 1, integer: true },
      { place: 'The field Estimators', value: env(def.nEstimators) },
    ),
    ...(counted ? {} : await optionalTable(table, msg, def)),
    ...modelChoiceOf(msg),
    trainRows,
    testRows,
    rawColumns,
  };
}

/** The table, where there is one: the numbers may come from the message or the model card alone. */
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

function modelChoiceOf(msg: Message): Pick<CostRequest, 'model'> {
  const { model } = namedModel('', msg);
  return model === undefined ? {} : { model };
}
