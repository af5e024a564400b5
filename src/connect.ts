import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';

import { type Advice, type AdviseRequest, Advisor, checkQuestion } from './advise';
import type { ClientOptions } from './client';
import {
  type Challenger,
  checkAsking,
  checkHooks,
  checkSettings,
  checkTraining,
  cloneJson,
  Connection,
  type Hooks,
  kindNamed,
  MAX_MODEL_FILE_BYTES,
  type ModelCard,
  ModelCards,
  openService,
  type PredictOutcome,
  type PredictRequest,
  type PredictSettings,
  serviceKey,
  type TableInput,
  type ThresholdWish,
  type TrainRequest,
  wholeFile,
} from './connection';
import { addRests, flatTable, type Rests } from './messages';
import { type ServiceHandle, startService } from './service';
import { writeFileAtomic } from './util/files';
import { readReason } from './util/values';
import { ANY_TEXT, checkGiven, checkValue, numberFrom, OBJECT, optional } from './wire/given';
import { ServiceError } from './wire/service-error';

/**
 * Which service, and how it is spoken to: `dataDir` for the embedded one, `baseUrl` and `token` for a hosted one,
 * `endpoint` for one stateless route on-premises (a token is optional).
 */
export interface ConnectOptions extends Partial<ClientOptions> {
  /** Folder of the embedded service: uploads, models and their cards. One process at a time. */
  dataDir?: string;
  /** URL of an on-premises endpoint, by custom `…/predict`. */
  endpoint?: string;
  /** Bytes that a request to it may have. Default 16 MiB. */
  requestBytes?: number;
  /** Folder for the train rows of its models, which it does not keep. Default: a temporary one, until `close`. */
  trainRows?: string;
  /** File that keeps the model cards. Default: `models.json` in `dataDir`; without that, memory only. */
  models?: string;
  /** How calls of `predict` are gathered and bounded, as in the predict node. */
  settings?: PredictSettings;
}

/** A table of any form that the nodes take, nested rows with columns such as `ENERGY.Power` too, or the path of a CSV, TSV, Parquet or Arrow file. */
export type GivenTable = { table: unknown; path?: undefined } | { path: string; table?: undefined };

/** As the fit node; `model` is the name to keep it under, by default the target's. */
export type Training = GivenTable &
  Omit<TrainRequest, 'table' | 'trainSetUploadId' | 'upload' | 'model' | 'target'> &
  Hooks & {
    target: string;
    model?: string;
    /** With `replace: 'better'`: told whether the new model took over, and why. */
    onChallenger?: (challenger: Challenger) => void;
  };

/** As the predict node; `model` is a card or a name. */
export type Asking = GivenTable & Omit<PredictRequest, 'table' | 'testSetUploadId'> & Hooks;

/** As the advise node; `model` is a card or a name, `row` the row as it is now. */
export type AdviceWish = AdviseRequest & Hooks;

/** Trains and predicts on tables, as the fit and predict nodes do with a message. */
export class Tabular {
  private readonly predictor;
  private readonly advisor;
  private closing: Promise<void> | undefined;

  /** @internal Use `connect`. */
  constructor(
    private readonly connection: Connection,
    private readonly cards: ModelCards,
    private readonly service: ServiceHandle | undefined,
    settings: PredictSettings | undefined,
  ) {
    this.predictor = connection.predictor(settings);
    this.advisor = new Advisor(connection, this.predictor);
  }

  /**
   * Fits a model and keeps its card; the answer is the card in charge. An unchanged table with unchanged options answers
   * with the card that is there, and so does one that does not take over by `replace: 'better'`.
   * @throws ServiceError
   */
  async train(training: Training): Promise<ModelCard> {
    const given = givenBy(training);
    checkHooks('train', given);
    const { target, model = target } = given;
    if (target === undefined || model === undefined) {
      throw new ServiceError('target.missing', 'No target is named: give the column to predict as target.');
    }
    const request = { ...given, table: await chooseInput(given), target, model };
    checkTraining(request);
    const { card, challenger } = await this.connection.train(request, given);
    if (challenger !== undefined) {
      given.onChallenger?.(challenger);
    }
    return card;
  }

