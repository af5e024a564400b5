import { isDeepStrictEqual } from 'node:util';

import type { Connection, ModelCards, TrainResult } from '../../connection';
import type { ModelCurves } from '../../metrics/curves';
import type { ColumnImportance, KeyTime, ModelCard, ModelScores, UploadCard } from '../../models/cards';
import type { TrainRequest } from '../../models/types';
import { choice, flag, type FlowProperties, freeText, isUnsaid } from '../../settings/kinds';
import { FIT, FIT_REQUEST } from '../../settings/nodes';
import { isObject } from '../../util/values';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { FOLDS, type Task } from '../../wire/vocabulary';
import type { UsedConfig } from '../config/config-state';
import { readEach, readProperty, type ReadSetting } from '../fields/settings-reader';
import { offerColumns } from '../input/columns-seen';
import type { TableCollector } from '../input/table-collector';
import { isDecay } from '../input/table-input';
import { scoring } from '../lazy';
import { onModelChanged } from '../model-changed';
import { type FlowNode, type FlowNodeDef, type Message, number } from '../node-red';
import type { NodeRuntime } from '../node-runtime';
import { fittedStatus, type Shown, type StatusKind, versionStatus } from '../status/status-line';
import { targetMissing } from './upload';

/** `msg.model_report`: what a dashboard draws a model from. */
interface ModelReport {
  model: string;
  version: number;
  task: Task;
  target: string;
  scores?: ModelScores;
  importance?: ColumnImportance[];
  /** Left out where the service reports none and no rows were held out. */
  curves?: ModelCurves;
}

/** Reports on the model in charge: its curves are stored with its card, so those of an earlier fit are known too. */
export async function modelReport(cards: ModelCards, card: ModelCard): Promise<ModelReport> {
  const { name, version, task, target, scores, importance } = card;
  const curves = (await cards.references.get(card.fitted_train_set_id))?.curves;
  return {
    model: name,
    version,
    task,
    target,
    ...(scores !== undefined && { scores }),
    ...(importance !== undefined && { importance }),
    ...(curves !== undefined && { curves }),
  };
}

/** The fit node as it stands in a flow file. */
export type FitDef = FlowNodeDef & FlowProperties<typeof FIT>;

const ASKED = Object.keys(FIT_REQUEST) as (keyof typeof FIT_REQUEST)[];
/** What a message alone can say: no field of the dialog stands for it. */
const UPLOAD_ID = freeText();
const DESCRIPTION = freeText();
const FORCE_REUPLOAD = flag();
const FOLDS_BY = choice(FOLDS);

/** What a message asks of the fit node. */
export type FitMessage =
  | { kind: 'fit'; request: TrainRequest }
  /** An earlier version of the model. `true`: the version that was in charge before; or its number. */
  | { kind: 'rollBack'; model: string; to: true | number }
  /** The model in charge, sent again. */
  | { kind: 'sendAgain'; model: string };

/** Reads what a message asks of the fit node; undefined until its sequence is complete. */
export async function fitMessage(
  runtime: NodeRuntime<FitDef>,
  tables: TableCollector,
  msg: Message,
): Promise<FitMessage | undefined> {
  const read = runtime.settings(FIT, msg);
  if (msg.send_model === 'again') {
    return { kind: 'sendAgain', model: modelName(read, runtime.node) };
  }
  const { rollback } = msg;
  if (rollback !== undefined && rollback !== null && rollback !== '' && rollback !== false) {
    return { kind: 'rollBack', to: readVersion(rollback), model: modelName(read, runtime.node) };
  }
  const id = readProperty(UPLOAD_ID, 'train_set_upload_id', msg);
  const table = id === undefined ? await tables.read(msg) : undefined;
  if (id === undefined && table === undefined) {
    return undefined;
  }
  if (id === undefined && read('target') === undefined) {
    throw targetMissing(runtime);
  }
  const request: TrainRequest = {
    ...(id === undefined ? { table } : { trainSetUploadId: id, upload: uploadCard(msg, id) }),
    ...readEach(read, ASKED),
    model: modelName(read, runtime.node),
    description: readProperty(DESCRIPTION, 'description', msg),
    forceReupload: readProperty(FORCE_REUPLOAD, 'force_reupload', msg),
    thinking: thinking(read),
    // Only with the message's own group: a group that the dialog names is held out whole.
    ...(!runtime.def.group && { folds: readProperty(FOLDS_BY, 'folds', msg) }),
    decayed: isDecay(msg),
    costs: costs(read, runtime.def),
    ...trainTimes(msg.train),
  };
  return { kind: 'fit', request };
}

