/* eslint-disable @typescript-eslint/no-unused-vars */
import { ServiceError } from '../wire/service-error';
import type { ModelCards } from './model-cards';
import { Predictor } from './predictor';
import type {
  CheckLimitsRequest,
  CostRequest,
  Hooks,
  LimitExceeded,
  PredictOutcome,
  PredictRequest,
  PredictSettings,
  TrainRequest,
  TrainResult,
  UploadCard,
  UploadRequest,
} from './types';

/** What scoring needs of the service's client, a ServiceClient of src/client. */
export interface ConnectionOptions<Client = unknown> {
  /** Base URL and API name, or `embedded`. */
  key: string;
  /** Called when the client is first needed; the connection closes it. */
  client: () => Promise<Client>;
  cards: ModelCards;
  /** Predict batches at a time. Default 4, as the client's. */
  concurrency?: number;
  log?: (level: 'debug' | 'warn', text: string) => void;
}

/** What one config node holds: client, limits cache, model cards, predict slots. */
export class Connection {
  readonly cards: ModelCards;
  readonly key: string;

  constructor(options: ConnectionOptions) {
    this.cards = options.cards;
    this.key = options.key;
  }

  /** The way of a fit node. */
  train(_request: TrainRequest, _hooks?: Hooks): Promise<TrainResult> {
    return Promise.reject(notYet());
  }

  /** The way of an upload node. */
  upload(_request: UploadRequest, _hooks?: Hooks): Promise<UploadCard> {
    return Promise.reject(notYet());
  }

  /** A predictor of its own for a predict node: its queue, its batches. Close it with the node. */
  predictor(settings?: PredictSettings): Predictor {
    return new Predictor(this, settings ?? {});
  }

  /** One predict outside any node's queue, with default settings. */
  predict(request: PredictRequest, hooks?: Hooks): Promise<PredictOutcome> {
    return this.predictor().predict(request, hooks);
  }

  /** The service's limits (S 4.5), at most an hour old, older when the service is away. */
  limits(_hooks?: Hooks): Promise<Record<string, unknown>> {
    return Promise.reject(notYet());
  }

  /** The limits that a table goes beyond. */
  checkLimits(_request: CheckLimitsRequest, _hooks?: Hooks): Promise<LimitExceeded[]> {
    return Promise.reject(notYet());
  }

  /** Estimated cost in tokens (S 4.6). */
  estimateCost(_request: CostRequest, _hooks?: Hooks): Promise<number> {
    return Promise.reject(notYet());
  }

  /** Aborts what runs, settles what waits with the code `closed`, closes the client. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}

function notYet(): ServiceError {
  return new ServiceError('internal', 'Not built yet.');
}
