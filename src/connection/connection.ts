import { setMaxListeners } from 'node:events';

import type { ErrorCosts } from '../metrics/answer-costs';
import type { ModelCard, UploadCard } from '../models/cards';
import { chooseLimits, chooseVersion, maxTestRows } from '../models/limits';
import type { ModelCards } from '../models/model-cards';
import { withoutEmptyTexts } from '../models/model-request';
import {
  type Allowance,
  assertKeepsUploads,
  closedError,
  type Context,
  type Service,
  type Work,
} from '../models/service';
import type {
  CheckLimitsRequest,
  CostRequest,
  Hooks,
  LimitExceeded,
  PredictOutcome,
  PredictRequest,
  PredictSettings,
  ThresholdWish,
  TrainRequest,
  TrainResult,
  UploadRequest,
} from '../models/types';
import { Predictor } from '../predict/predictor';
import { fitIfBetter } from '../train/compare';
import { takeUpFit } from '../train/run-fit';
import { fitWork, releaseFormer, train } from '../train/train';
import { linkedController, Semaphore, untilAborted } from '../util/concurrency';
import { cloneJson } from '../util/values';
import { toServiceError } from '../wire/service-error';
import type { ModelLimits } from '../wire/types';
import type { OutputType } from '../wire/vocabulary';
import { checkLimits, estimatedCost } from './checks';
import {
  exportModel,
  importModel,
  type ModelFile,
  publishModel,
  rollBack,
  takeModel,
  type TakenModel,
} from './manage-models';
import { upload } from './upload';

export interface ConnectionOptions {
  /** The connection closes it. */
  service: Service;
  cards: ModelCards;
  /** Predict batches at a time. Default 4, as the client's. */
  concurrency?: number;
  log?: (level: 'debug' | 'warn', text: string) => void;
}

/** What one config node holds: service, model cards, predict slots. */
export class Connection {
  readonly cards: ModelCards;
  readonly service: Service;
  private readonly context: Context;
  private readonly closing = new AbortController();
  private readonly working = new Set<Promise<unknown>>();
  private shared: Predictor | undefined;

  constructor(private readonly options: ConnectionOptions) {
    this.cards = options.cards;
    this.service = options.service;
    // Each piece of work under way listens to it.
    setMaxListeners(0, this.closing.signal);
    this.context = {
      service: options.service,
      cards: options.cards,
      slots: new Semaphore(Math.max(1, options.concurrency ?? 4)),
      predictors: new Set(),
    };
    this.takeUpFits();
    // Left by a process that was killed before the service had removed them.
    this.releaseFormer();
  }

  /** Fits that were under way in the service when this was last closed: messages for their models wait for them. */
  private takeUpFits(): void {
    const onWarning = (text: string): void => this.options.log?.('warn', text);
    for (const pending of this.cards.pending()) {
      const underWay = this.cards.beginFit(pending.card.name, pending);
      void this.work({ onWarning }, (work) => takeUpFit(work, pending, underWay)).then(
        () => this.releaseFormer(),
        (error: unknown) => underWay.failed(toServiceError(error)),
      );
    }
  }

  /** The service did not answer when it was last asked for a fit or a prediction. */
  get isAway(): boolean {
    return this.service.reach.isAway;
  }

  /** What a fit node does. The fit is announced at once: messages for its model wait from now on. */
  async train(given: TrainRequest, hooks: Hooks = {}): Promise<TrainResult> {
    const { model, thinking } = given;
    const request: TrainRequest = {
      ...withoutEmptyTexts(given),
      model,
      thinking: thinking && withoutEmptyTexts(thinking),
    };
    this.cards.assertUsable();
    const underWay = this.cards.beginFit(request.model);
    try {
      const result = await this.work(hooks, (work) =>
        request.replace === 'better'
          ? fitIfBetter(work, request, underWay)
          : train(fitWork(work, underWay), request),
      );
      underWay.ended();
      this.releaseFormer();
      return result;
    } catch (thrown) {
      const error = toServiceError(thrown);
      underWay.failed(error);
      throw error;
    }
  }