/** The version that `msg.rollback` asks for. @throws ServiceError `validation.failed` */
function readVersion(rollback: unknown): true | number {
  const version = typeof rollback === 'string' && rollback !== 'true' ? Number(rollback) : rollback;
  if (typeof version === 'number' && Number.isInteger(version) && version > 0) {
    return version;
  }
  if (version === true || version === 'true') {
    return true;
  }
  throw new ServiceError(
    'validation.failed',
    'msg.rollback must be true, for the version before, or the number of a version.',
  );
}

function modelName(read: ReadSetting<typeof FIT>, node: FlowNode): string {
  return read('model') ?? (node.name || node.id);
}

/** What a series node says about its train set, whose rows have no time. */
function trainTimes(train: unknown): Pick<TrainRequest, 'trainedFrom' | 'trainedUntil' | 'trainedKeys'> {
  if (!isObject(train)) {
    return {};
  }
  const { from, to, keys } = train;
  return {
    trainedFrom: writeIsoTime(from),
    trainedUntil: writeIsoTime(to),
    trainedKeys: writeKeyTimes(keys),
  };
}

function writeKeyTimes(keys: unknown): KeyTime[] | undefined {
  const isKeyTime = (one: unknown): one is KeyTime =>
    isObject(one) && typeof one.key === 'string' && typeof one.to === 'number' && Number.isFinite(one.to);
  return Array.isArray(keys) && keys.every(isKeyTime) ? keys.map(({ key, to }) => ({ key, to })) : undefined;
}

function writeIsoTime(value: unknown): string | undefined {
  const time = new Date(value as number);
  return value === undefined || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}

/** The card of the upload, if the message still carries the one with this id. */
function uploadCard(msg: Message, id: string): UploadCard | undefined {
  const card = msg.upload as Partial<UploadCard> | undefined | null;
  return card?.id === id && card.set === 'train' ? (card as UploadCard) : undefined;
}

/** The JSON of an older flow, else the two fields, else what the message says. */
function costs(read: ReadSetting<typeof FIT>, def: FitDef): TrainRequest['costs'] {
  const [missed, falseAlarm] = [read('costMissed'), read('costFalseAlarm')];
  return (missed === undefined && falseAlarm === undefined) || !isUnsaid(FIT.costs, def.costs)
    ? read('costs')
    : {
        ...(missed !== undefined && { missed }),
        ...(falseAlarm !== undefined && { false_alarm: falseAlarm }),
      };
}

/** The other fields of thinking count only if it is on. */
function thinking(read: ReadSetting<typeof FIT>): TrainRequest['thinking'] {
  const effort = read('thinkingEffort');
  return effort === undefined
    ? undefined
    : { effort, timeoutSecs: read('thinkingTimeout'), metric: read('thinkingMetric') };
}

/** Puts the card of a model into the message, and removes what requested the fit: it must not affect a later node. */
export function answerFit(
  msg: Message,
  { card, challenger }: Pick<TrainResult, 'card' | 'challenger'>,
): Message {
  delete msg.train_set_upload_id;
  delete msg.force_reupload;
  delete msg.force_refit;
  delete msg.rollback;
  delete msg.threshold;
  msg.fitted_train_set_id = card.fitted_train_set_id;
  msg.model = card;
  msg.cleaned = card.cleaned;
  delete msg.challenger;
  if (challenger !== undefined) {
    msg.challenger = challenger;
  }
  return msg;
}

/** Which model a fit node shows. */
type ShownModel = Pick<ModelCard, 'name' | 'version' | 'fitted_train_set_id' | 'threshold'>;

/**
 * Shows the model of a fit node that the node did not just fit itself. Once the flows have started, after a deploy or a
 * restart, that is the one which it fitted before; its columns are offered to the dialog. Later it is the one that was
 * put in charge elsewhere: taken back in the sidebar, imported, fitted by another node; or its own, whose threshold was
 * chosen there. Shows nothing of a model with another target than the dialog now names.
 * @param changed called with each model that was put in charge elsewhere
 * @returns to be called with each model that the node itself shows
 */