  /**
   * Predicts; `table` of the answer is the table with the predictions attached. Calls at the same time share requests.
   * @throws ServiceError
   */
  async predict(asking: Asking): Promise<PredictOutcome> {
    const given = givenBy(asking);
    checkHooks('predict', given);
    const rests: Rests = new Map();
    const request = { ...given, table: await chooseInput(given, rests) };
    checkAsking(request);
    const outcome = await this.predictor.predict(request, given);
    addRests(outcome.table, rests);
    return outcome;
  }

  /**
   * Which setting to change, and by how much, so that the model expects the goal: `set` has the columns with their new
   * values, and is empty where nothing is to be changed, null where nothing reaches the goal on known ground.
   * @throws ServiceError
   */
  async advise(wish: AdviceWish): Promise<Advice> {
    const given = givenBy(wish);
    checkHooks('advise', given);
    const row = await flatTable(given.row, { onList: refuseList });
    const request = { ...given, row, vary: given.vary ?? [] } as AdviseRequest;
    checkQuestion(request);
    return (await this.advisor.advise(request, given)).advice;
  }

  /**
   * The cards of the models of this service, the newest first: copies.
   *
   * @throws ServiceError `storage.failed` where they cannot be read now, or a newer version of this package wrote them
   */
  models(): ModelCard[] {
    this.cards.assertRead();
    return this.cards.list().map(cloneJson);
  }

  /**
   * Puts an earlier version of a model in charge, without a fit: the one that was in charge before, or that of the
   * number. Answers with its card.
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBack(model: string, version?: number): Promise<ModelCard> {
    return this.connection.rollBack(model, version ?? true);
  }

  /**
   * Chooses from which probability on a model of two classes answers the rarer one: a number, the best for `accuracy`,
   * `f1` or `costs`, or null for the more probable class.
   *
   * @throws ServiceError `model.unknown`, `validation.failed`
   */
  chooseThreshold(model: string, threshold: ThresholdWish): Promise<ModelCard> {
    return this.connection.chooseThreshold(model, threshold);
  }

  /** Gives a model another name, with all of its versions. @throws ServiceError `model.unknown`, `validation.failed` */
  async rename(model: string, name: string): Promise<ModelCard> {
    checkValue('rename: name', name, ANY_TEXT);
    return this.connection.rename(model, name);
  }

  /** Deletes a model with all of its versions, from the embedded service too. @throws ServiceError `model.unknown` */
  delete(model: string): Promise<void> {
    return this.connection.delete(model);
  }

  /**
   * Writes a model to a file, which `importModel` takes here or elsewhere; `model` may be `name@version`.
   * @throws ServiceError `model.unknown`, `config.invalid`, `storage.failed`
   */
  async exportModel(model: string, file: string): Promise<void> {
    checkValue('exportModel: file', file, ANY_TEXT);
    const bytes = await wholeFile(await this.connection.exportModel(model));
    try {
      await writeFileAtomic(file, bytes, true);
    } catch (error) {
      throw new ServiceError('storage.failed', `${file} cannot be written: ${readReason(error)}.`);
    }
  }

  /**
   * Takes a model from a file that `exportModel` wrote, under the name that it had or another one. Answers with its card.
   * @throws ServiceError `file.unreadable`, `limit.exceeded`, `validation.failed` (the name is taken), `config.invalid`
   */
  async importModel(file: string, name?: string): Promise<ModelCard> {
    checkValue('importModel: file', file, ANY_TEXT);
    checkValue('importModel: name', name, optional(ANY_TEXT));
    let bytes: Buffer;
    try {
      bytes = await readModelBytes(file);
    } catch (error) {
      throw error instanceof ServiceError
        ? error
        : new ServiceError('file.unreadable', `${file} cannot be read: ${readReason(error)}.`);
    }
    return this.connection.importModel(bytes, name);
  }

  /**
   * The model in charge of a name, for other computers: what `exportModel` writes, with the number of its publication.
   * Nothing has changed since the last one: the same number.
   * @throws ServiceError `model.unknown`, `config.invalid`
   */
  async publishModel(model: string): Promise<Buffer> {
    return wholeFile(await this.connection.publishModel(model));
  }

  /**
   * Takes what `publishModel` answered elsewhere in, as the newest version of its name, unless the last of the same
   * publisher was as new. Answers with the card in charge.
   * @throws ServiceError `file.unreadable`, `limit.exceeded`, `config.invalid`; the model in charge stays then
   */
  async takeModel(bytes: Buffer): Promise<ModelCard> {
    if (!Buffer.isBuffer(bytes)) {
      throw new ServiceError('validation.failed', 'takeModel takes the Buffer that publishModel answered.');
    }
    return (await this.connection.takeModel(bytes)).card;
  }

