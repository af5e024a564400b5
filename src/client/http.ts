import { createRequire } from 'node:module';
import { rootCertificates } from 'node:tls';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

import type { buildConnector, Dispatcher } from 'undici';

import { lazy, loadInParts } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { ProxyOptions, TlsOptions } from './settings';
import { readBeforeFailing, readPastContinue } from './socket';

const MAX_ERROR = 1024 * 1024;
/** Files of undici that, with their imports, are about a quarter of it each: loading it in one piece takes 80 ms. */
const PARTS = ['dispatcher/agent', 'web/fetch', 'web/websocket/stream/websocketstream'];
const CONNECT_TIMEOUT_MS = 10_000;
/** Origins whose way out is remembered. */
const MAX_ORIGINS = 100;
const MAX_HOPS = 3;

/** One HTTP request. Each attempt opens a streamed body again. */
export interface HttpRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  url: URL;
  headers: Record<string, string>;
  body?: Buffer | { bytes: number; open(): AsyncIterable<Uint8Array> };
}

export interface HttpAnswer {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
}

/** A request without a complete answer. */
export class TransportFailure extends Error {
  constructor(
    message: string,
    /** Code of the system or of undici: `ECONNREFUSED`. */
    readonly code: string | undefined,
    /** Whether any of the request may have been sent: false means that the service certainly has not seen it. */
    readonly sent: boolean,
  ) {
    super(message);
    this.name = 'TransportFailure';
  }
}

/** Code of a request that a proxy did not let through. */
export const PROXY_REFUSED = 'PROXY_REFUSED';

/** An answer longer than the request can call for. */
export class AnswerTooLong extends Error {
  constructor(maxBytes: number) {
    super(`The answer is longer than ${maxBytes} bytes.`);
  }
}

/**
 * No time limit of the library's own: a fit may send white space for minutes, and the call's deadline bounds it. Said
 * with each request, because a pool may forget it: undici's way through a proxy to http does.
 */
const NO_TIMEOUTS = { headersTimeout: 0, bodyTimeout: 0 };

/**
 * Most bytes of the headers of an answer, and of its trailers: Envoy passes on 60 KB, other gateways less. Node's own
 * bound of 16 KB would lose an answer that is paid for.
 */
export const MAX_HEADERS = 64 * 1024;

/** Most bytes of an answer without a limit of its own: ids, limits, the report of a fit. */
const MAX_ANSWER = 8 * 1024 * 1024;

/**
 * Sends one request and reads the whole answer. White space before a body is dropped as it comes (keepalive, S 1).
 * An answer that arrives while the body is still being sent ends the exchange.
 * @throws TransportFailure where no whole answer came, AnswerTooLong, or the error that opening the body threw.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: HttpRequest,
  signal: AbortSignal,
  maxBytes = MAX_ANSWER,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    let sent = false;
    let status = 0;
    let headers: Record<string, string | undefined> = {};
    const chunks: Buffer[] = [];
    let size = 0;
    let controller: Dispatcher.DispatchController | undefined;
    const bodyFailure: { error?: unknown } = {};

    const abort = () => {
      controller?.abort(new Error('aborted'));
      fail(new Error('aborted'));
    };
    const finish = () => {
      signal.removeEventListener('abort', abort);
      const answer = { status, headers, body: Buffer.concat(chunks) };
      resolve(headers['content-encoding'] === undefined ? answer : unpacked(answer, maxBytes));
    };
    const fail = (error: Error) => {
      signal.removeEventListener('abort', abort);
      if (bodyFailure.error instanceof Error) {
        reject(bodyFailure.error);
      } else if (error instanceof AnswerTooLong) {
        reject(error);
      } else {
        reject(asFailure(error, sent));
      }
    };
    if (signal.aborted) {
      reject(new TransportFailure('aborted', undefined, false));
      return;
    }
    signal.addEventListener('abort', abort, { once: true });
    const { body } = request;

    try {
      dispatcher.dispatch(
        {
          origin: request.url.origin,
          path: request.url.pathname + request.url.search,
          method: request.method,
          headers: request.headers,
          body: body === undefined || Buffer.isBuffer(body) ? body : openStream(body, bodyFailure),
          ...NO_TIMEOUTS,
        },
        {
          onRequestStart(current) {
            controller = current;
            if (signal.aborted) {
              current.abort(new Error('aborted'));
            } else {
              sent = true;
            }
          },
          onResponseStart(_, code, fields) {
            status = code;
            headers = firstOfEach(fields);
          },
          onResponseData(current, chunk) {
            const isText = headers['content-encoding'] === undefined;
            const data = isText && size === 0 && chunk[0]! <= 0x20 ? withoutLeadingSpace(chunk) : chunk;
            // Even an empty slice of white space would keep the buffer that it was cut from.
            if (data.length === 0) {
              return;
            }
            size += data.length;
            const ok = status >= 200 && status < 300;
            if (size <= (ok ? maxBytes : MAX_ERROR)) {
              chunks.push(data);
            } else if (ok) {
              current.abort(new AnswerTooLong(maxBytes));
            } else {
              finish();
              current.abort(new Error('The rest of an error page is not worth reading.'));
            }
          },
          onResponseEnd: finish,
          onResponseError(_, error) {
            fail(error);
          },
        },
      );
    } catch (error) {
      fail(error as Error);
    }
  });
}

const UNPACK: Readonly<Record<string, typeof gunzip>> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: inflate,
  br: brotliDecompress,
};

/**
 * The answer as the service wrote it. It is asked for without compression, which a gateway may not heed: what has been
 * paid for is not lost to that.
 * @throws AnswerTooLong; TransportFailure where it cannot be unpacked
 */
