import { createRequire } from 'node:module';
import type { TSchema } from '@sinclair/typebox';
import { check, faultText } from '../wire/check';
import {
  fromWireMetadata,
  LEGACY_PREDICT_PATH,
  routePath,
  toWireFit,
  toWirePredict,
  toWireTestSetUpload,
  toWireTrainSetUpload,
  type Route,
} from '../wire/dialect';
import { lazy } from '../wire/lazy';
import { readPrediction, rowCount } from '../wire/prediction';
import { ServiceError } from '../wire/service-error';
import type {
  EstimateCostRequest,
  EstimateCostResponse,
  FitResponse,
  ModelLimits,
  PredictMetadata,
  PrepareTestSetUploadRequest,
  PrepareTestSetUploadResponse,
  PrepareTrainSetUploadRequest,
  PrepareTrainSetUploadResponse,
} from '../wire/types';
import { demand, invalid, type Body } from './answer';
import { withCall, type Call } from './call';
import { Dispatchers } from './dispatchers';
import { completedFit } from './fit-status';
import { withoutNulls } from './limits';
import { multipart } from './multipart';
import { Pacing } from './pacing';
import { ask, type Plan, type Wiring } from './requests';
import { Secrets } from './secrets';
import { settle } from './settings';
import type {
  CallKind,
  CallOptions,
  ClientOptions,
  FitCall,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  TestSetUpload,
  TrainSetUpload,
} from './types';
import { fileInfo, upload } from './uploads';

const load = createRequire(__filename);
const schemas = lazy(() => load('../wire/schemas') as typeof import('../wire/schemas'));

/** A thinking fit gets its thinking time and this much more, in milliseconds. */
const THINKING_MARGIN_MS = 60_000;

/**
 * The service, a method per route (S 4). Every method rejects with a ServiceError. One client is one set of slots,
 * holds and connections, so whatever shares a service shares its client.
 */
export class ServiceClient {
  private readonly wiring: Wiring;
  private readonly pacing: Pacing;
  private readonly closing = new AbortController();

  /** @throws ServiceError `config.invalid` */
  constructor(options: ClientOptions) {
    const settings = settle(options);
    this.wiring = {
      settings,
      dispatchers: new Dispatchers(settings.base.origin, settings.tls, settings.proxy),
      secrets: new Secrets(settings.token),
    };
    this.pacing = new Pacing(settings.concurrency);
  }

  /** S 4.5. A service without the route: `not_found`. */
  async getModelLimits(options: CallOptions = {}): Promise<ModelLimits> {
    return this.call('info', 'limits request', options, async (call) => {
      const plan = this.plan('info', 'limits request', 'get_model_limits', { repeatable: true });
      const body = await ask(this.wiring, call, plan);
      demand(schemas().ModelLimitsResponseSchema, body, plan.what);
      return withoutNulls(body);
    });
  }

  /** S 4.1, the bare route. A duplicate rejects with DuplicateUploadError, whose `uploadId` may be reused. */
  async prepareTrainSetUpload(
    request: PrepareTrainSetUploadRequest,
    options: CallOptions = {},
  ): Promise<PrepareTrainSetUploadResponse> {
    return this.call('upload', 'train set upload', options, (call) => this.prepareTrain(request, call));
  }

  /** S 4.2, the bare route. A duplicate rejects with DuplicateUploadError, whose `uploadId` may be reused. */
  async prepareTestSetUpload(
    request: PrepareTestSetUploadRequest,
    options: CallOptions = {},
  ): Promise<PrepareTestSetUploadResponse> {
    return this.call('upload', 'test set upload', options, (call) => this.prepareTest(request, call));
  }

  /** Prepares a train set and sends X and y side by side; a duplicate is reused without sending a byte. */
  async uploadTrainSet(
    request: TrainSetUpload,
    options: CallOptions = {},
  ): Promise<{ train_set_upload_id: string; reused: boolean }> {
    return this.call('upload', 'train set upload', options, async (call) => {
      const prepare = async (anew: boolean) => {
        const prepared = await this.prepareTrain(
          {
            x_train_info: fileInfo(request.x, request.chunks, true),
            y_train_info: fileInfo(request.y, request.chunks, true),
            ...(request.description !== undefined && { description: request.description }),
            ...((anew || request.force === true) && { force_reupload: true }),
          },
          call,
        );
        const { x_train_info: x, y_train_info: y } = prepared;
        return {
          id: prepared.train_set_upload_id,
          files: [
            { what: 'features', source: request.x, info: x },
            { what: 'target', source: request.y, info: y },
          ],
        };
      };
      const { id, reused } = await upload(
        this.wiring,
        call,
        this.pacing.storage,
        prepare,
        options.onProgress,
      );
      return { train_set_upload_id: id, reused };
    });
  }