  /** Ends what is under way with `closed`, and an embedded service that this started. */
  close(): Promise<void> {
    // The file of the cards may be open for others too, and is let go of once.
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    await this.predictor.close();
    await this.connection.close();
    await this.cards.close();
    await this.service?.close();
  }
}

const CONNECTING = {
  ...{
    dataDir: optional(ANY_TEXT),
    baseUrl: optional(ANY_TEXT),
    endpoint: optional(ANY_TEXT),
    models: optional(ANY_TEXT),
  },
  settings: optional(OBJECT),
  trainRows: optional(ANY_TEXT),
  requestBytes: optional(numberFrom(1)),
};

/**
 * Opens the embedded service in `dataDir`, or a connection to the service at `baseUrl` or the route at `endpoint`.
 * @throws ServiceError `config.invalid`, `storage.failed`
 */
export async function connect(options: ConnectOptions): Promise<Tabular> {
  const { dataDir, models, settings, endpoint, requestBytes, trainRows, ...given } = givenBy(options);
  checkGiven('connect', givenBy(options), CONNECTING, 'config.invalid');
  checkSettings(settings ?? {});
  const kind = kindNamed({ dataDir, baseUrl: given.baseUrl, endpoint });
  const opened: { connection?: Connection } = {};
  const service =
    dataDir === undefined
      ? undefined
      : await startService({ dataDir, onMoved: () => opened.connection?.reconnect() });
  const clientOptions = (): ClientOptions => ({
    ...given,
    ...(service === undefined
      ? { baseUrl: endpoint ?? given.baseUrl! }
      : { baseUrl: service.url, token: service.token }),
  });
  const { baseUrl, concurrency, log } = clientOptions();
  const onWarning = (text: string): void => log?.('warn', text);
  const key = serviceKey(kind, baseUrl, given.dialect?.apiName);
  const asked = openService(kind, {
    key,
    options: () => Promise.resolve({ ...clientOptions(), folder: trainRows, requestBytes }),
    onWarning,
  });
  try {
    // Made now, so that wrong options show.
    await asked.client();
    const file = models ?? (dataDir === undefined ? undefined : path.join(dataDir, 'models.json'));
    const cards = ModelCards.open({ path: file, service: key, onWarning });
    const connection = new Connection({ service: asked, cards, concurrency, log });
    opened.connection = connection;
    return new Tabular(connection, cards, service, settings);
  } catch (error) {
    await service?.close();
    throw error;
  }
}

async function readModelBytes(file: string): Promise<Buffer> {
  const { size } = await stat(file);
  if (size > MAX_MODEL_FILE_BYTES) {
    throw new ServiceError(
      'limit.exceeded',
      `${file} has ${size} bytes; a model may have ${MAX_MODEL_FILE_BYTES}.`,
    );
  }
  return readFile(file);
}

/** A program in JavaScript may leave the argument out. */
function givenBy<T extends object>(argument: T | undefined | null): Partial<T> {
  return argument ?? {};
}

/**
 * @param rests takes in what of nested rows is no value of a column; of a train set undefined
 * @throws ServiceError `table.invalid` where a cell of nested rows is a list, which has no column
 */
async function chooseInput(
  { table, path: file }: { table?: unknown; path?: string },
  rests?: Rests,
): Promise<TableInput> {
  checkValue('path', file, optional(ANY_TEXT));
  const hooks = {
    onList: refuseList,
    onTwice: refuseTwice,
    onRest: (...one: Parameters<Rests['set']>) => rests?.set(...one),
    numbers: rests === undefined,
  };
  return file === undefined ? { value: await flatTable(table, hooks) } : { path: file };
}

function refuseTwice(column: string): never {
  throw new ServiceError(
    'table.invalid',
    `A row has two values of column "${column}", one by its name and one within an object. Rename one of them.`,
  );
}

function refuseList(column: string): never {
  throw new ServiceError(
    'table.invalid',
    `Column "${column}" has lists as cells. A cell is a number, text, a truth value or a date: give each value a column of its own.`,
  );
}
