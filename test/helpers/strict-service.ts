/*
 * A stand-in of the tabular prediction service, written from its specification alone: nothing of src/ is used here.
 * It refuses what the specification does not allow, and remembers each such breach:
 *
 *     const service = await startStrictService();
 *     …point a client at service.url with service.token…
 *     assert.deepEqual(service.breaches, []);
 *     await service.close();
 *
 * Its predictions are a function of a row's `id` column, so that a test can see that each row got its own:
 * `service.predictionFor(id, …)`. Faults: `service.fault('predict', inTurn({ status: 503 }))`.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import * as checks from './strict-checks';
import { Faults, type Fault, type FaultFunction, type StrictRoute } from './strict-faults';
import * as store from './strict-store';
import { decodeTable, type Row } from './strict-tables';

export { inTurn, type Fault, type FaultFunction, type StrictRoute } from './strict-faults';
export { crc32cBase64 } from './strict-tables';

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
  /** Offer `get_fit_status` (the specification doesn't), with these bodies. */
  fitStatus?: () => Record<string, unknown>;
  /** Serve HTTPS. */
  tls?: ServerOptions;
  /** Address that the signed URLs begin with; default this server's own. */
  storageUrl?: string;
}

export interface SeenRequest {
  route: StrictRoute;
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, or the number of bytes of a PUT. */
  body?: unknown;
  at: number;
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

type Body = Record<string, unknown>;
type Answer = { status: number; body: unknown; headers?: Record<string, string> };
type Info = { headers: IncomingMessage['headers']; bytes: Buffer };

export async function startStrictService(options: StrictOptions = {}): Promise<StrictService> {
  const service = new StrictService(options);
  await service.listen();
  return service;
}

export class StrictService {
  /** Everything seen that the specification doesn't allow. */
  readonly breaches: string[] = [];
  /** Every request, in order of arrival (the newest 20,000). */
  readonly requests: SeenRequest[] = [];
  readonly token: string;
  url = '';
  private readonly uploads = new Map<string, store.Upload>();
  private readonly models = new Map<string, store.Model>();
  private readonly sockets = new Set<Socket>();
  private readonly faults = new Faults();
  private readonly windows = new Map<StrictRoute, { start: number; count: number; refusedAt?: number }>();
  private readonly server;
  private readonly shapes: checks.StrictShapes;