  /** Puts an earlier version of a model in charge: see `rollBack` of management. */
  rollBack(name: string, to: true | number = true, hooks: Hooks = {}): Promise<ModelCard> {
    return this.workOnCards(hooks, (work) => rollBack(work, name, to));
  }

  /** Gives a model another name, with all of its versions. @throws ServiceError `model.unknown`, `validation.failed` */
  rename(name: string, to: string, hooks: Hooks = {}): Promise<ModelCard> {
    return this.workOnCards(hooks, async () => {
      const card = cloneJson(this.cards.rename(name, to));
      await this.cards.flush();
      return card;
    });
  }

  /**
   * Chooses from which probability on a model of two classes answers the rarer one: a number, the best for `accuracy`,
   * `f1` or `costs`, or null for the more probable class. It takes hold between two batches; nothing is fitted.
   *
   * @throws ServiceError `model.unknown`, `validation.failed`
   */
  chooseThreshold(name: string, wish: ThresholdWish, hooks: Hooks = {}): Promise<ModelCard> {
    return this.workOnCards(hooks, async () => {
      const card = cloneJson(this.cards.chooseThreshold(name, wish));
      await this.cards.flush();
      return card;
    });
  }

  /**
   * Chooses what a miss and a false alarm of a model of two classes cost, or null for none: its cheapest threshold is
   * found anew. The next fit keeps them, unless it is given costs of its own.
   *
   * @throws ServiceError `model.unknown`, `validation.failed`
   */
  chooseCosts(name: string, costs: ErrorCosts | null, hooks: Hooks = {}): Promise<ModelCard> {
    return this.workOnCards(hooks, async () => {
      const card = cloneJson(await this.cards.chooseCosts(name, costs));
      await this.cards.flush();
      return card;
    });
  }

  /** Deletes a model with all of its versions, here and in the embedded service. @throws ServiceError `model.unknown` */
  async delete(name: string, hooks: Hooks = {}): Promise<void> {
    await this.workOnCards(hooks, () => {
      this.cards.remove(name);
      return this.cards.flush();
    });
    this.releaseFormer();
  }

  /** A model as one file, for `importModel` here or elsewhere: see `exportModel` of management. */
  exportModel(name: string, hooks: Hooks = {}): Promise<ModelFile> {
    return this.workOnCards(hooks, (work) => exportModel(work, name));
  }

  /** Takes a model from a file, under the name that it had or another: see `importModel` of management. */
  importModel(file: Buffer, name?: string, hooks: Hooks = {}): Promise<ModelCard> {
    return this.cards
      .move(() => this.workOnCards(hooks, (work) => importModel(work, file, name)))
      .catch((error: unknown) => {
        // What the service may have of it already.
        this.releaseFormer();
        throw error;
      });
  }

  /** The model in charge of a name as a file for other computers: see `publishModel` of management. */
  publishModel(name: string, hooks: Hooks = {}): Promise<ModelFile> {
    return this.workOnCards(hooks, (work) => publishModel(work, name));
  }

  /** Takes a published model in, as the newest version of its name: see `takeModel` of management. */
  takeModel(file: Buffer, hooks: Hooks = {}): Promise<TakenModel> {
    return this.cards
      .move(() => this.workOnCards(hooks, (work) => takeModel(work, file)))
      .finally(() => this.releaseFormer());
  }

  /** What a fit has replaced may go, after its result: nobody waits for that. */
  private releaseFormer(): void {
    if (this.cards.superfluous().length === 0) {
      return;
    }
    void this.cards
      .move(() => this.work({}, (work) => releaseFormer(work)))
      .catch((error: unknown) => {
        this.options.log?.('debug', `Former models stay for now: ${toServiceError(error).message}`);
      });
  }