  /** Prepares a test set for a model and sends it; a duplicate is reused without sending a byte. */
  async uploadTestSet(
    request: TestSetUpload,
    options: CallOptions = {},
  ): Promise<{ test_set_upload_id: string; reused: boolean }> {
    return this.call('upload', 'test set upload', options, async (call) => {
      const prepare = async (anew: boolean) => {
        const withHash = !anew && request.force !== true;
        const prepared = await this.prepareTest(
          {
            fitted_train_set_id: request.fitted_train_set_id,
            x_test_info: fileInfo(request.x, request.chunks, withHash),
          },
          call,
        );
        return {
          id: prepared.test_set_upload_id,
          files: [{ what: 'test set', source: request.x, info: prepared.x_test_info }],
        };
      };
      const { id, reused } = await upload(
        this.wiring,
        call,
        this.pacing.storage,
        prepare,
        options.onProgress,
      );
      return { test_set_upload_id: id, reused };
    });
  }

  /** S 4.3. A fit that is forced or thinking costs, so it is repeated only where it surely did not begin. */
  async fit(request: FitCall, options: CallOptions = {}): Promise<FitResponse> {
    const { svc_config: config, ...checkable } = request;
    this.demandRequest(schemas().FlatFitRequestSchema, checkable, 'fit');
    this.demandConfig(config);
    const thinking =
      request.thinking_effort !== undefined || request.svc_systems?.includes('thinking') === true;
    const least =
      request.thinking_timeout_s === undefined ? 0 : request.thinking_timeout_s * 1000 + THINKING_MARGIN_MS;
    const timeoutMs = Math.max(options.timeoutMs ?? this.wiring.settings.timeoutMs, least);
    return this.call('fit', 'fit', { ...options, timeoutMs }, async (call) => {
      const plan = this.plan('fit', 'fit', 'fit', {
        body: toWireFit(request, this.wiring.settings.dialect),
        repeatable: request.force_refit !== true && !thinking,
        lateError: 'fit.failed',
      });
      const status = (id: string | undefined) => {
        const query: Record<string, string> = id === undefined ? {} : { fitted_train_set_id: id };
        const options = { query, repeatable: true, lateError: 'fit.failed' as const };
        return ask(this.wiring, call, this.plan('fit', 'fit', 'get_fit_status', options));
      };
      const first = await ask(this.wiring, call, plan);
      const body = await completedFit(first, call, status, (text) => this.wiring.secrets.clean(text));
      demand(schemas().FitResponseSchema, body, plan.what);
      return body as FitResponse;
    });
  }

  /**
   * S 4.4. Metered: repeated only where it surely did not arrive or was refused; else `predict.unknown`, unless
   * `retryAmbiguous`.
   */
  async predict(request: PredictCall, options: CallOptions = {}): Promise<PredictResult> {
    const { settings } = this.wiring;
    const wire = toWirePredict({ ...request, svc_config: undefined }, { apiName: 'svc' });
    this.demandRequest(schemas().PredictRequestSchema, wire, 'predict');
    this.demandConfig(request.svc_config);
    return this.call('predict', 'predict', options, async (call) => {
      const plan = this.plan('predict', 'predict', 'predict', {
        body: toWirePredict(request, settings.dialect),
        repeatable: request.retryAmbiguous === true,
        metered: true,
        missing: 'model.unknown',
      });
      const body = await ask(this.wiring, call, plan);
      demand(schemas().PredictResponseSchema, body, plan.what);
      const metadata = fromWireMetadata((body.metadata ?? {}) as Body, settings.dialect);
      return predictResult(body.prediction, metadata, request);
    });
  }

  /** S 4.6 */
  async estimateCost(request: EstimateCostRequest, options: CallOptions = {}): Promise<EstimateCostResponse> {
    this.demandRequest(schemas().EstimateCostRequestSchema, request, 'cost estimate');
    return this.call('info', 'cost estimate', options, async (call) => {
      const plan = this.plan('info', 'cost estimate', 'estimate_cost', {
        body: { ...request },
        repeatable: true,
      });
      const body = await ask(this.wiring, call, plan);
      demand(schemas().EstimateCostResponseSchema, body, plan.what);
      return { estimated_cost: body.estimated_cost as number };
    });
  }

  /**
   * The multipart route of an older interface (S 4.7), metered like predict.
   * @deprecated The service says that it is on its way out: use `uploadTestSet` and `predict`.
   */
  async predictLegacy(request: LegacyPredictCall, options: CallOptions = {}): Promise<LegacyPredictResult> {
    const { data, file } = request;
    this.demandRequest(schemas().LegacyPredictRequestSchema, data, 'predict');
    return this.call('predict', 'predict', options, async (call) => {
      const form = multipart(data, file);
      const plan: Plan = {
        ...this.plan('predict', 'predict', 'predict', {
          repeatable: request.retryAmbiguous === true,
          metered: true,
          missing: 'model.unknown',
        }),
        path: LEGACY_PREDICT_PATH,
        request: {
          method: 'POST',
          url: this.url(LEGACY_PREDICT_PATH),
          headers: {
            ...this.headers(),
            'content-type': form.contentType,
            'content-length': String(form.bytes),
          },
          body: form.body,
        },
      };
      const body = await ask(this.wiring, call, plan);
      demand(schemas().LegacyPredictResponseSchema, body, plan.what);
      const metadata: PredictMetadata = { task: data.task };
      const { prediction: raw, task, ...rest } = body;
      return {
        ...rest,
        ...predictResult(raw, { ...metadata, ...(typeof task === 'string' && { task }) }, data),
      };
    });
  }

