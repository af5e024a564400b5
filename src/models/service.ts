import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ServiceClient } from '../client/service-client';
import type {
  CallOptions,
  FitOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  RateLimit,
  TrainSetOptions,
  TrainSetUpload,
} from '../client/types';
import { BoundedMap } from '../util/collections';
import { type Semaphore, untilAborted } from '../util/concurrency';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { EstimateCostRequest, FitResponse, ModelLimits, Usage } from '../wire/types';
import type { ModelCards } from './model-cards';
import type { Hooks, TrainRequest } from './types';

/** The error of work that was under way, or waiting, when its node or connection was closed. */
export function closedError(): ServiceError {
  return new ServiceError('closed', 'The work was cancelled because the node was closed or redeployed.');
}

const FRESH_MS = 3_600_000;
const MAX_KNOWN = 1000;

/** Estimated costs (S 4.6), asked for once an hour per size. */
class CostEstimates {
  private readonly known = new BoundedMap<string, { cost: number; at: number }>(MAX_KNOWN);

  constructor(private readonly client: () => Promise<Pick<ServiceClient, 'estimateCost'>>) {}

  async estimate(request: EstimateCostRequest, signal?: AbortSignal): Promise<number> {
    const key = JSON.stringify([
      request.operation,
      request.model_version,
      request.train_rows,
      request.test_rows,
      request.raw_columns,
      request.n_estimators,
      request.thinking_effort,
    ]);
    const known = this.known.get(key);
    if (known !== undefined && performance.now() - known.at < FRESH_MS) {
      return known.cost;
    }
    const client = await this.client();
    const { estimated_cost: cost } = await client.estimateCost(request, { signal });
    this.known.set(key, { cost, at: performance.now() });
    return cost;
  }

  /** @throws ServiceError `cost.exceeded` when one predict call is estimated to cost more than `maxCost` */
  async assertAtMost(maxCost: number, request: EstimateCostRequest, signal?: AbortSignal): Promise<void> {
    const cost = await this.estimate(request, signal);
    if (cost > maxCost) {
      const { test_rows: rows = 0, train_rows: trained = 0 } = request;
      // A model of many rows costs as much for one row as for some: fewer of them are no help.
      const help = trained > rows ? 'Fit the model on fewer rows' : 'Send fewer rows';
      throw new ServiceError(
        'cost.exceeded',
        `Predicting ${rows} rows with a model of ${trained} is estimated to cost ${cost}, more than the ${maxCost} ` +
          `allowed per predict call: nothing was sent. ${help}, or raise the maximum cost.`,
      );
    }
  }
}

/** After a failure, checks do without limits for so long before the service is asked again. */
const RETRY_MS = 30_000;
/** A check waits no longer than this for the limits: the work itself will say what is wrong. */
const CHECK_TIMEOUT_MS = 10_000;

const NO_LIMITS: ModelLimits = {};

/** The service's limits, asked for once an hour (S 4.5); older ones serve while the service is away. */
export class LimitsCache {
  private value: ModelLimits | undefined;
  private readAt = -Infinity;
  private failedAt = -Infinity;
  private reading: Promise<ModelLimits> | undefined;
  private warned = false;

