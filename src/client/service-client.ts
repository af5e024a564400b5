import { schemas } from '../wire/check';
import { ANY_TEXT, anyAmong, checkValue } from '../wire/given';
import type {
  EstimateCostRequest,
  EstimateCostResponse,
  FitResponse,
  ModelLimits,
  PrepareTestSetUploadRequest,
  PrepareTestSetUploadResponse,
  PrepareTrainSetUploadRequest,
  PrepareTrainSetUploadResponse,
  ServiceSettings,
  Usage,
} from '../wire/types';
import {
  askDeletion,
  askModelExport,
  askModelImport,
  assertRequest,
  Core,
  getModelLimits,
  getSettings,
  getUsage,
  warm,
} from './core';
import { callFit, findProgress, resumeFit } from './fit';
import { callLegacyPredict, callPredict, callRowsPredict, countOverhead } from './predict';
import { ask } from './retry';
import type { ClientOptions } from './settings';
import type {
  CallKind,
  CallOptions,
  FitCall,
  FitOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  RateLimit,
  RowsPredictCall,
  RowsPredictResult,
  TestSetUpload,
  TrainSetOptions,
  TrainSetUpload,
} from './types';
import { askTestSetUpload, askTrainSetUpload, uploadTestSet, uploadTrainSet } from './upload';

const KINDS = anyAmong(['fit', 'predict', 'upload']);

/**
 * The service, a method per route (S 4). Every method rejects with a ServiceError. One client is one set of slots,
 * holds and connections, so whatever shares a service shares its client.
 */
export class ServiceClient {
  private readonly core: Core;

  /** @throws ServiceError `config.invalid` */
  constructor(options: ClientOptions) {
    this.core = new Core(options);
  }

  /**
   * Loads what the first call needs (HTTP client and schemas, about 100 ms), a part at a time so that the event loop
   * is not held for all of it. Calls do it by themselves; whoever wants a quick first call does it before.
   */
  async warm(): Promise<void> {
    await warm();
  }

  /** S 4.5, by the newer route where that one is gone. A service with neither: `not_found`. */
  getModelLimits(options: CallOptions = {}): Promise<ModelLimits> {
    return this.core.call('info', 'limits request', options, (call) => getModelLimits(this.core, call));
  }

  /** The limits, and the settings for large train sets. Not in the specification; a service without it: `not_found`. */
  getSettings(options: CallOptions = {}): Promise<ServiceSettings> {
    return this.core.call('info', 'settings request', options, (call) => getSettings(this.core, call));
  }

  /** What the account has used. Not in the specification; a service without it: `not_found`. */
  getUsage(options: CallOptions = {}): Promise<Usage> {
    return this.core.call('info', 'usage request', options, (call) => getUsage(this.core, call));
  }

  /** The request rate that the service allowed with its last answer; undefined if it never said. */
  get rateLimit(): RateLimit | undefined {
    return this.core.wiring.notices.rateLimit;
  }

  /**
   * Removes an upload, with the models fitted on it, or a model, with its test sets. Not of the specification; `not_found`
   * where there is none, or no such route.
   */
  async deleteDataset(id: string, options: CallOptions = {}): Promise<void> {
    await this.core.call('info', 'deletion', options, (call) => askDeletion(this.core, call, id));
  }

  /**
   * A fitted train set as bytes, which `importModel` takes, here or in another place. Not of the specification: only the
   * embedded service has them; `not_found` elsewhere.
   */
  exportModel(fittedTrainSetId: string, options: CallOptions = {}): Promise<Buffer> {
    return this.core.call('info', 'export of the model', options, (call) =>
      askModelExport(this.core, call, fittedTrainSetId),
    );
  }

  /** Hands a fitted train set to the service; answers its id there. See `exportModel`. */
  importModel(bytes: Buffer, options: CallOptions = {}): Promise<string> {
    return this.core.call('info', 'import of the model', options, (call) =>
      askModelImport(this.core, call, bytes),
    );
  }

  /** S 4.1, the bare route. A duplicate rejects with DuplicateUploadError, whose `uploadId` may be reused. */
  prepareTrainSetUpload(
    request: PrepareTrainSetUploadRequest,
    options: CallOptions = {},
  ): Promise<PrepareTrainSetUploadResponse> {
    return this.core.call('upload', 'train set upload', options, (call) =>
      askTrainSetUpload(this.core, call, request),
    );
  }

  /** S 4.2, the bare route. A duplicate rejects with DuplicateUploadError, whose `uploadId` may be reused. */
  prepareTestSetUpload(
    request: PrepareTestSetUploadRequest,
    options: CallOptions = {},
  ): Promise<PrepareTestSetUploadResponse> {
    return this.core.call('upload', 'test set upload', options, (call) =>
      askTestSetUpload(this.core, call, request),
    );
  }

