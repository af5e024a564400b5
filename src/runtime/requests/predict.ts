import { setImmediate as immediate } from 'node:timers/promises';

import type { ModelCard, PredictLoad, Predictor, PredictOutcome } from '../../connection';
import type { UploadCard } from '../../models/cards';
import { ModelMismatch } from '../../models/model-mismatch';
import type { CauseText, Hooks, PredictRequest } from '../../models/types';
import { flag, type FlowProperties, freeText, numberIn } from '../../settings/kinds';
import { PREDICT, PREDICT_OWN, PREDICT_QUEUE, PREDICT_SEPARATE } from '../../settings/nodes';
import { ServiceError } from '../../wire/service-error';
import { OUTPUT_TYPES, takesQuantiles } from '../../wire/vocabulary';
import type { UsedConfig } from '../config/config-state';
import { readEach, readProperty, type ReadSetting } from '../fields/settings-reader';
import { isLineOfText, listAddedColumns, type TableReader, tableReader } from '../input/table-input';
import { scoring } from '../lazy';
import type { Handler, MessageWork } from '../messages/message-handler';
import { modelChanged } from '../model-changed';
import {
  dialogWord,
  type FlowNodeDef,
  type InFlow,
  type Message,
  number,
  type Red,
  SHARED_CATALOGUE,
} from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import type { Progress, Shown, StatusLine } from '../status/status-line';
import { namedModel, requiredModel } from './common';

const FLAT = ['mid', 'low', 'high', 'probability', 'time'];

const VALUES = ['subject', 'column', 'value', 'low', 'high', 'label', 'effect'];
/** Marks a place in a text of the catalogue: values are data, and must not be taken for instructions to i18next. */
const MARK = '\u0001';
const MARKED = new RegExp(`${MARK}(\\w+)${MARK}`, 'g');

/** The sentences of causes, in the runtime's language. */
export function causeTexts(red: Red): CauseText {
  const texts = new Map<string, string>();
  const marks = Object.fromEntries(VALUES.map((name) => [name, `${MARK}${name}${MARK}`]));
  const findText = (key: string): string => {
    const text = texts.get(key) ?? red._(`${SHARED_CATALOGUE}:why.${key}`, marks);
    texts.set(key, text);
    return text;
  };
  if (!findText('subject').includes(MARK)) {
    return scoring().causeText;
  }
  return scoring().causeTextIn({
    word: (key, values) => findText(key).replace(MARKED, (_, name: string) => values[name] ?? ''),
    number: (value, { decimals, unit }) => {
      const [rounded, written] = [Number(value.toFixed(decimals)), value.toFixed(decimals)];
      const needed = written.includes('.') ? written.replace(/0+$/, '').split('.')[1]!.length : 0;
      return number(red, rounded, needed, unit);
    },
  });
}

/**
 * Rephrases an error of a predict so that the user can act on it: what the model does not have is named as the dialog
 * shows it if the dialog asks for it, else as the message spells it. Other errors are returned as they are.
 */
export function inWordsOfUser(runtime: NodeRuntime<PredictDef>, error: unknown): unknown {
  if (!(error instanceof ModelMismatch)) {
    return error;
  }
  const { setting, asked, task } = error;
  const { red, node } = runtime;
  const isInDialog = runtime.settings(PREDICT)(setting) !== undefined;
  const word = (value: string) =>
    isInDialog ? `"${dialogWord(red, node.type, `${setting}.${value}`)}"` : value;
  const place = isInDialog
    ? `The field "${dialogWord(red, node.type, `label.${setting}`)}"`
    : `msg.${PREDICT[setting].message}`;
  const what =
    setting === 'task'
      ? `is ${word(asked)}, but the model was fitted for ${task}: leave it empty`
      : `is ${word(asked)}, which a ${task} model does not have: choose ${OUTPUT_TYPES[task].map(word).join(', ')}`;
  return new ServiceError(error.code, `${place} ${what}.`);
}

/** The predict node as it stands in a flow file. */
export type PredictDef = FlowNodeDef & FlowProperties<typeof PREDICT>;