  constructor(
    private readonly client: () => Promise<Pick<ServiceClient, 'getModelLimits'>>,
    private readonly warn: (text: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /**
   * The limits for a limits node; none (`{}`), with one warning, where the service has no such route.
   *
   * @throws ServiceError when the service is away and no older limits are known
   */
  async get(signal?: AbortSignal): Promise<ModelLimits> {
    if (this.value !== undefined && this.now() - this.readAt < FRESH_MS) {
      return this.value;
    }
    try {
      return await untilAborted(this.read(), signal);
    } catch (error) {
      if (this.value !== undefined && signal?.aborted !== true) {
        return this.value;
      }
      throw error;
    }
  }

  /** The limits to check against; none (`{}`) when they are not to be had. Never waits where some are known. */
  async forChecks(signal?: AbortSignal): Promise<ModelLimits> {
    const failedLately = this.now() - this.failedAt < RETRY_MS;
    if (this.value !== undefined) {
      if (this.now() - this.readAt >= FRESH_MS && !failedLately) {
        this.readForChecks().catch(() => undefined);
      }
      return this.value;
    }
    if (failedLately) {
      return NO_LIMITS;
    }
    try {
      return await untilAborted(this.readForChecks(), signal);
    } catch {
      signal?.throwIfAborted();
      return NO_LIMITS;
    }
  }

  private async readForChecks(): Promise<ModelLimits> {
    try {
      return await this.read(CHECK_TIMEOUT_MS);
    } catch (error) {
      this.failedAt = this.now();
      throw error;
    }
  }

  /** One request at a time, shared by all callers. */
  private read(timeoutMs?: number): Promise<ModelLimits> {
    this.reading ??= this.request(timeoutMs).finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  private async request(timeoutMs: number | undefined): Promise<ModelLimits> {
    const client = await this.client();
    try {
      this.value = await client.getModelLimits({ timeoutMs });
    } catch (error) {
      if (toServiceError(error).code !== 'not_found') {
        throw error;
      }
      this.value ??= NO_LIMITS;
      this.warnOnce(
        'The service has no limits route: the size of tables is not checked before they are sent.',
      );
    }
    this.readAt = this.now();
    return this.value;
  }

  private warnOnce(text: string): void {
    if (!this.warned) {
      this.warned = true;
      this.warn(text);
    }
  }
}

/** How long `close` waits for a client that is being made. */
const OPENING_MS = 2000;
const AWAY: ReadonlySet<string> = new Set(['service.unavailable', 'service.timeout']);

/** What the account has left, where the service says so. */
export interface Allowance {
  /** Tokens; a limit of -1 means that there is none. */
  usage?: Usage;
  /** Requests, as the last answer said. */
  rate_limit?: RateLimit;
}

/** What a service is made of: its name, and how it is reached. */
export interface ServiceSetup<Client> {
  /** Under which its model cards are kept: see `serviceKey`. */
  key: string;
  /** Makes a client, when one is first needed; the service closes it. */
  open: () => Promise<Client>;
  /** What fits there, where that is known: a newer one makes another model of the same train set. */
  learner?: string;
  onWarning?: (text: string) => void;
}

/**
 * A service as the work with it sees it: what it keeps, what it charges, what it can do beyond the specification. Each
 * kind answers every question, so nothing else asks which kind it is. Methods reject with a ServiceError.
 */
export abstract class Service<Client extends ServiceCalls = ServiceCalls> {
  readonly key: string;
  readonly learner: string | undefined;
  readonly reach = new Reach();
  readonly limits: LimitsCache;
  readonly costs: CostEstimates;
  private readonly oneClient: OneClient<Client>;
  private readonly closing = new AbortController();

  /** It runs on this computer: tables cross no network, and more rows are no matter. */
  abstract readonly isLocal: boolean;
  /** It may charge for fits and predicts. */
  abstract readonly isMetered: boolean;
  /** It keeps what is uploaded. One that does not gets the train rows with each predict, from this computer. */
  abstract readonly keepsUploads: boolean;
  /** It draws its folds as it is told, and leaves a group that comes with the features out of them. */
  abstract readonly takesFolds: boolean;
  /** It finds rows that repeat others by itself, and learns from them and scores them once. */
  abstract readonly findsCopies: boolean;
  /** It tells the causes of a prediction with the prediction. */
  abstract readonly tellsCauses: boolean;
  /** It takes thinking fits, and draws their folds by columns of the train set. */
  abstract readonly thinks: boolean;

  constructor({ key, open, learner, onWarning }: ServiceSetup<Client>) {
    this.key = key;
    this.learner = learner;
    // Each call that waits for the client listens to it.
    setMaxListeners(0, this.closing.signal);
    this.oneClient = new OneClient(open);
    const client = (): Promise<Client> => this.client();
    this.limits = new LimitsCache(client, (text) => onWarning?.(text));
    this.costs = new CostEstimates(client);
  }

  /** @throws ServiceError `config.invalid` for what of a fit it has no way for */
  abstract checkFit(request: Pick<TrainRequest, 'thinking' | 'systems'>, hooks: Hooks): void;

  /** Uploads a train set, with what this service knows it by. */
  abstract uploadTrainSet(
    set: TrainSetUpload,
    options: TrainSetOptions,
  ): Promise<{ train_set_upload_id: string; reused: boolean }>;

  /** Whether a train set of this size is fitted in the background, and how long that may take, in milliseconds. */
  abstract backgroundFit(
    bytes: number,
    signal: AbortSignal | undefined,
  ): Promise<Pick<FitOptions, 'background' | 'backgroundMs'>>;

  /** Waits for a fit that goes on there; undefined where none does. */
  abstract resumeFit(fittedId: string, options: CallOptions): Promise<FitResponse | undefined>;

  /** How far the newest fit of a train set is, 0 to 1; undefined where that is not known. */
  abstract fitProgress(uploadId: string, options: CallOptions): Promise<number | undefined>;

  /** Whether a model may be there. */
  abstract hasModel(fittedId: string, options: CallOptions): Promise<boolean>;

  /** Removes an upload with its models, or a model. @returns whether this service removes anything */
  abstract remove(id: string, options: CallOptions): Promise<boolean>;

  /** The bytes of a model; undefined where it stays in the service. @throws ServiceError `config.invalid` */
  abstract exportModel(fittedId: string, options: CallOptions): Promise<Uint8Array | undefined>;

  /**
   * Takes a model from a file.
   *
   * @param fittedId its id where it was fitted
   * @param model its bytes, where the file has them
   * @returns its id here; undefined where the bytes are needed and missing
   * @throws ServiceError `config.invalid` where models are not taken in
   */
  abstract takeModel(
    fittedId: string,
    model: Buffer | undefined,
    options: CallOptions,
  ): Promise<string | undefined>;

  /** Tokens used and requests left; empty where the service does not say. */
  abstract allowance(signal: AbortSignal | undefined): Promise<Allowance>;

  /** The one client, made when it is first needed. @throws ServiceError `closed` as soon as the service is closed */
  client(): Promise<Client> {
    if (this.closing.signal.aborted) {
      return Promise.reject(closedError());
    }
    return this.oneClient.ready ?? untilAborted(this.oneClient.get(), this.closing.signal);
  }

  /** It is at another address now: the next call makes another client. */
  reconnect(): void {
    this.oneClient.leave();
  }

  /** From now on no call begins, and none waits for a client. */
  stop(): void {
    this.closing.abort();
  }

  async close(): Promise<void> {
    this.stop();
    await this.oneClient.close();
  }
}

/** The calls that are the same for every service. */
export type ServiceCalls = Pick<
  ServiceClient,
  'getModelLimits' | 'uploadTrainSet' | 'uploadTestSet' | 'fit' | 'predict' | 'estimateCost' | 'close'
> & {
  // Written out: the client's own is marked deprecated, for programs.
  predictLegacy(request: LegacyPredictCall, options?: CallOptions): Promise<LegacyPredictResult>;
};

/** The one client of a service, made when it is first needed. */
class OneClient<Client extends ServiceCalls> {
  /** Once it is made. */
  ready: Promise<Client> | undefined;
  private opened: Promise<Client> | undefined;
  /** Clients of a service that has moved: what was under way may still use them. */
  private readonly former = new Set<Promise<Client>>();

  constructor(private readonly open: () => Promise<Client>) {}

  /** One that could not be made is tried again at the next call. */
  get(): Promise<Client> {
    if (this.opened === undefined) {
      const opened = this.open();
      this.opened = opened;
      opened.then(
        () => {
          if (this.opened === opened) {
            this.ready = opened;
          }
        },
        () => {
          if (this.opened === opened) {
            this.opened = undefined;
          }
        },
      );
    }
    return this.opened;
  }

  /** The next call makes another one; this one is closed at the end. */
  leave(): void {
    if (this.opened !== undefined) {
      this.former.add(this.opened);
      this.opened = this.ready = undefined;
    }
  }

  /** Closes all there ever were. One that is still being made closes itself when it is there. */
  async close(): Promise<void> {
    this.leave();
    const closed = [...this.former].map((opened) =>
      opened.then(
        (client) => client.close(),
        () => undefined,
      ),
    );
    await Promise.race([Promise.all(closed), sleep(OPENING_MS, undefined, { ref: false })]);
  }
}

/** Whether the service answered when it was last asked for something. Nothing is asked for this alone. */
export class Reach {
  private failed = false;

  get isAway(): boolean {
    return this.failed;
  }

  /** Hears how a request ends. */
  async of<Answer>(request: Promise<Answer>): Promise<Answer> {
    try {
      const answer = await request;
      this.failed = false;
      return answer;
    } catch (error) {
      this.failed = AWAY.has(toServiceError(error).code);
      throw error;
    }
  }
}

/** What a connection lends to the work of its nodes. */
export interface Context {
  readonly service: Service;
  readonly cards: ModelCards;
  /** Predicts at a time, over all predictors. */
  readonly slots: Semaphore;
  /** Predictors at work, to be closed with the connection. */
  readonly predictors: Set<{ close: () => Promise<void> }>;
}

/** One piece of work of a connection: what it works with, how it is aborted, and whom it tells how far it is. */
export interface Work extends Context, Hooks {}

/** How long a service may take to say whether it has a model. */
const ASK_MS = 10_000;

/**
 * Whether the service has a model, as far as it says so; one that it has not is noted as dead. Its folder may have been
 * removed while it ran.
 *
 * @throws ServiceError where it cannot be asked
 */
export async function isStillThere({ cards, service, signal }: Work, id: string): Promise<boolean> {
  const isThere = await service.hasModel(id, { signal, timeoutMs: ASK_MS });
  if (!isThere) {
    cards.markDead(id);
  }
  return isThere;
}

/** @throws ServiceError `config.invalid` where the service knows no ids of uploads */
export function assertKeepsUploads({ service }: Pick<Context, 'service'>, what: string): void {
  if (!service.keepsUploads) {
    throw new ServiceError(
      'config.invalid',
      `An on-premises endpoint keeps no uploads, so ${what}. Give the table to the fit node or the predict node.`,
    );
  }
}
