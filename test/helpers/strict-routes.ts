/* What each route of the strict service does (S 4), and what it keeps. */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ServerOptions } from 'node:https';

import * as checks from './strict-checks';
import type { StrictRoute } from './strict-faults';
import { type Answer, duplicate, envelope, type Info, multipartOf, notFound, parseJson } from './strict-http';
import * as store from './strict-store';
import { decodeTable, type Row } from './strict-tables';

type Body = Record<string, unknown>;

export interface StrictOptions {
  /** Default `svc`. */
  apiName?: string;
  token?: string;
  /** The one fit shape allowed; `any` (default) takes both, never in one body. */
  fitRequest?: 'task_config' | 'flat' | 'any';
  /** The one naming of file info allowed; `any` (default) takes both. */
  fileInfo?: 'schema' | 'sample' | 'any';
  /** Signed URLs per file. Default 1. */
  chunks?: number;
  /** How long a fit takes, in milliseconds; white space goes out every `keepaliveMs` (default 50) meanwhile. */
  fitMs?: number;
  keepaliveMs?: number;
  /** How long a predict takes, in milliseconds. */
  predictMs?: number;
  /** Answer 409 for files that came before. Default true; for test sets only with `testDuplicates`. */
  duplicates?: boolean;
  testDuplicates?: boolean;
  /** Most requests of a route in a time, in milliseconds; beyond it 429 with Retry-After in seconds. */
  rateLimits?: Partial<Record<StrictRoute, { count: number; windowMs: number }>>;
  /** The body of `get_model_limits`. */
  limits?: Record<string, unknown>;
  /** What a row's prediction is a function of. Default: its `id`, else its place in the test set. */
  rowValue?: (row: Row, index: number) => number;
  /**
   * What the hosted service has beyond the specification: a fit answers `pending` and is asked for until it is done,
   * `submit_fit_job`, `get_settings` in place of `get_model_limits`, `get_api_usage`.
   */
  jobs?: JobOptions;
  /** A predict answers with the signed URL of its prediction (`prediction_uri`), to be fetched without the bearer. */
  predictionUri?: boolean;
  /** How a predict was billed: with it, answers and their metadata have all that the hosted service tells by now. */
  billed?: { billing_model_version: string; cache_outcome: string };
  /** Tokens that a predict is estimated to cost at least. */
  leastCost?: number;
  /** Serve HTTPS. */
  tls?: ServerOptions;
  /** Address that the signed URLs begin with; default this server's own. */
  storageUrl?: string;
}

export interface JobOptions {
  /** How often the status is `pending` before it is `completed`. Default 2. */
  polls?: number;
  /** `POST get_fit_status` (default), or `GET fit/{id}` as before it. */
  status?: 'post' | 'get';
  /** The fit answers with its status at once; without it, only `submit_fit_job` does. */
  fitIsPending?: boolean;
  /** How every fit ends, where not well. */
  failure?: { error: string; error_code?: string };
  /** What `get_settings` has beside the limits. */
  async_settings?: { use_above_trainset_size_bytes?: number; poll_timeout_secs?: number };
  /** One budget, or one a day and one a month: both forms were seen. */
  usage?:
    | { current_usage: number; usage_limit: number; reset_time: string }
    | {
        daily_tokens_used: number;
        daily_token_limit: number;
        monthly_tokens_used: number;
        monthly_token_limit: number;
      };
}

const LIMITS = {
  default_model_version: 'v2',
  max_model_limit: {
    train_set_max_rows: 1_000_000,
    train_set_max_cells: 100_000_000,
    test_set_max_rows: 200_000,
    max_classes: 160,
    max_cols: 2_000,
    test_set_max_rows_w_full_regression_output: 400,
    predict_row_pairs_budget: 10_000_000_000,
    test_set_max_cells: 100_000_000,
  },
  model_limits: {},
  dataset_max_size_bytes: 5_000_000_000,
};

export class StrictRoutes {
  readonly uploads = new Map<string, store.Upload>();
  readonly models = new Map<string, store.Model>();
  /** Fits under way by id: the model that comes of it, and how often it was asked for. */
  readonly jobs = new Map<string, { model: store.Model; asked: number }>();
  /** Predictions behind signed URLs, by their signature. */
  private readonly results = new Map<string, unknown>();

