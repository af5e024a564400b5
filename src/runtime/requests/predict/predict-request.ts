import type { PredictRequest, UploadCard } from '../../../scoring/types';
import { type FlowProperties, PREDICT } from '../../../settings';
import { flag, freeText, numberIn } from '../../../settings/kinds';
import { ServiceError } from '../../../wire/service-error';
import { takesQuantiles } from '../../../wire/vocabulary';
import { readProperty, type ReadSetting, settingsReaders } from '../../fields/settings-reader';
import type { TableReader } from '../../input/table-input';
import type { FlowNode, FlowNodeDef, Message, Red } from '../../node-red';
import { namedModel, requiredModel } from '../model-field';

/** The predict node as it stands in a flow file. */
export type PredictDef = FlowNodeDef & FlowProperties<typeof PREDICT>;

const UPLOAD_ID = freeText();
const FORCE_REFIT = flag();
const THRESHOLD = numberIn({ min: 0, max: 1 });

/** Reads what each message asks of the predict node. */
export function predictRequests(
  red: Red,
  node: FlowNode,
  def: PredictDef,
  reader: TableReader,
): (msg: Message) => Promise<PredictRequest> {
  const readers = settingsReaders(red, node, PREDICT, def);
  const dialog = readers({});
  return async (msg) => {
    const read = readers(withWords(msg));
    const testSetUploadId = readProperty(UPLOAD_ID, 'test_set_upload_id', msg);
    const table = testSetUploadId === undefined ? await reader.read(msg) : undefined;
    const api = read('api') === 'v1' ? 'v1' : undefined;
    const named = api === 'v1' ? undefined : model(read('model') ?? '', msg, testSetUploadId);
    const outputType = read('outputType');
    const explain = read('explain') === 'on';
    const flat = read('flat') === 'on';
    // Named one by one: spreading parts into an object would take as long as all the rest, for each message of a stream.
    return {
      table,
      testSetUploadId,
      api,
      modelId: api === 'v1' ? legacyModel(msg) : undefined,
      model: named?.model,
      fittedTrainSetId: named?.fittedTrainSetId,
      task: read('task'),
      outputType,
      quantiles: takesQuantiles(outputType) ? quantiles(read, dialog('outputType') === undefined) : undefined,
      missingColumns: read('missingColumns'),
      missingWords: read('missingWords'),
      unreadable: read('unreadable'),
      timezone: read('timezone'),
      forceRefit: readProperty(FORCE_REFIT, 'force_refit', msg),
      property: read('property'),
      flat,
      times: flat ? timesOf(msg.series) : undefined,
      explain,
      explainAbove: explain ? read('explainAbove') : undefined,
      unlike: read('unlike') === 'on',
      threshold: readProperty(THRESHOLD, 'threshold', msg),
      evaluate: read('evaluate') === 'on',
    };
  };
}

/** The time that each row of a series node is about: its own, and as much later as it looks ahead. */
function timesOf(series: unknown): PredictRequest['times'] {
  return series === undefined || series === null
    ? undefined
    : [series].flat().map((one) => {
        const { time, ahead = 0 } = (one ?? {}) as { time?: unknown; ahead?: unknown };
        return typeof time === 'number' && typeof ahead === 'number' ? time + ahead : undefined;
      });
}

/** `msg.explain`, `msg.unlike` and `msg.evaluate` may be true or false too. */
function withWords(msg: Message): Message {
  let worded = msg;
  for (const name of ['explain', 'unlike', 'evaluate']) {
    if (typeof msg[name] === 'boolean') {
      worded = { ...worded, [name]: msg[name] ? 'on' : 'off' };
    }
  }
  return worded;
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

function legacyModel(msg: Message): string {
  const modelId = readProperty(freeText(), 'model_id', msg);
  if (modelId !== undefined) {
    return modelId;
  }
  throw new ServiceError(
    'model.unknown',
    'The deprecated route v1 takes its model from msg.model_id, which is not set.',
  );
}
