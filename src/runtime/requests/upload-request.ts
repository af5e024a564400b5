import type { UploadRequest } from '../../scoring/types';
import { ServiceError } from '../../wire/service-error';
import { type CleaningDef, cleaningFields } from '../fields/cleaning-fields';
import { fromEnvironment, inside } from '../fields/environment';
import { candidates, choiceField, flagField, listField, textField } from '../fields/fields';
import { type MissingTargetDef, missingTargetField } from '../fields/missing-target-field';
import { typesField } from '../fields/types-field';
import type { CollectDef, TableCollector } from '../input/table-collector';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';
import { requiredModel } from './model-field';

/** The upload node as it stands in a flow file. */
export interface UploadDef extends FlowNodeDef, CleaningDef, MissingTargetDef, CollectDef {
  config?: string;
  set?: string;
  target?: string;
  ignore?: string | string[];
  types?: string | Record<string, string>;
  model?: string;
  format?: string;
  description?: string;
  forceReupload?: boolean;
  chunks?: boolean;
}

/** What a message asks of the upload node; undefined for a part of a sequence that goes on. */
export async function uploadRequest(
  red: Red,
  node: FlowNode,
  def: UploadDef,
  tables: TableCollector,
  msg: Message,
): Promise<UploadRequest | undefined> {
  const table = await tables.read(msg);
  if (table === undefined) {
    return undefined;
  }
  const env = (value: unknown): string => fromEnvironment(red, node, value);
  const common = {
    table,
    ignore: listField({ place: 'The field Ignore', value: inside(red, node, def.ignore) }),
    types: typesField(inside(red, node, def.types)),
    format: choiceField(['parquet', 'csv'], { place: 'The field Format', value: env(def.format) }),
    description: textField(...candidates('Description', env(def.description), 'description', msg)),
    forceReupload: flagField(def.forceReupload, msg.force_reupload),
    chunks: flagField(def.chunks, false),
    ...cleaningFields(def, msg, (value) => inside(red, node, value)),
    missingTarget: missingTargetField(env(def.missingTarget), msg),
  };
  if (choiceField(['train', 'test'], { place: 'The field Upload as', value: env(def.set) }) === 'test') {
    return { set: 'test', ...common, ...requiredModel(env(def.model).trim(), msg) };
  }
  const target = textField(...candidates('Target', env(def.target), 'target', msg));
  if (target === undefined) {
    throw new ServiceError(
      'target.missing',
      'No target is named: fill in the column to predict, or set msg.target.',
    );
  }
  return { set: 'train', ...common, target };
}