  constructor(
    private readonly options: StrictOptions,
    private readonly shapes: checks.StrictShapes,
    private readonly breach: (text: string) => void,
    private readonly address: () => string,
  ) {}

  async act(route: StrictRoute, req: IncomingMessage, info: Info): Promise<Answer> {
    switch (route) {
      case 'put':
        return this.put(req, info.bytes);
      case 'download':
        return this.result(req);
      case 'get_model_limits':
        return { status: 200, body: this.options.limits ?? LIMITS };
      case 'get_settings':
        return {
          status: 200,
          body: { ...(this.options.limits ?? LIMITS), async_settings: this.options.jobs?.async_settings },
        };
      case 'get_api_usage':
        return { status: 200, body: this.options.jobs?.usage ?? {} };
      case 'fit/{id}':
        return this.fitStatus(req.url!.split('/').pop()!);
      case 'v1/predict':
        return this.legacy(info);
      default:
    }
    const body = parseJson(info.bytes);
    const rules: Partial<Record<StrictRoute, string[]>> = {
      prepare_train_set_upload: checks.checkTrainUpload(body, this.shapes),
      prepare_test_set_upload: checks.checkTestUpload(body, this.shapes),
      fit: checks.checkFit(body, this.shapes),
      submit_fit_job: checks.checkSubmit(body, this.shapes),
      get_fit_status: checks.checkFitStatus(body),
      predict: checks.checkPredict(body, this.shapes),
      estimate_cost: checks.checkEstimateCost(body),
    };
    const wrong = rules[route] ?? [];
    if (wrong.length > 0) {
      return this.refuse(route, wrong.join('; '));
    }
    switch (route) {
      case 'prepare_train_set_upload':
        return this.prepareTrain(body as Body);
      case 'prepare_test_set_upload':
        return this.prepareTest(body as Body);
      case 'fit':
        return this.fit(body as Body, this.options.jobs?.fitIsPending === true);
      case 'submit_fit_job':
        return this.fit(body as Body, true);
      case 'get_fit_status':
        return this.fitStatus((body as Body).fitted_train_set_id as string);
      case 'predict':
        return this.predict(body as Body);
      default: {
        const { train_rows: train = 0, test_rows: test = 0 } = body as Record<string, number>;
        const cost = Math.max(this.options.leastCost ?? 0, train + test);
        const inputs = { operation: 'predict', n_estimators: 8, ...(body as Body) };
        return {
          status: 200,
          body: { estimated_cost: cost, pricing_version: 'strict-1', inputs },
        };
      }
    }
  }

  private prepareTrain(body: Body): Answer {
    const files = [body.x_train_info, body.y_train_info].map((info) => this.newFile(info as Body));
    const known = this.twinOf('train', files);
    if (known !== undefined && this.options.duplicates !== false && body.force_reupload !== true) {
      return duplicate('DUPLICATE_TRAIN_SET_UPLOAD', { train_set_upload_id: known.id });
    }
    const upload: store.Upload = { id: randomUUID(), set: 'train', files };
    this.uploads.set(upload.id, upload);
    return {
      status: 200,
      body: {
        train_set_upload_id: upload.id,
        x_train_info: this.uploadInfo(upload, 0),
        y_train_info: this.uploadInfo(upload, 1),
      },
    };
  }

  private prepareTest(body: Body): Answer {
    const fittedId = body.fitted_train_set_id as string;
    if (!this.models.has(fittedId)) {
      return notFound('Fitted train set not found');
    }
    const files = [this.newFile(body.x_test_info as Body)];
    // Not looked for in vain: thousands of uploads would take longer than the rest of the answer.
    const known = this.options.testDuplicates === true ? this.twinOf('test', files, fittedId) : undefined;
    if (known !== undefined) {
      return duplicate('DUPLICATE_TEST_SET_UPLOAD', { test_set_upload_id: known.id });
    }
    const upload: store.Upload = { id: randomUUID(), set: 'test', files, fittedId };
    this.uploads.set(upload.id, upload);
    return { status: 200, body: { test_set_upload_id: upload.id, x_test_info: this.uploadInfo(upload, 0) } };
  }

  private newFile(info: Body): store.StoredFile {
    return store.newFile(info, this.options.chunks ?? 1);
  }