const SETTINGS = { ...PREDICT_SEPARATE, ...PREDICT_OWN };
/** Settings that a request takes as they are; what these two say depends on another one. */
const ASKED = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).filter(
  (name) => name !== 'quantiles' && name !== 'explainAbove',
);
const QUEUE = Object.keys(PREDICT_QUEUE) as (keyof typeof PREDICT_QUEUE)[];

const UPLOAD_ID = freeText();
const FORCE_REFIT = flag();
const THRESHOLD = numberIn({ min: 0, max: 1 });

/** Reads what each message asks of the predict node. */
export function predictRequests(
  runtime: NodeRuntime<PredictDef>,
  reader: TableReader,
): (msg: Message) => Promise<PredictRequest> {
  const dialog = runtime.settings(PREDICT);
  let told = false;
  return async (msg) => {
    const read = runtime.settings(PREDICT, msg);
    const testSetUploadId = readProperty(UPLOAD_ID, 'test_set_upload_id', msg);
    const table = testSetUploadId === undefined ? await reader.read(msg) : undefined;
    if (!told && table !== undefined && 'value' in table && isLineOfText(msg, table.value)) {
      told = true;
      runtime.warn('lineAlone');
    }
    const api = read('api') === 'v1' ? 'v1' : undefined;
    const named =
      api === 'v1'
        ? undefined
        : model(runtime, { dialog: read('model') ?? '', msg, uploadId: testSetUploadId });
    // One by one: spreading parts into an object would take as long as all the rest, for each message of a stream.
    const request: PredictRequest = readEach(read, ASKED);
    request.table = table;
    request.testSetUploadId = testSetUploadId;
    request.api = api;
    request.modelId = api === 'v1' ? legacyModel(msg) : undefined;
    request.model = named?.model;
    request.fittedTrainSetId = named?.fittedTrainSetId;
    request.forceRefit = readProperty(FORCE_REFIT, 'force_refit', msg);
    request.threshold = readProperty(THRESHOLD, 'threshold', msg);
    request.times = request.flat === true ? readTimes(msg.series) : undefined;
    if (request.explain === true) {
      request.explainAbove = read('explainAbove');
    }
    if (takesQuantiles(request.outputType)) {
      request.quantiles = quantiles(read, dialog('outputType') === undefined);
    }
    return request;
  };
}

/** The time that each row of a series node is about: its own, and as much later as it looks ahead. */
function readTimes(series: unknown): PredictRequest['times'] {
  return series === undefined || series === null
    ? undefined
    : [series].flat().map((one) => {
        const { time, ahead = 0 } = (one ?? {}) as { time?: unknown; ahead?: unknown };
        return typeof time === 'number' && typeof ahead === 'number' ? time + ahead : undefined;
      });
}

/**
 * If the message chooses the output, its quantiles come first: flows of an earlier version hold 0.1,0.5,0.9 in a field
 * that their dialog did not show.
 */
function quantiles(read: ReadSetting<typeof PREDICT>, openOutput: boolean): number[] {
  return [...read('quantiles', openOutput ? 'message first' : 'dialog first')];
}

