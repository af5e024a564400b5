import type { OutputType, PredictRequest, UploadCard } from '../../scoring/types';
import { ServiceError } from '../../wire/service-error';
import { takesQuantiles } from '../../wire/vocabulary';
import { type CleaningDef, cleaningFields } from '../fields/cleaning-fields';
import { fromEnvironment, inside } from '../fields/environment';
import { candidates, choiceField, flagField, quantilesField, textField } from '../fields/fields';
import type { TableDef, TableReader } from '../input/table-input';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';
import { namedModel, requiredModel } from './model-field';

/** The predict node as it stands in a flow file. */
export interface PredictDef extends FlowNodeDef, CleaningDef, TableDef {
  config?: string;
  model?: string;
  task?: string;
  outputType?: string;
  quantiles?: string | number[];
  property?: string;
  missingColumns?: string;
  noModel?: string;
  batchRows?: string | number;
  batchMs?: string | number;
  ordered?: boolean;
  queue?: string | number;
  overflow?: string;
  retryPredict?: boolean;
  maxCost?: string | number;
  api?: string;
}

const OUTPUT_TYPES: readonly OutputType[] = [
  'probas',
  'preds',
  'mean',
  'median',
  'mode',
  'quantiles',
  'main',
  'full',
];
const DEFAULT_QUANTILES = [0.1, 0.5, 0.9];

/** What a message asks of the predict node. */
export async function predictRequest(
  red: Red,
  node: FlowNode,
  def: PredictDef,
  table: TableReader,
  msg: Message,
): Promise<PredictRequest> {
  const env = (value: unknown): string => fromEnvironment(red, node, value);
  const legacy = choiceField(['svc', 'v1'], { place: 'The field API', value: env(def.api) }) === 'v1';
  const uploadId = textField({ place: 'msg.test_set_upload_id', value: msg.test_set_upload_id });
  const where = uploadId === undefined ? { table: await table.read(msg) } : { testSetUploadId: uploadId };
  const outputType = choiceField(
    OUTPUT_TYPES,
    ...candidates('Output', env(def.outputType), 'output_type', msg),
  );
  return {
    ...where,
    ...(legacy ? legacyModel(msg) : model(env(def.model).trim(), msg, uploadId)),
    task: choiceField(['classification', 'regression'], ...candidates('Task', env(def.task), 'task', msg)),
    outputType,
    quantiles: takesQuantiles(outputType)
      ? quantiles(inside(red, node, def.quantiles), env(def.outputType) === '', msg)
      : undefined,
    missingColumns: choiceField(['error', 'fill'], {
      place: 'The field Missing columns',
      value: env(def.missingColumns),
    }),
    ...cleaningFields(def, msg, (value) => inside(red, node, value)),
    forceRefit: flagField(false, msg.force_refit),
    property: textField({ place: 'The field Attach as', value: env(def.property).trim() }) ?? 'prediction',
  };
}

/**
 * Where the message chooses the output, its quantiles go with it: a flow of an earlier version holds 0.1,0.5,0.9
 * in a field that its dialog did not show.
 */
function quantiles(dialog: unknown, openOutput: boolean, msg: Message): number[] {
  const list = candidates('Quantiles', dialog, 'quantiles', msg);
  return quantilesField(...(openOutput ? list.reverse() : list)) ?? DEFAULT_QUANTILES;
}

/** An upload's card names the model that the test set was made for. */
function model(dialog: string, msg: Message, uploadId: string | undefined): Partial<PredictRequest> {
  const card = msg.upload as Partial<UploadCard> | undefined | null;
  const choice = namedModel(dialog, msg);
  if (choice.model !== undefined || choice.fittedTrainSetId !== undefined) {
    return choice;
  }
  if (uploadId !== undefined && card?.id === uploadId && card.fitted_train_set_id !== undefined) {
    return { fittedTrainSetId: card.fitted_train_set_id };
  }
  return requiredModel(dialog, msg);
}

function legacyModel(msg: Message): Partial<PredictRequest> {
  const modelId = textField({ place: 'msg.model_id', value: msg.model_id });
  if (modelId !== undefined) {
    return { api: 'v1', modelId };
  }
  throw new ServiceError(
    'model.unknown',
    'The deprecated route v1 takes its model from msg.model_id, which is not set.',
  );
}