export function showKeptFit(
  runtime: NodeRuntime<FitDef>,
  config: UsedConfig,
  changed: (card: ModelCard) => void,
): (card: ModelCard) => void {
  const { node, def, status } = runtime;
  let shown: ShownModel | undefined;

  const inCharge = (name: string): ModelCard | undefined => {
    const card = config.cards()?.get(name);
    const isOther = def.target !== undefined && def.target !== '' && def.target !== card?.target;
    return isOther ? undefined : card;
  };

  const shownStatus = (card: ModelCard): Shown & { kind: StatusKind } =>
    (isNewest(card) ? fittedStatus : versionStatus)(status, card, false);

  runtime.whenStarted(() => {
    if (config.cards()?.isUsable === false) {
      status.fail('storage.failed');
      return;
    }
    const card = inCharge(keptName(runtime) ?? '');
    if (card === undefined) {
      return;
    }
    shown = card;
    status.showIdle(shownStatus(card));
    offerColumns(node.id, [...card.columns.map(({ name }) => name), card.target]);
  });

  onModelChanged(node, (name) => {
    if (name !== (shown?.name ?? keptName(runtime))) {
      return;
    }
    const card = inCharge(name);
    if (isSame(card, shown)) {
      if (card !== undefined && !isDeepStrictEqual(card.threshold, shown?.threshold)) {
        status.become(() => shownStatus(card));
      }
      shown = card;
      return;
    }
    shown = card;
    status.become(() =>
      card === undefined ? { kind: 'plain', key: 'fitted.gone' } : versionStatus(status, card),
    );
    if (card !== undefined) {
      changed(card);
    }
  });

  return (card) => {
    shown = card;
  };
}

function isSame(one: ShownModel | undefined, other: ShownModel | undefined): boolean {
  return one?.version === other?.version && one?.fitted_train_set_id === other?.fitted_train_set_id;
}

function isNewest({ version, versions }: ModelCard): boolean {
  return !versions.some((one) => one.version > version);
}

/** The model name from the dialog; undefined if it contains a variable that is not set. */
function keptName(runtime: NodeRuntime<FitDef>): string | undefined {
  try {
    return modelName(runtime.settings(FIT), runtime.node);
  } catch {
    return undefined;
  }
}

const MB = 1e6;

/** Hands the models of a fit node to other computers. */
interface ModelSender {
  /** Puts the model in charge into a message, as `msg.model_file`, where the node or the message wants it. */
  addTo(msg: Message, card: ModelCard): Promise<void>;
  /** Sends a message of its own where another version took charge elsewhere: rolled back, imported. */
  sendChanged(card: ModelCard): void;
}

/** A fit stands, whether its model can be sent or not: a warning says why it is not. */
export function modelSender(runtime: NodeRuntime<FitDef>, config: UsedConfig): ModelSender {
  const { red, node } = runtime;
  let isToldOfCard = false;
  let isClosed = false;
  node.on('close', () => {
    isClosed = true;
  });

  const fetchFile = async (connection: Connection, name: string, mostBytes: number): Promise<Buffer> => {
    const file = await connection.publishModel(name);
    if (file.isCardAlone && !isToldOfCard) {
      isToldOfCard = true;
      runtime.warn('cardAlone', { model: name });
    }
    if (file.bytes > mostBytes) {
      throw new ServiceError(
        'limit.exceeded',
        runtime.text('warning.modelTooLarge', {
          size: number(red, file.bytes / MB, 1),
          most: mostBytes / MB,
        }),
      );
    }
    return scoring().wholeFile(file);
  };

  const addTo = async (msg: Message, card: ModelCard): Promise<void> => {
    try {
      const read = runtime.settings(FIT, msg);
      if (read('sendModel')) {
        // That of an earlier node would be another model.
        delete msg.model_file;
        msg.model_file = await fetchFile(config.connection(), card.name, read('modelFileMax') * MB);
      }
    } catch (thrown) {
      const { code, message } = toServiceError(thrown);
      if (code === 'closed') {
        throw thrown;
      }
      runtime.warn('notSent', { model: card.name, why: message });
    } finally {
      delete msg.send_model;
    }
  };

  return {
    addTo,
    sendChanged(card) {
      const msg: Message = { _msgid: red.util.generateId() };
      // A fit node that is closed meanwhile has nothing to say.
      const ignore = (): undefined => undefined;
      void addTo(msg, card).then(() => {
        if (msg.model_file !== undefined && !isClosed) {
          node.send(answerFit(msg, { card }));
        }
      }, ignore);
    },
  };
}
