import type { PredictRequest, UploadCard } from '../../scoring/types';
import { type FlowProperties, PREDICT } from '../../settings';
import { flag, freeText, numberIn } from '../../settings/kinds';
import { ServiceError } from '../../wire/service-error';
import { takesQuantiles } from '../../wire/vocabulary';
import { readProperty, type ReadSetting, settingsReader } from '../fields/settings-reader';
import type { TableReader } from '../input/table-input';
import type { FlowNode, FlowNodeDef, Message, Red } from '../node-red';
import { readCleaning } from './cleaning';
import { namedModel, requiredModel } from './model-field';

/** The predict node as it stands in a flow file. */
export type PredictDef = FlowNodeDef & FlowProperties<typeof PREDICT>;

/** What a message asks of the predict node. */
export async function predictRequest(
  red: Red,
  node: FlowNode,
  def: PredictDef,
  table: TableReader,
  msg: Message,
): Promise<PredictRequest> {
  const read = settingsReader(red, node, PREDICT, def, withWords(msg));
  const legacy = read('api') === 'v1';
  const uploadId = readProperty(freeText(), 'test_set_upload_id', msg);
  const where = uploadId === undefined ? { table: await table.read(msg) } : { testSetUploadId: uploadId };
  const outputType = read('outputType');
  return {
    ...where,
    ...(legacy ? legacyModel(msg) : model(read('model') ?? '', msg, uploadId)),
    task: read('task'),
    outputType,
    quantiles: takesQuantiles(outputType)
      ? quantiles(read, settingsReader(red, node, PREDICT, def)('outputType') === undefined)
      : undefined,
    missingColumns: read('missingColumns'),
    ...readCleaning(read),
    forceRefit: readProperty(flag(), 'force_refit', msg),
    property: read('property'),
    ...(read('explain') === 'on' && { explain: true, explainAbove: read('explainAbove') }),
    ...(read('unlike') === 'on' && { unlike: true }),
    threshold: readProperty(numberIn({ min: 0, max: 1 }), 'threshold', msg),
    ...(read('evaluate') === 'on' && { evaluate: true }),
  };
}

/** `msg.explain`, `msg.unlike` and `msg.evaluate` may be true or false too. */
function withWords(msg: Message): Message {
  const { explain, unlike, evaluate } = msg as Record<string, unknown>;
  const words = Object.entries({ explain, unlike, evaluate }).filter(
    ([, value]) => typeof value === 'boolean',
  );
  return words.length === 0
    ? msg
    : { ...msg, ...Object.fromEntries(words.map(([name, on]) => [name, on === true ? 'on' : 'off'])) };
}

/**
 * If the message chooses the output, its quantiles come first: flows of an earlier version hold 0.1,0.5,0.9 in a field
 * that their dialog did not show.
 */
function quantiles(read: ReadSetting<typeof PREDICT>, openOutput: boolean): number[] {
  return [...read('quantiles', openOutput ? 'message first' : 'dialog first')];
}

/** The card of an upload names the model that the test set was made for. */
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
  const modelId = readProperty(freeText(), 'model_id', msg);
  if (modelId !== undefined) {
    return { api: 'v1', modelId };
  }
  throw new ServiceError(
    'model.unknown',
    'The deprecated route v1 takes its model from msg.model_id, which is not set.',
  );
}