  /** Calls in flight of a kind, and for how long the service asked to be left alone by it. */
  whenBusy(kind: Exclude<CallKind, 'info'>): { inFlight: number; heldForMs: number } {
    const lane = this.pacing.lane(kind);
    return { inFlight: lane.inFlight, heldForMs: lane.heldForMs() };
  }

  /** Ends every call with `closed` and every connection. */
  async close(): Promise<void> {
    this.closing.abort(new ServiceError('closed', 'The connection to the service was closed.'));
    await this.wiring.dispatchers.close();
  }

  private async prepareTrain(
    request: PrepareTrainSetUploadRequest,
    call: Call,
  ): Promise<PrepareTrainSetUploadResponse> {
    this.demandRequest(schemas().PrepareTrainSetUploadRequestSchema, request, call.what);
    const plan = this.plan('upload', call.what, 'prepare_train_set_upload', {
      body: toWireTrainSetUpload(request, this.wiring.settings.dialect),
      repeatable: true,
    });
    const body = await ask(this.wiring, call, plan);
    demand(schemas().PrepareTrainSetUploadResponseSchema, body, plan.what);
    return body as unknown as PrepareTrainSetUploadResponse;
  }

  private async prepareTest(
    request: PrepareTestSetUploadRequest,
    call: Call,
  ): Promise<PrepareTestSetUploadResponse> {
    this.demandRequest(schemas().PrepareTestSetUploadRequestSchema, request, call.what);
    const plan = this.plan('upload', call.what, 'prepare_test_set_upload', {
      body: toWireTestSetUpload(request, this.wiring.settings.dialect),
      repeatable: true,
      missing: 'model.unknown',
    });
    const body = await ask(this.wiring, call, plan);
    demand(schemas().PrepareTestSetUploadResponseSchema, body, plan.what);
    return body as unknown as PrepareTestSetUploadResponse;
  }

  /** Takes a slot, runs the call under its deadline, and gives the slot back. */
  private async call<T>(
    kind: CallKind,
    what: string,
    options: CallOptions,
    work: (call: Call) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = options.timeoutMs ?? this.wiring.settings.timeoutMs;
    return withCall(what, timeoutMs, options, this.closing.signal, async (call) => {
      const leave = await this.pacing.lane(kind).enter(call);
      try {
        return await work(call);
      } finally {
        leave();
      }
    });
  }

  private plan(
    kind: CallKind,
    what: string,
    route: Route,
    options: Partial<Plan> & { repeatable: boolean; body?: Body; query?: Record<string, string> },
  ): Plan {
    const { body, query, ...rest } = options;
    const path = routePath(route, this.wiring.settings.dialect);
    const url = this.url(path);
    for (const [name, value] of Object.entries(query ?? {})) {
      url.searchParams.set(name, value);
    }
    const json = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
    return {
      what,
      path,
      lane: this.pacing.lane(kind),
      missing: 'not_found',
      request: {
        method: json === undefined ? 'GET' : 'POST',
        url,
        headers: { ...this.headers(), ...(json !== undefined && { 'content-type': 'application/json' }) },
        ...(json !== undefined && { body: json }),
      },
      ...rest,
    };
  }

  private headers(): Record<string, string> {
    const { token, userAgent } = this.wiring.settings;
    return { authorization: `Bearer ${token}`, accept: 'application/json', 'user-agent': userAgent };
  }

  private url(path: string): URL {
    const url = new URL(this.wiring.settings.base);
    url.pathname = url.pathname.replace(/\/$/, '') + path;
    return url;
  }

  private demandRequest(schema: TSchema, request: unknown, what: string): void {
    const fault = check(schema, request);
    if (fault !== undefined) {
      throw new ServiceError('validation.failed', `The ${what} cannot be sent: ${faultText(fault)}.`);
    }
  }

  /** The service may know more options than the specification shows, so what they are is left to it. */
  private demandConfig(config: unknown): void {
    if (config !== undefined && (typeof config !== 'object' || config === null || Array.isArray(config))) {
      throw new ServiceError('validation.failed', 'The model options are not an object.');
    }
  }
}

function predictResult(
  raw: unknown,
  metadata: PredictMetadata,
  request: Pick<PredictCall, 'task' | 'output_type' | 'quantiles'>,
): PredictResult {
  const rows = metadata.test_set_num_rows;
  const prediction = readPrediction(raw, { ...request, ...(rows !== undefined && { rows }) });
  const classes = metadata.classes?.length;
  if (prediction.kind === 'probas' && classes !== undefined) {
    const columns = prediction.values[0]?.length ?? classes;
    if (columns !== classes) {
      throw invalid('predict', `prediction has ${columns} probabilities a row for ${classes} classes`);
    }
  }
  return { prediction, metadata, rows: rowCount(prediction) };
}