/** The card of an upload names the model that the test set was made for. */
function model(
  place: InFlow,
  { dialog, msg, uploadId }: { dialog: string; msg: Message; uploadId: string | undefined },
): Partial<PredictRequest> {
  const card = msg.upload as Partial<UploadCard> | undefined | null;
  const choice = namedModel(dialog, msg);
  if (choice.model !== undefined || choice.fittedTrainSetId !== undefined) {
    return choice;
  }
  if (uploadId !== undefined && card?.id === uploadId && card.fitted_train_set_id !== undefined) {
    return { fittedTrainSetId: card.fitted_train_set_id };
  }
  return requiredModel(place, dialog, msg);
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

/** A message that brings a model in place of rows. */
interface ModelFile {
  file: Buffer;
}

/** What a predict node does with its messages. */
export class PredictNode implements Handler<PredictRequest | ModelFile | undefined> {
  private readonly table: TableReader;
  private readonly readRequest: (msg: Message) => Promise<PredictRequest>;
  private readonly dialog: ReadSetting<typeof PREDICT>;
  /** Made with the first message. */
  private predictor: Predictor | undefined;
  private billed: Shown | undefined;
  /** The id of the model whose columns were looked at last for one that predictions replace, and whether that was told. */
  private checked: string | undefined;
  private isReplacedTold = false;

  constructor(
    private readonly runtime: NodeRuntime<PredictDef>,
    private readonly config: UsedConfig,
  ) {
    this.table = tableReader(runtime, { flat: true });
    this.readRequest = predictRequests(runtime, this.table);
    this.dialog = runtime.settings(PREDICT);
  }

  secrets(): readonly string[] {
    return this.config.secrets();
  }

  /** Undefined for a message that is done with that: `msg.reset`, `msg.flush`. */
  async read(msg: Message): Promise<PredictRequest | ModelFile | undefined> {
    if (raised(msg.reset)) {
      this.predictor?.reset();
      return undefined;
    }
    if (raised(msg.flush)) {
      this.predictor?.flush();
      return undefined;
    }
    const { model_file: file } = msg;
    if (this.runtime.def.takeModel === 'on' && file !== undefined && file !== null) {
      return modelFile(file);
    }
    const request = await this.readRequest(msg);
    const { model } = request;
    if (typeof model === 'string') {
      await this.fitsAnnounced(model);
    }
    return request;
  }

  /** A predict waits only for a fit that is announced: so must be one that is asked for together with it. */
  private async fitsAnnounced(model: string): Promise<void> {
    const { cards } = this.config.connection();
    if (!cards.has(model)) {
      // A turn later, all that one message was sent to have it.
      await immediate();
      await cards.fits.announced();
    }
  }

  async run(
    asked: PredictRequest | ModelFile | undefined,
    msg: Message,
    { status, hooks }: MessageWork,
  ): Promise<Message | undefined> {
    if (asked === undefined) {
      return undefined;
    }
    if ('file' in asked) {
      await this.takeModel(asked.file, hooks);
      return undefined;
    }
    if (this.passes(asked)) {
      status.show('waiting', 'noModel');
      return answerUnpredicted(msg);
    }
    let outcome: PredictOutcome;
    try {
      this.predictor ??= this.makePredictor();
      status.begin();
      outcome = await this.predictor.predict(asked, hooks);
    } catch (error) {
      throw inWordsOfUser(this.runtime, error);
    }
    this.billed = billedAs(outcome.metadata);
    if (this.billed !== undefined) {
      showLoad(status, this.predictor.load(), this.billed);
    }
    this.warnIfReplaced(asked, outcome);
    return answerPredict(msg, this.table, outcome);
  }

  async close(): Promise<void> {
    await this.predictor?.close();
  }

  private makePredictor(): Predictor {
    const { red, node, status } = this.runtime;
    return this.config.connection().predictor({
      ...readEach(this.dialog, QUEUE),
      queueRows: this.dialog('queue'),
      noModel: this.dialog('noModel') === 'wait' ? 'wait' : 'error',
      onLoad: (load) => showLoad(status, load, this.billed),
      onWarning: (warning) => node.warn(warning),
      causeText: causeTexts(red),
    });
  }

  /**
   * Whether the message passes on without a prediction: its model does not exist yet, and the dialog allows it.
   * @throws ServiceError `storage.failed` where nobody can know
   */
  private passes({ model }: PredictRequest): boolean {
    if (typeof model !== 'string' || this.dialog('noModel') !== 'pass') {
      return false;
    }
    const { cards } = this.config.connection();
    if (cards.has(model) || cards.byFittedId(model) !== undefined || cards.fits.end(model) !== undefined) {
      return false;
    }
    cards.assertRead();
    return true;
  }

  /** Warns once if predictions replace a column that the model predicts from. */
  private warnIfReplaced(request: PredictRequest, outcome: PredictOutcome): void {
    const id = outcome.predictedBy?.fitted_train_set_id;
    // A stream of messages has one model, so its columns are checked once.
    if (this.isReplacedTold || outcome.table === undefined || id === this.checked) {
      return;
    }
    const { cards } = this.config.connection();
    const card =
      typeof request.model === 'object'
        ? request.model
        : (cards.get(outcome.modelName) ?? cards.byFittedId(outcome.modelName));
    if (card === undefined) {
      return;
    }
    this.checked = id;
    const column = attachedNames(request).find((name) => isFeature(card, name));
    if (column !== undefined) {
      this.isReplacedTold = true;
      this.runtime.warn('replaced', { column, model: card.name });
    }
  }

  /**
   * Takes a model in, and shows which version it is here. The same one again changes nothing. Warns of one that the node
   * does not predict with.
   */
  private async takeModel(file: Buffer, hooks: Hooks): Promise<void> {
    const { runtime } = this;
    const { card, isNew } = await this.config.connection().takeModel(file, hooks);
    if (isNew) {
      modelChanged(runtime.red, card.name);
      const own = this.dialog('model');
      if (own !== undefined && own !== card.name) {
        runtime.warn('otherTaken', { model: card.name, own });
      }
    }
    runtime.status.tell(isNew ? 'taken.new' : 'taken.same', { version: card.version });
  }
}

/** @throws ServiceError `validation.failed` for one that is no Buffer */
function modelFile(file: unknown): ModelFile {
  if (!(file instanceof Uint8Array)) {
    throw new ServiceError(
      'validation.failed',
      'msg.model_file must be a Buffer, as a fit node sends it: let an MQTT node output a Buffer.',
    );
  }
  return { file: Buffer.from(file.buffer, file.byteOffset, file.length) };
}

function raised(flag: unknown): boolean {
  return flag !== undefined && flag !== false && flag !== null;
}

/** What a metered service says that it billed: the version of the model, and whether that was in its cache. */
function billedAs({
  billing_model_version: version,
  cache_outcome: cache,
}: Record<string, unknown>): Shown | undefined {
  if (version === undefined && cache === undefined) {
    return undefined;
  }
  const values = { model: shortText(version), cache: shortText(cache) };
  if (values.model !== '' && values.cache !== '') {
    return { key: 'billed.both', values };
  }
  if (values.model !== '') {
    return { key: 'billed.model', values };
  }
  return values.cache === '' ? undefined : { key: 'billed.cache', values };
}

function shortText(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 40) : '';
}