async function unpacked(answer: HttpAnswer, maxBytes: number): Promise<HttpAnswer> {
  const { status, headers, body } = answer;
  const unpack = UNPACK[headers['content-encoding']!.trim().toLowerCase()];
  if (unpack === undefined || body.length === 0) {
    return answer;
  }
  try {
    return { status, headers, body: await promisify(unpack)(body, { maxOutputLength: maxBytes }) };
  } catch (error) {
    if (status < 200 || status > 299) {
      return { status, headers, body: Buffer.alloc(0) };
    }
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === 'ERR_BUFFER_TOO_LARGE'
      ? new AnswerTooLong(maxBytes)
      : new TransportFailure(message, code, true);
  }
}

/** Of a header that came twice, the first: a gateway may add its own to that of the service. */
function firstOfEach(
  fields: Record<string, string | string[] | undefined>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  );
}

/**
 * The body for undici. An error of the file itself is kept aside, because it is not one of the network; the stream
 * is closed whatever ends the sending. It ends with the last byte announced, not with the end of its source, which may
 * come some turns of the event loop later: the answer may be there by then, and undici closes a connection whose
 * answer is complete before its request.
 */
function openStream(
  body: Exclude<HttpRequest['body'], Buffer | undefined>,
  failure: { error?: unknown },
): Dispatcher.DispatchOptions['body'] {
  if (body.bytes === 0) {
    return Buffer.alloc(0);
  }
  const stream = async function* () {
    let left = body.bytes;
    try {
      for await (const chunk of body.open()) {
        left -= chunk.length;
        yield chunk;
        if (left <= 0) {
          break;
        }
      }
    } catch (error) {
      failure.error = error;
      throw error;
    }
    if (left !== 0) {
      failure.error = new Error('The file changed its size while it was being sent.');
      throw failure.error as Error;
    }
  };
  return stream() as unknown as Dispatcher.DispatchOptions['body'];
}

function withoutLeadingSpace(chunk: Buffer): Buffer {
  let start = 0;
  while (
    start < chunk.length &&
    (chunk[start] === 0x20 || (chunk[start]! >= 0x09 && chunk[start]! <= 0x0d))
  ) {
    start += 1;
  }
  return start === 0 ? chunk : chunk.subarray(start);
}

function asFailure(error: Error & { code?: unknown; cause?: unknown }, sent: boolean): TransportFailure {
  const inner = innermost(error);
  if (/proxy authentication required|\((?!5)\d+\) !== 200 when http tunneling/i.test(inner.message)) {
    return new TransportFailure(inner.message, PROXY_REFUSED, false);
  }
  const code = typeof inner.code === 'string' ? inner.code : undefined;
  return new TransportFailure(inner.message, code, sent);
}

/** Connecting to several addresses fails with all the errors in one. */
function innermost(error: Error & { code?: unknown; errors?: unknown }): Error & { code?: unknown } {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) {
    return error.errors[0];
  }
  return error;
}

const load = createRequire(__filename);
const undici = lazy(() => load('undici') as typeof import('undici'));

/** Loads undici without blocking the event loop the whole time. */
export async function warmUndici(): Promise<void> {
  await loadInParts(
    load,
    PARTS.map((part) => `undici/lib/${part}`),
  );
  undici();
}

/**
 * Connection pools, one per way out: the service's own origin with the user's certificate, every other origin
 * (storage behind signed URLs) without it; each direct or through a proxy. HTTP/1.1 with keep-alive.
 */
export class Dispatchers {
  private readonly pools = new Map<string, Dispatcher>();
  /** By origin: which way leads there does not change. */
  private readonly ways = new Map<string, Dispatcher>();

  constructor(
    private readonly apiOrigin: string,
    private readonly tls: TlsOptions,
    private readonly proxy: ProxyOptions,
  ) {}

  for(url: URL): Dispatcher {
    let way = this.ways.get(url.origin);
    if (way === undefined) {
      way = this.pool(url);
      if (this.ways.size >= MAX_ORIGINS) {
        this.ways.clear();
      }
      this.ways.set(url.origin, way);
    }
    return way;
  }

  private pool(url: URL): Dispatcher {
    const own = url.origin === this.apiOrigin;
    const proxy = proxyFor(url, this.proxy);
    const key = `${own ? 'api' : 'other'} ${proxy ?? 'direct'}`;
    let pool = this.pools.get(key);
    if (pool === undefined) {
      pool = this.open(own ? this.tls : storageTls(this.tls), proxy);
      this.pools.set(key, pool);
    }
    return pool;
  }

