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
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import type { StrictShapes } from './strict-checks';
import { type Fault, type FaultFunction, Faults, type StrictRoute } from './strict-faults';
import { type Answer, envelope, parseJson, readAll, send, sendCut, sendSpaces } from './strict-http';
import { type StrictOptions, StrictRoutes } from './strict-routes';
import * as store from './strict-store';
import type { Row } from './strict-tables';

export { type Fault, type FaultFunction, inTurn, type StrictRoute } from './strict-faults';
export type { StrictOptions } from './strict-routes';
export { crc32cBase64 } from './strict-tables';

export interface SeenRequest {
  route: StrictRoute;
  method: string;
  url: string;
  headers: Record<string, string | string[] | undefined>;
  /** Parsed JSON, or the number of bytes of a PUT. */
  body?: unknown;
  at: number;
}

type Body = Record<string, unknown>;

/** A request that was on its way when another was refused may come in so much later on a busy machine. */
const IN_FLIGHT_MS = 400;

/** Routes that some services have and some have not: a client may find out. */
const MAY_BE_ASKED_FOR =
  /\/(?:get_fit_status|submit_fit_job|get_settings|get_model_limits|fit\/[^/]+)$|^\/get_api_usage\/$/;

export async function startStrictService(options: StrictOptions = {}): Promise<StrictService> {
  const service = new StrictService(options);
  await service.listen();
  return service;
}

export class StrictService {
  /** Everything seen that the specification doesn't allow. */
  readonly breaches: string[] = [];
  /** How many requests came. */
  served = 0;
  /** Every request, in order of arrival (the newest 20,000). */
  readonly requests: SeenRequest[] = [];
  readonly token: string;
  url = '';
  private readonly routes: StrictRoutes;
  private readonly sockets = new Set<Socket>();
  private readonly faults = new Faults();
  private readonly windows = new Map<StrictRoute, { start: number; count: number; refusedAt?: number }>();
  private readonly server;
  private readonly shapes: StrictShapes;

  constructor(private readonly options: StrictOptions) {
    this.token = options.token ?? `strict-token-${randomUUID()}`;
    this.shapes = {
      apiName: options.apiName ?? 'svc',
      fitRequest: options.fitRequest ?? 'any',
      fileInfo: options.fileInfo ?? 'any',
    };
    this.routes = new StrictRoutes(
      options,
      this.shapes,
      (text) => this.breach(text),
      () => this.url,
    );
    const listener = (req: IncomingMessage, res: ServerResponse) => void this.serve(req, res);
    this.server = options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
    this.server.requestTimeout = 0;
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
      if (this.faults.next('connection', '', {}).reset !== undefined) {
        socket.resetAndDestroy();
      }
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
    this.routes.models.delete(fittedId);
  }

  /** Forgets every fit that is under way. */
  forgetFits(): void {
    this.routes.jobs.clear();
  }

  /** Forgets every fitted model. */
  deleteModels(): void {
    this.routes.models.clear();
  }

  /** Forgets every test set that has come so far, as a service does that keeps them for a while. */
  deleteTestSets(): void {
    for (const [id, { set }] of this.routes.uploads) {
      if (set === 'test') {
        this.routes.uploads.delete(id);
      }
    }
  }

  /** The rows of an upload as they arrived: features for a test set; X or y for a train set. */
  async rowsOf(uploadId: string, file: 'x' | 'y' = 'x'): Promise<Row[]> {
    return (await store.tableOf(this.routes.uploads.get(uploadId)!.files[file === 'x' ? 0 : 1]!)).rows;
  }