function showLoad(status: StatusLine, load: PredictLoad, billed: Shown | undefined): void {
  const { inFlight, waiting, forModel = 0 } = load;
  const progress: Progress = { phase: 'predicting', in_flight: inFlight, waiting };
  if (forModel > 0 && inFlight === 0) {
    status.show('waiting', 'load.forModel', { waiting: forModel }, progress);
  } else if (waiting > 0) {
    status.show('busy', 'load.waiting', { inFlight, waiting }, progress);
  } else if (inFlight > 0) {
    status.show('busy', 'load.inFlight', { inFlight }, progress);
  } else {
    status.rest(billed);
  }
}

/** Puts the result into the message, and removes what requested it, so that it does not affect a later node. */
function answerPredict(msg: Message, table: TableReader, outcome: PredictOutcome): Message {
  delete msg.test_set_upload_id;
  delete msg.force_refit;
  if (outcome.table !== undefined) {
    const { payload } = msg;
    table.write(msg, outcome.table);
    listAddedColumns(msg, payload);
  }
  msg.prediction = outcome.prediction;
  msg.metadata = outcome.metadata;
  msg.model_name = outcome.modelName;
  if (outcome.predictedBy === undefined) {
    delete msg.predicted_by;
  } else {
    msg.predicted_by = outcome.predictedBy;
  }
  if (outcome.cleaned === undefined) {
    delete msg.cleaned;
  } else {
    msg.cleaned = outcome.cleaned;
  }
  delete msg.evaluation;
  if (outcome.evaluation !== undefined) {
    msg.evaluation = outcome.evaluation;
  }
  return msg;
}

/** A message without a prediction does not keep one of an earlier node either. */
function answerUnpredicted(msg: Message): Message {
  delete msg.prediction;
  delete msg.metadata;
  delete msg.predicted_by;
  delete msg.evaluation;
  return msg;
}

function attachedNames({ property = 'prediction', outputType, flat }: PredictRequest): string[] {
  const isProbable = outputType === undefined || outputType === 'probas';
  return [
    property,
    ...(isProbable ? [`${property}_probabilities`] : []),
    ...(flat === true ? FLAT.map((name) => `${property}_${name}`) : []),
  ];
}

function isFeature(card: ModelCard, name: string): boolean {
  return name !== card.target && card.columns.some((column) => column.name === name);
}