  private twinOf(
    set: 'train' | 'test',
    files: store.StoredFile[],
    fittedId?: string,
  ): store.Upload | undefined {
    return [...this.uploads.values()].find(
      (upload) =>
        upload.set === set &&
        upload.fittedId === fittedId &&
        store.isComplete(upload) &&
        upload.files.every((file, i) => file.hash !== null && file.hash === files[i]!.hash),
    );
  }

  private uploadInfo(upload: store.Upload, i: number): Body {
    const file = upload.files[i]!;
    const base = this.options.storageUrl ?? this.address();
    return {
      signed_urls: file.keys.map((key, c) => `${base}/signed/${upload.id}/${i}/${c}?signature=${key}`),
      expires_at: Math.floor(Date.now() / 1000) + 3600,
      required_headers: file.requiredHeaders,
    };
  }

  private put(req: IncomingMessage, bytes: Buffer): Answer {
    const url = new URL(req.url ?? '', this.address());
    const [, , id, f, c] = url.pathname.split('/');
    const upload = this.uploads.get(id ?? '');
    const file = upload?.files[Number(f)];
    const chunk = Number(c);
    if (upload === undefined || file?.keys[chunk] !== url.searchParams.get('signature')) {
      return { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' };
    }
    for (const [name, value] of Object.entries(file.requiredHeaders)) {
      if (req.headers[name] !== value) {
        return this.refuse('put', `required header ${name} is ${String(req.headers[name])}`, 400);
      }
    }
    const due = store.chunkSize(file, chunk);
    if (due !== undefined && due !== bytes.length) {
      return this.refuse('put', `chunk ${chunk} has ${bytes.length} bytes, not ${due}`, 400);
    }
    file.chunks[chunk] = bytes;
    if (file.chunks.every((part) => part !== undefined)) {
      store.fileFaults(file).forEach((wrong) => this.breach(`put: ${wrong}`));
    }
    return { status: 200, body: '' };
  }

  private async fit(body: Body, inBackground: boolean): Promise<Answer> {
    const upload = this.uploads.get(body.train_set_upload_id as string);
    if (upload?.set !== 'train') {
      return notFound('Train set upload not found');
    }
    if (!store.isComplete(upload)) {
      return this.refuse('fit', 'the train set was not uploaded');
    }
    const task = ((body.task_config as Body | undefined)?.task ?? body.task) as store.Model['task'];
    const x = await store.tableOf(upload.files[0]!);
    const y = await store.tableOf(upload.files[1]!);
    if (y.columns.length !== 1) {
      return this.refuse('fit', `y has ${y.columns.length} columns`);
    }
    if (x.rows.length !== y.rows.length) {
      return this.refuse('fit', `${x.rows.length} rows in X, ${y.rows.length} in y`);
    }
    if (x.rows.length === 0) {
      return this.refuse('fit', 'the train set is empty');
    }
    const { group_col, time_col, group_time_col } = (body.thinking_config ?? {}) as Record<string, string>;
    const missing = [group_col, time_col, group_time_col]
      .flat()
      .find((name) => name !== undefined && !x.columns.includes(name));
    if (missing !== undefined) {
      return this.refuse('fit', `thinking_config names ${missing}, which X does not have`);
    }
    const classes = task === 'classification' ? store.classesOf(y.rows, y.columns[0]!) : [];
    const model = { id: randomUUID(), upload, task, columns: x.columns, rows: x.rows.length, classes };
    if (!inBackground) {
      this.models.set(model.id, model);
      return { status: 200, body: { fitted_train_set_id: model.id } };
    }
    this.jobs.set(model.id, { model, asked: 0 });
    return { status: 200, body: { fitted_train_set_id: model.id, status: 'pending' } };
  }

  /** A failed fit is told with status 200. */
  private fitStatus(id: string): Answer {
    const { polls = 2, failure } = this.options.jobs ?? {};
    const job = this.jobs.get(id);
    if (job === undefined) {
      return notFound('Fitted train set not found');
    }
    job.asked += 1;
    if (job.asked <= polls) {
      return { status: 200, body: { fitted_train_set_id: id, status: 'pending', retry_in_secs: 0.1 } };
    }
    if (failure !== undefined) {
      return { status: 200, body: { fitted_train_set_id: id, status: 'failed', ...failure } };
    }
    this.models.set(id, job.model);
    return { status: 200, body: { fitted_train_set_id: id, status: 'completed' } };
  }

  private async predict(body: Body): Promise<Answer> {
    const model = this.models.get(body.fitted_train_set_id as string);
    const upload = this.uploads.get(body.test_set_upload_id as string);
    if (model === undefined) {
      return notFound('Fitted train set not found');
    }
    if (upload?.set !== 'test') {
      return notFound('Test set upload not found');
    }
    if (upload.fittedId !== model.id) {
      return this.refuse('predict', 'the test set was uploaded for another model');
    }
    if (!store.isComplete(upload)) {
      return this.refuse('predict', 'the test set was not uploaded');
    }
    const config = body.task_config as { task: string; predict_params?: Body };
    if (config.task !== model.task) {
      return this.refuse('predict', `the model is for ${model.task}`);
    }
    const x = await store.tableOf(upload.files[0]!);
    if (x.columns.join('\n') !== model.columns.join('\n')) {
      return this.refuse(
        'predict',
        `columns ${x.columns.join()} are not the train set's ${model.columns.join()}`,
      );
    }
    const params = config.predict_params ?? {};
    const output = (params.output_type ?? (model.task === 'classification' ? 'probas' : 'mean')) as string;
    const levels = params.quantiles as number[] | undefined;
    const prediction = this.predictRows(x.rows, output, levels, model.classes);
    return {
      status: 200,
      body: {
        ...(this.options.predictionUri === true
          ? { prediction_uri: this.resultUrl(prediction) }
          : { prediction }),
        metadata: {
          test_set_num_rows: x.rows.length,
          test_set_num_cols: x.columns.length,
          package_version: 'strict-1.0.0',
          [`${this.shapes.apiName}_config`]: { n_estimators: 8, random_state: 0 },
          task: model.task,
          ...(this.options.billed !== undefined && {
            n_estimators: 8,
            execution_mode: 'sync',
            ...(model.task === 'classification' && { top_k: null, classes: model.classes }),
            ...this.options.billed,
          }),
        },
        ...(this.options.billed !== undefined && { timings: { predict: { predict_s: 0.01 } } }),
      },
    };
  }

  private resultUrl(prediction: unknown): string {
    const signature = randomUUID();
    this.results.set(signature, prediction);
    const base = this.options.storageUrl ?? this.address();
    return `${base}/results/${randomUUID()}.json?signature=${signature}`;
  }

  private result(req: IncomingMessage): Answer {
    const signature = new URL(req.url ?? '', this.address()).searchParams.get('signature') ?? '';
    const prediction = this.results.get(signature);
    return prediction === undefined
      ? { status: 403, body: '<Error><Code>SignatureDoesNotMatch</Code></Error>' }
      : { status: 200, body: prediction };
  }

  private predictRows(
    rows: Row[],
    output: string,
    quantiles: number[] | undefined,
    classes: store.Model['classes'],
  ): unknown {
    const valueOf = this.options.rowValue ?? ((row: Row, i: number) => Number(row.id ?? i));
    return store.makePrediction(rows.map(valueOf), output, quantiles, classes);
  }

  private async legacy(info: Info): Promise<Answer> {
    const parts = multipartOf(info);
    const data = parts.get('data');
    const file = parts.get('file');
    if (data === undefined || file === undefined || parts.size !== 2) {
      return this.refuse('v1/predict', `parts are ${[...parts.keys()].join()}`);
    }
    if (!data.type.startsWith('application/json')) {
      return this.refuse('v1/predict', `data is ${data.type}`);
    }
    const body = parseJson(data.bytes) as Body;
    const wrong = checks.checkLegacy(body);
    if (wrong.length > 0) {
      return this.refuse('v1/predict', wrong.join('; '));
    }
    const { rows } = await decodeTable(file.bytes, 'csv');
    const output = (body.output_type ?? (body.task === 'classification' ? 'probas' : 'mean')) as string;
    return {
      status: 200,
      body: {
        duration_seconds: 0.1,
        prediction: this.predictRows(rows, output, undefined, ['no', 'yes']),
        task: body.task,
        params: { n_estimators: 8, differentiable_input: false, n_jobs: null },
        used_credits: rows.length,
        remaining_quota: 1000,
      },
    };
  }

  private refuse(route: string, wrong: string, status = 422): Answer {
    this.breach(`${route}: ${wrong}`);
    return { status, body: envelope('validation.failed', wrong) };
  }
}