  constructor(private readonly options: StrictOptions) {
    this.token = options.token ?? `strict-token-${randomUUID()}`;
    this.shapes = {
      apiName: options.apiName ?? 'svc',
      fitRequest: options.fitRequest ?? 'any',
      fileInfo: options.fileInfo ?? 'any',
    };
    const listener = (req: IncomingMessage, res: ServerResponse) => void this.serve(req, res);
    this.server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
    this.server.requestTimeout = 0;
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      if (this.faults.next('connection', '', {}).reset !== undefined) socket.resetAndDestroy();
    });
  }

  async listen(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    const { port: bound } = this.server.address() as AddressInfo;
    this.url = `${this.options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${bound}`;
  }

  /** Ends the server and every connection. */
  async close(): Promise<void> {
    this.sockets.forEach((socket) => socket.destroy());
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Sets what goes wrong with a route from now on (see Fault); undefined for nothing. Counts begin anew. */
  fault(route: StrictRoute, fault: FaultFunction | undefined): void {
    this.faults.set(route, fault);
  }

  /** Requests of one route so far. */
  seen(route: StrictRoute): SeenRequest[] {
    return this.requests.filter((request) => request.route === route);
  }

  /** Open connections. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Forgets a fitted model, as a service does that deletes it. */
  deleteModel(fittedId: string): void {
    this.models.delete(fittedId);
  }

  /** The rows of an upload as they arrived: features for a test set; X or y for a train set. */
  async rowsOf(uploadId: string, file: 'x' | 'y' = 'x'): Promise<Row[]> {
    return (await store.tableOf(this.uploads.get(uploadId)!.files[file === 'x' ? 0 : 1]!)).rows;
  }

  /** The bytes of an upload as they arrived. */
  bytesOf(uploadId: string, file: 'x' | 'y' = 'x'): Buffer {
    return store.bytesOf(this.uploads.get(uploadId)!.files[file === 'x' ? 0 : 1]!);
  }

  /** What the service predicts for rows with these values (their `id`s), in the shape of the wire. */
  predictionFor(
    values: number[],
    output: string,
    extra: { quantiles?: number[]; classes?: (string | number | boolean)[] } = {},
  ): unknown {
    return store.makePrediction(values, output, extra.quantiles, extra.classes ?? []);
  }

  private async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    req.on('error', () => undefined);
    res.on('error', () => undefined);
    const route = this.routeOf(req);
    const seen: SeenRequest = {
      route: route ?? 'put',
      method: req.method ?? '',
      url: req.url ?? '',
      headers: req.headers,
      at: Date.now(),
    };
    this.requests.push(seen);
    if (this.requests.length > 20_000) this.requests.shift();
    if (route === undefined) {
      this.breach(`unknown route ${req.method} ${req.url}`);
      send(res, { status: 404, body: { detail: 'Not Found' } });
      return;
    }
    const fault = this.faults.next(route, req.url ?? '', req.headers);
    try {
      await this.answer(route, req, res, fault, seen);
    } catch (error) {
      if (!res.destroyed && !res.headersSent) {
        this.breach(`${route}: ${String(error)}`);
        send(res, { status: 422, body: envelope('validation.failed', String(error)) });
      }
    }
  }

  private async answer(
    route: StrictRoute,
    req: IncomingMessage,
    res: ServerResponse,
    fault: Fault,
    seen: SeenRequest,
  ): Promise<void> {
    if (fault.reset === 'before') {
      req.socket.resetAndDestroy();
      return;
    }
    this.checkHead(route, req);
    if (fault.early === true) {
      res.shouldKeepAlive = false;
      send(res, { status: fault.status ?? 503, body: fault.body ?? '', headers: fault.headers });
      res.on('finish', () => req.socket.destroy());
      return;
    }
    const bytes = await readAll(req, fault);
    if (bytes === undefined) return;
    seen.body = route === 'put' ? bytes.length : parseJson(bytes);
    if (fault.silent === true) return;
    if (fault.status !== undefined) {
      await sleep(fault.delayMs ?? 0);
      send(res, { status: fault.status, body: fault.body ?? '', headers: fault.headers });
      return;
    }
    const slowFit = route === 'fit' ? (this.options.fitMs ?? 0) : 0;
    const spaces = fault.whitespaceMs ?? slowFit;
    const answer = this.refusal(route, req) ?? (await this.act(route, req, { headers: req.headers, bytes }));
    if (fault.reset === 'after') {
      req.socket.resetAndDestroy();
      return;
    }
    await sleep((fault.delayMs ?? 0) + (route === 'predict' ? (this.options.predictMs ?? 0) : 0));
    if (fault.patch !== undefined) answer.body = { ...(answer.body as Body), ...fault.patch };
    if (spaces > 0 && answer.status === 200) {
      await sendSpaces(res, spaces, this.options.keepaliveMs ?? 50);
      res.end(JSON.stringify(answer.body));
    } else if (fault.cutAt !== undefined) {
      await sendCut(res, answer, fault.cutAt);
    } else {
      send(res, { ...answer, headers: { ...answer.headers, ...fault.headers } });
    }
  }

  private routeOf(req: IncomingMessage): StrictRoute | undefined {
    const path = (req.url ?? '').split('?')[0]!;
    if (path.startsWith('/signed/')) return req.method === 'PUT' ? 'put' : undefined;
    if (path === '/v1/predict') return req.method === 'POST' ? 'v1/predict' : undefined;
    const [, api, name, more] = path.split('/');
    if (api !== this.shapes.apiName || more !== undefined) return undefined;
    const methods: Record<string, string> = {
      prepare_train_set_upload: 'POST',
      prepare_test_set_upload: 'POST',
      fit: 'POST',
      predict: 'POST',
      estimate_cost: 'POST',
      get_model_limits: 'GET',
      ...(this.options.fitStatus !== undefined && { get_fit_status: 'GET' }),
    };
    return methods[name ?? ''] === req.method ? (name as StrictRoute) : undefined;
  }

  /** Rules on headers, S 5 and 2.2. */
  private checkHead(route: StrictRoute, req: IncomingMessage): void {
    const { headers } = req;
    if (route === 'put') {
      if (headers.authorization !== undefined) this.breach('PUT with an Authorization header');
      if (headers['transfer-encoding'] !== undefined) this.breach('PUT with Transfer-Encoding');
      if (headers['content-length'] === undefined) this.breach('PUT without Content-Length');
      return;
    }
    if (headers.authorization === undefined) this.breach(`${route} without a bearer`);
    if (req.method === 'POST') {
      const type = route === 'v1/predict' ? 'multipart/form-data' : 'application/json';
      if (headers['content-type']?.split(';')[0] !== type) {
        this.breach(`${route} with content type ${headers['content-type']}`);
      }
    } else if (headers['content-length'] !== undefined && headers['content-length'] !== '0') {
      this.breach(`${route} with a body`);
    }
  }

  /** 401 for a wrong token, 429 beyond a rate limit. */
  private refusal(route: StrictRoute, req: IncomingMessage): Answer | undefined {
    if (route !== 'put' && req.headers.authorization !== `Bearer ${this.token}`) {
      return { status: 401, body: envelope('auth.unauthorized', 'Missing or invalid authentication token') };
    }
    const limit = this.options.rateLimits?.[route];
    if (limit === undefined) return undefined;
    const now = Date.now();
    let window = this.windows.get(route);
    if (window === undefined || now >= window.start + limit.windowMs) {
      window = { start: now, count: 0 };
      this.windows.set(route, window);
    }
    window.count += 1;
    if (window.count <= limit.count) return undefined;
    if (window.refusedAt !== undefined && now - window.refusedAt > 100) {
      this.breach(`${route} asked again before Retry-After was over`);
    }
    window.refusedAt ??= now;
    const seconds = Math.ceil((window.start + limit.windowMs - now) / 1000);
    window.start = now + seconds * 1000 - limit.windowMs;
    return {
      status: 429,
      body: envelope('rate.limit.exceeded', 'Request rate limit exceeded', true),
      headers: { 'retry-after': String(seconds) },
    };
  }

  private async act(route: StrictRoute, req: IncomingMessage, info: Info): Promise<Answer> {
    switch (route) {
      case 'put':
        return this.put(req, info.bytes);
      case 'get_model_limits':
        return { status: 200, body: this.options.limits ?? LIMITS };
      case 'get_fit_status':
        return { status: 200, body: this.options.fitStatus!() };
      case 'v1/predict':
        return this.legacy(info);
      default:
    }
    const body = parseJson(info.bytes);
    const rules: Partial<Record<StrictRoute, string[]>> = {
      prepare_train_set_upload: checks.checkTrainUpload(body, this.shapes),
      prepare_test_set_upload: checks.checkTestUpload(body, this.shapes),
      fit: checks.checkFit(body, this.shapes),
      predict: checks.checkPredict(body, this.shapes),
      estimate_cost: checks.checkEstimateCost(body),
    };
    const wrong = only(rules, route);
    if (wrong.length > 0) return this.refuse(route, wrong.join('; '));
    switch (route) {
      case 'prepare_train_set_upload':
        return this.prepareTrain(body as Body);
      case 'prepare_test_set_upload':
        return this.prepareTest(body as Body);
      case 'fit':
        return this.fit(body as Body);
      case 'predict':
        return this.predict(body as Body);
      default: {
        const { train_rows: train = 0, test_rows: test = 0 } = body as Record<string, number>;
        return { status: 200, body: { estimated_cost: train + test } };
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
    if (!this.models.has(fittedId)) return notFound('Fitted train set not found');
    const files = [this.newFile(body.x_test_info as Body)];
    const known = this.twinOf('test', files, fittedId);
    if (known !== undefined && this.options.testDuplicates === true) {
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
    const base = this.options.storageUrl ?? this.url;
    return {
      signed_urls: file.keys.map((key, c) => `${base}/signed/${upload.id}/${i}/${c}?signature=${key}`),
      expires_at: Math.floor(Date.now() / 1000) + 3600,
      required_headers: file.requiredHeaders,
    };
  }

  private put(req: IncomingMessage, bytes: Buffer): Answer {
    const url = new URL(req.url ?? '', this.url);
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

  private async fit(body: Body): Promise<Answer> {
    const upload = this.uploads.get(body.train_set_upload_id as string);
    if (upload?.set !== 'train') return notFound('Train set upload not found');
    if (!store.isComplete(upload)) return this.refuse('fit', 'the train set was not uploaded');
    const task = ((body.task_config as Body | undefined)?.task ?? body.task) as store.Model['task'];
    const x = await store.tableOf(upload.files[0]!);
    const y = await store.tableOf(upload.files[1]!);
    if (y.columns.length !== 1) return this.refuse('fit', `y has ${y.columns.length} columns`);
    if (x.rows.length !== y.rows.length)
      return this.refuse('fit', `${x.rows.length} rows in X, ${y.rows.length} in y`);
    if (x.rows.length === 0) return this.refuse('fit', 'the train set is empty');
    const classes = task === 'classification' ? store.classesOf(y.rows, y.columns[0]!) : [];
    const model = { id: randomUUID(), upload, task, columns: x.columns, rows: x.rows.length, classes };
    this.models.set(model.id, model);
    return { status: 200, body: { fitted_train_set_id: model.id } };
  }

  private async predict(body: Body): Promise<Answer> {
    const model = this.models.get(body.fitted_train_set_id as string);
    const upload = this.uploads.get(body.test_set_upload_id as string);
    if (model === undefined) return notFound('Fitted train set not found');
    if (upload?.set !== 'test') return notFound('Test set upload not found');
    if (upload.fittedId !== model.id)
      return this.refuse('predict', 'the test set was uploaded for another model');
    if (!store.isComplete(upload)) return this.refuse('predict', 'the test set was not uploaded');
    const config = body.task_config as { task: string; predict_params?: Body };
    if (config.task !== model.task) return this.refuse('predict', `the model is for ${model.task}`);
    const x = await store.tableOf(upload.files[0]!);
    if (x.columns.join('\n') !== model.columns.join('\n')) {
      return this.refuse(
        'predict',
        `columns ${x.columns.join()} are not the train set's ${model.columns.join()}`,
      );
    }
    const params = config.predict_params ?? {};
    const output = (params.output_type ?? (model.task === 'classification' ? 'probas' : 'mean')) as string;
    return {
      status: 200,
      body: {
        prediction: this.predictRows(x.rows, output, params.quantiles as number[] | undefined, model.classes),
        metadata: {
          test_set_num_rows: x.rows.length,
          test_set_num_cols: x.columns.length,
          package_version: 'strict-1.0.0',
          [`${this.shapes.apiName}_config`]: { n_estimators: 8, random_state: 0 },
          task: model.task,
        },
      },
    };
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
    if (!data.type.startsWith('application/json')) return this.refuse('v1/predict', `data is ${data.type}`);
    const body = parseJson(data.bytes) as Body;
    const wrong = checks.checkLegacy(body);
    if (wrong.length > 0) return this.refuse('v1/predict', wrong.join('; '));
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

  private breach(text: string): void {
    this.breaches.push(text);
  }
}

function only(rules: Partial<Record<StrictRoute, string[]>>, route: StrictRoute): string[] {
  return rules[route] ?? [];
}

function envelope(code: string, detail: string, retryable = false): Body {
  return { code, detail, retryable, support: 'https://support.example.org' };
}

function notFound(message: string): Answer {
  return { status: 404, body: { message, error_code: 'NOT_FOUND', trace_id: randomUUID() } };
}

function duplicate(code: string, id: Body): Answer {
  const body = { message: 'Duplicate upload', error_code: code, trace_id: randomUUID(), detail: null, ...id };
  return { status: 409, body };
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

async function readAll(req: IncomingMessage, fault: Fault): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (fault.reset === 'during') {
        req.socket.resetAndDestroy();
        return undefined;
      }
      chunks.push(chunk);
      if (fault.slowReadMs !== undefined) await sleep(fault.slowReadMs);
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

function send(res: ServerResponse, answer: Answer): void {
  const json = typeof answer.body !== 'string';
  const bytes = Buffer.from(json ? JSON.stringify(answer.body) : (answer.body as string));
  res.writeHead(answer.status, {
    ...(json && { 'content-type': 'application/json' }),
    'content-length': bytes.length,
    ...answer.headers,
  });
  res.end(bytes);
}

async function sendSpaces(res: ServerResponse, ms: number, everyMs: number): Promise<void> {
  res.writeHead(200, { 'content-type': 'application/json' });
  const end = Date.now() + ms;
  while (Date.now() < end && !res.destroyed) {
    res.write(' ');
    await sleep(Math.min(everyMs, Math.max(1, end - Date.now())));
  }
}

async function sendCut(res: ServerResponse, answer: Answer, share: number): Promise<void> {
  const bytes = Buffer.from(JSON.stringify(answer.body));
  res.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': bytes.length });
  res.write(bytes.subarray(0, Math.floor(bytes.length * share)));
  await sleep(20);
  res.socket?.resetAndDestroy();
}

function multipartOf(info: Info): Map<string, { type: string; bytes: Buffer }> {
  const boundary = /boundary="?([^";]+)"?/.exec(info.headers['content-type'] ?? '')?.[1] ?? '';
  const parts = new Map<string, { type: string; bytes: Buffer }>();
  for (const piece of info.bytes.toString('latin1').split(`--${boundary}`).slice(1, -1)) {
    const cut = piece.indexOf('\r\n\r\n');
    const head = piece.slice(0, cut);
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
    const type = /content-type:\s*(.+)/i.exec(head)?.[1]?.trim() ?? '';
    parts.set(name, { type, bytes: Buffer.from(piece.slice(cut + 4, -2), 'latin1') });
  }
  return parts;
}