  /** What an upload node does. */
  upload(request: UploadRequest, hooks: Hooks = {}): Promise<UploadCard> {
    return this.work(hooks, (work) => {
      assertKeepsUploads(work, 'the upload node has no use');
      return upload(work, withoutEmptyTexts(request));
    });
  }

  /** A predictor of its own for a predict node: its queue, its batches. Close it with the node. */
  predictor(settings: PredictSettings = {}): Predictor {
    return new Predictor(this.context, settings);
  }

  /** One predict outside any node's queue, with default settings. */
  predict(request: PredictRequest, hooks?: Hooks): Promise<PredictOutcome> {
    if (this.closing.signal.aborted) {
      return Promise.reject(closedError());
    }
    this.shared ??= this.predictor();
    return this.shared.predict(request, hooks);
  }

  /** The service's limits (S 4.5), at most an hour old, older when the service is away: a copy of the caller's own. */
  limits(hooks: Hooks = {}): Promise<ModelLimits> {
    return this.work(hooks, async ({ signal }) => cloneJson(await this.service.limits.get(signal)));
  }

  /** Rows of a model's test set that go in one predict. */
  rowsAtOnce(card: ModelCard, outputType: OutputType, hooks: Hooks = {}): Promise<number> {
    return this.work(hooks, async ({ signal }) => {
      const limits = await this.service.limits.forChecks(signal);
      const { rows: trainRows, columns, options } = card;
      const set = chooseLimits(limits, chooseVersion(limits, options));
      return maxTestRows(set, { trainRows, columns: columns.length, outputType });
    });
  }

  /** Tokens used and requests left, where a hosted service says so. */
  allowance(hooks: Hooks = {}): Promise<Allowance> {
    return this.work(hooks, ({ signal }) => this.service.allowance(signal));
  }

  /** The limits that a table goes beyond; empty where it is within them. */
  checkLimits(request: CheckLimitsRequest, hooks: Hooks = {}): Promise<LimitExceeded[]> {
    return this.work(hooks, async ({ signal }) => {
      return checkLimits(await this.service.limits.get(signal), withoutEmptyTexts(request), signal);
    });
  }

  /** Estimated cost in tokens (S 4.6). */
  estimateCost(request: CostRequest, hooks: Hooks = {}): Promise<number> {
    return this.work(hooks, ({ signal }) => estimatedCost(this.context, withoutEmptyTexts(request), signal));
  }

  /** The service is at another address now: the next call makes another client. */
  reconnect(): void {
    this.service.reconnect();
  }

  /** Aborts what runs, settles what waits with the code `closed`, closes the client. */
  async close(): Promise<void> {
    this.closing.abort();
    this.service.stop();
    await Promise.all([...this.context.predictors].map((predictor) => predictor.close()));
    await Promise.allSettled(this.working);
    await this.service.close();
    await this.cards.flush();
  }

  /** As `work`. @throws ServiceError `storage.failed` too, where the cards are not to be used */
  private async workOnCards<Result>(hooks: Hooks, run: (work: Work) => Promise<Result>): Promise<Result> {
    this.cards.assertUsable();
    return this.work(hooks, run);
  }

  /** Runs something that ends with the connection: an abort settles it at once. Answers ServiceErrors only. */
  private async work<Result>(hooks: Hooks, run: (work: Work) => Promise<Result>): Promise<Result> {
    const { controller, unlink } = linkedController(hooks.signal, this.closing.signal);
    const { signal } = controller;
    if (signal.aborted) {
      unlink();
      throw closedError();
    }
    const working = run({ ...this.context, ...hooks, signal });
    this.working.add(working);
    const stop = (): void => {
      this.working.delete(working);
      unlink();
    };
    working.then(stop, stop);
    try {
      return await untilAborted(working, signal);
    } catch (error) {
      throw signal.aborted ? closedError() : toServiceError(error);
    }
  }
}