  /** The bytes of an upload as they arrived. */
  bytesOf(uploadId: string, file: 'x' | 'y' = 'x'): Buffer {
    return store.bytesOf(this.routes.uploads.get(uploadId)!.files[file === 'x' ? 0 : 1]!);
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
    this.served += 1;
    this.requests.push(seen);
    if (this.requests.length > 20_000) {
      this.requests.shift();
    }
    if (route === undefined) {
      if (!MAY_BE_ASKED_FOR.test(req.url ?? '')) {
        this.breach(`unknown route ${req.method} ${req.url}`);
      }
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
    if (bytes === undefined) {
      return;
    }
    seen.body = route === 'put' ? bytes.length : parseJson(bytes);
    if (fault.silent === true) {
      return;
    }
    if (fault.status !== undefined) {
      await sleep(fault.delayMs ?? 0);
      send(res, { status: fault.status, body: fault.body ?? '', headers: fault.headers });
      return;
    }
    const slowFit = route === 'fit' ? (this.options.fitMs ?? 0) : 0;
    const spaces = fault.whitespaceMs ?? slowFit;
    const answer =
      this.refusal(route, req) ?? (await this.routes.act(route, req, { headers: req.headers, bytes }));
    if (fault.reset === 'after') {
      req.socket.resetAndDestroy();
      return;
    }
    const late = (fault.delayMs ?? 0) + (route === 'predict' ? (this.options.predictMs ?? 0) : 0);
    // An answer that nobody waits for any more does not keep the process.
    await sleep(late, undefined, { ref: false });
    if (fault.patch !== undefined) {
      answer.body = { ...(answer.body as Body), ...fault.patch };
    }
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
    if (path.startsWith('/signed/')) {
      return req.method === 'PUT' ? 'put' : undefined;
    }
    if (path.startsWith('/results/')) {
      return req.method === 'GET' ? 'download' : undefined;
    }
    if (path === '/v1/predict') {
      return req.method === 'POST' ? 'v1/predict' : undefined;
    }
    const { jobs } = this.options;
    if (path === '/get_api_usage/' && jobs?.usage !== undefined) {
      return req.method === 'POST' ? 'get_api_usage' : undefined;
    }
    const [, api, name, more] = path.split('/');
    if (api === this.shapes.apiName && name === 'fit' && more !== undefined) {
      return req.method === 'GET' && jobs?.status === 'get' ? 'fit/{id}' : undefined;
    }
    if (api !== this.shapes.apiName || more !== undefined) {
      return undefined;
    }
    const methods: Record<string, string> = {
      prepare_train_set_upload: 'POST',
      prepare_test_set_upload: 'POST',
      fit: 'POST',
      predict: 'POST',
      estimate_cost: 'POST',
      ...(jobs === undefined ? { get_model_limits: 'GET' } : { get_settings: 'GET', submit_fit_job: 'POST' }),
      ...(jobs !== undefined && jobs.status !== 'get' && { get_fit_status: 'POST' }),
    };
    return methods[name ?? ''] === req.method ? (name as StrictRoute) : undefined;
  }

  /** Rules on headers, S 5 and 2.2. */
  private checkHead(route: StrictRoute, req: IncomingMessage): void {
    const { headers } = req;
    if (route === 'put') {
      if (headers.authorization !== undefined) {
        this.breach('PUT with an Authorization header');
      }
      if (headers['transfer-encoding'] !== undefined) {
        this.breach('PUT with Transfer-Encoding');
      }
      if (headers['content-length'] === undefined) {
        this.breach('PUT without Content-Length');
      }
      return;
    }
    if (route === 'download') {
      if (headers.authorization !== undefined) {
        this.breach('download with an Authorization header');
      }
      return;
    }
    if (headers.authorization === undefined) {
      this.breach(`${route} without a bearer`);
    }
    if (req.method === 'POST' && route !== 'get_api_usage') {
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
    const isSigned = route === 'put' || route === 'download';
    if (!isSigned && req.headers.authorization !== `Bearer ${this.token}`) {
      return { status: 401, body: envelope('auth.unauthorized', 'Missing or invalid authentication token') };
    }
    const limit = this.options.rateLimits?.[route];
    if (limit === undefined) {
      return undefined;
    }
    const now = Date.now();
    let window = this.windows.get(route);
    if (window === undefined || now >= window.start + limit.windowMs) {
      window = { start: now, count: 0 };
      this.windows.set(route, window);
    }
    window.count += 1;
    if (window.count <= limit.count) {
      return undefined;
    }
    if (window.refusedAt !== undefined && now - window.refusedAt > IN_FLIGHT_MS) {
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

  private breach(text: string): void {
    this.breaches.push(text);
  }
}