  /** Prepares a train set and sends X and y side by side; a duplicate is reused without sending a byte. */
  uploadTrainSet(
    request: TrainSetUpload,
    options: TrainSetOptions = {},
  ): Promise<{ train_set_upload_id: string; reused: boolean }> {
    return this.core.call('upload', 'train set upload', options, (call) =>
      uploadTrainSet(this.core, call, request, options),
    );
  }

  /** Prepares a test set for a model and sends it; a duplicate is reused without sending a byte. */
  uploadTestSet(
    request: TestSetUpload,
    options: CallOptions = {},
  ): Promise<{ test_set_upload_id: string; reused: boolean }> {
    return this.core.call('upload', 'test set upload', options, (call) =>
      uploadTestSet(this.core, call, request, options.onProgress),
    );
  }

  /** S 4.3. A fit that is forced or thinking costs, so it is repeated only where it surely did not begin. */
  fit(request: FitCall, options: FitOptions = {}): Promise<FitResponse> {
    return callFit(this.core, request, options);
  }

  /** Waits for a fit that goes on in the service; the default deadline is at least two hours. */
  resumeFit(fittedTrainSetId: string, options: CallOptions = {}): Promise<FitResponse> {
    return resumeFit(this.core, fittedTrainSetId, options);
  }

  /**
   * How far the newest fit of a train set is, 0 to 1; undefined where none is under way. Not of the specification: only
   * the embedded service tells it.
   */
  fitProgress(trainSetUploadId: string, options: CallOptions = {}): Promise<number | undefined> {
    const { core } = this;
    return core.call('info', 'status request', options, async (call) => {
      checkValue('fitProgress: trainSetUploadId', trainSetUploadId, ANY_TEXT);
      const plan = core.plan('info', call.what, 'get_service_status', { repeatable: true });
      return findProgress(await ask(core.wiring, call, plan), trainSetUploadId);
    });
  }

  /**
   * S 4.4. Metered, unless the client is of a `free` service: repeated only where it surely did not arrive or was refused;
   * else `predict.unknown`, unless `retryAmbiguous`.
   */
  predict(request: PredictCall, options: CallOptions = {}): Promise<PredictResult> {
    return callPredict(this.core, request, options);
  }

  /** S 4.6 */
  estimateCost(request: EstimateCostRequest, options: CallOptions = {}): Promise<EstimateCostResponse> {
    const { core } = this;
    return core.call('info', 'cost estimate', options, async (call) => {
      assertRequest(schemas().EstimateCostRequestSchema, request, call.what);
      const plan = core.plan('info', call.what, 'estimate_cost', { body: { ...request }, repeatable: true });
      const body = await core.ask(call, plan, schemas().EstimateCostResponseSchema);
      return { estimated_cost: body.estimated_cost };
    });
  }

  /**
   * The multipart route of an older interface (S 4.7), metered like predict.
   * @deprecated by the service: use `uploadTestSet` and `predict`.
   */
  predictLegacy(request: LegacyPredictCall, options: CallOptions = {}): Promise<LegacyPredictResult> {
    return callLegacyPredict(this.core, request, options);
  }

  /** Calls of a kind in flight, and for how long the service asked for no more of them. */
  whenBusy(kind: Exclude<CallKind, 'info'>): { inFlight: number; heldForMs: number } {
    checkValue('whenBusy: kind', kind, KINDS);
    const gate = this.core.gates[kind];
    return { inFlight: gate.inFlight, heldForMs: gate.heldForMs() };
  }

  /** Ends every call with `closed` and every connection. */
  async close(): Promise<void> {
    await this.core.close();
  }
}

/**
 * An endpoint of one stateless route, on-premises: train rows and test rows in, predictions out. `baseUrl` is the
 * address of the route itself; a token is sent where one is given. Retries, deadlines, limits of requests in flight
 * and errors are those of `ServiceClient`.
 */
export class EndpointClient {
  private readonly core: Core;

  /** @throws ServiceError `config.invalid` */
  constructor(options: ClientOptions) {
    this.core = new Core({ ...options, anonymous: true, free: true });
  }

  /**
   * Predicts rows by rows.
   * @param kind whose slots it uses, and how its errors name it
   * @throws ServiceError; `model.unknown` for an unknown `model_id`
   */
  predictRows(
    request: RowsPredictCall,
    options: CallOptions = {},
    kind: 'fit' | 'predict' = 'predict',
  ): Promise<RowsPredictResult> {
    return callRowsPredict(this.core, request, options, kind);
  }

  /** Bytes of a request's body other than those of its rows. */
  overhead(request: Omit<RowsPredictCall, 'rows'>): number {
    return countOverhead(request, this.core.dialect.apiName);
  }

  /** Ends every call with `closed` and every connection. */
  async close(): Promise<void> {
    await this.core.close();
  }
}