  /** Host and port that a request goes to, for messages: those of the proxy if there is one. */
  place(url: URL): string {
    const proxy = proxyFor(url, this.proxy);
    return proxy !== undefined && URL.canParse(proxy)
      ? `${new URL(proxy).host} (the proxy before ${url.host})`
      : url.host;
  }

  /** Destroys every connection, in use or idle. */
  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    this.ways.clear();
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  private open(tls: TlsOptions, proxy: string | undefined): Dispatcher {
    const { Agent, Pool, ProxyAgent } = undici();
    const maxHeaderSize = MAX_HEADERS;
    if (proxy === undefined) {
      return new Agent({ connect: connector(tls), maxHeaderSize });
    }
    if (!URL.canParse(proxy) || !/^https?:$/.test(new URL(proxy).protocol)) {
      throw new ServiceError('config.invalid', 'The proxy is not an http:// or https:// URL.');
    }
    return new ProxyAgent({
      uri: proxy,
      // The way to http takes no options of pools from here.
      factory: (origin, options) =>
        new Pool(origin, { ...(options as Record<string, unknown>), maxHeaderSize }),
      requestTls: { ...tls, timeout: CONNECT_TIMEOUT_MS },
      proxyTunnel: false,
    });
  }
}

function connector(tls: TlsOptions): buildConnector.connector {
  const connect = undici().buildConnector({ ...tls, timeout: CONNECT_TIMEOUT_MS, allowH2: false });
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) {
        readBeforeFailing(socket);
        readPastContinue(socket);
        callback(null, socket);
      } else {
        callback(error, null);
      }
    });
}

/** Storage is verified by the public roots and the user's CA, and never sees the client certificate. */
function storageTls(tls: TlsOptions): TlsOptions {
  if (tls.ca === undefined) {
    return {};
  }
  return { ca: [...rootCertificates, tls.ca].map(String).join('\n') };
}

type Environment = Record<string, string | undefined>;

/** The proxy for a URL, or undefined where it is reached directly. Loopback is never proxied. */
export function proxyFor(
  url: URL,
  options: ProxyOptions,
  environment: Environment = process.env,
): string | undefined {
  if (isLoopback(url.hostname)) {
    return undefined;
  }
  if (options.url !== undefined && options.url !== '') {
    return listed(url, options.noProxy ?? []) ? undefined : withScheme(options.url);
  }
  const read = (name: string) => environment[name] ?? environment[name.toUpperCase()] ?? '';
  const proxy = (url.protocol === 'https:' ? read('https_proxy') : read('http_proxy')) || read('all_proxy');
  const noProxy = options.noProxy ?? read('no_proxy').split(/[\s,]+/);
  return proxy === '' || listed(url, noProxy) ? undefined : withScheme(proxy);
}

export function isLoopback(hostname: string): boolean {
  const host = bare(hostname);
  return (
    host === 'localhost' ||
    host.endsWith('.localhost') ||
    /^127(?:\.\d+){3}$/.test(host) ||
    host === '0.0.0.0' ||
    host === '::1' ||
    /^::ffff:(?:127\.|7f)/.test(host)
  );
}

function listed(url: URL, noProxy: readonly string[]): boolean {
  const host = bare(url.hostname);
  const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port;
  return noProxy.some((entry) => {
    const rule = entry.trim().toLowerCase();
    if (rule === '*') {
      return true;
    }
    const parts = /^(.*?)(?::(\d+))?$/.exec(rule.includes('::') ? bare(rule) : rule);
    const name = (parts?.[1] ?? '').replace(/^\*?\.?/, '');
    return (
      name !== '' &&
      (parts?.[2] === undefined || parts[2] === port) &&
      (host === name || host.endsWith(`.${name}`))
    );
  });
}

function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$/g, '');
}

function withScheme(proxy: string): string {
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/**
 * The request that a redirect asks for, where it stays on its origin and keeps its method; undefined where the answer is
 * none. What leaves the origin would take the table, and the token if it were sent, to somebody else.
 * @param hops redirects before it
 * @throws ServiceError `response.invalid`
 */
export function redirected(
  request: HttpRequest,
  answer: HttpAnswer,
  what: string,
  hops: number,
): HttpRequest | undefined {
  const { location } = answer.headers;
  if (answer.status < 300 || answer.status > 399 || location === undefined) {
    return undefined;
  }
  const { method, url } = request;
  const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  if (next?.origin !== url.origin) {
    const where = next === undefined ? 'nowhere' : next.origin;
    throw refused(
      what,
      answer,
      `to ${where}, which is another address; if it is the service's, set it as the base URL`,
    );
  }
  if (answer.status !== 307 && answer.status !== 308 && method !== 'GET') {
    throw refused(what, answer, 'in a way that would lose what is sent');
  }
  if (hops >= MAX_HOPS) {
    throw refused(what, answer, `again and again (${hops} times)`);
  }
  return { ...request, url: next };
}

function refused(what: string, answer: HttpAnswer, how: string): ServiceError {
  return new ServiceError('response.invalid', `The ${what} is redirected (${answer.status}) ${how}.`, {
    status: answer.status,
  });
}
