import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';

import type { Log } from '../options';
import { Refusal, toRefusal } from '../refusal';
import { isBodyComing } from './body';

/** Where `support` of envelope 1 points. */
const SUPPORT_URL = 'https://flows.nodered.org/node/node-red-contrib-tabular-prediction';

/** Envelope 1 (generic) or envelope 2 (quickstart) of S 7. */
export type Envelope = 'generic' | 'quickstart';

const CATEGORY_CODES: Record<string, string> = {
  UNAUTHORIZED: 'auth.unauthorized',
  FORBIDDEN: 'auth.forbidden',
  RATE_LIMIT_EXCEEDED: 'rate.limit.exceeded',
  BUSY: 'rate.limit.exceeded',
  NOT_FOUND: 'not_found',
  VALIDATION_ERROR: 'validation.failed',
  METHOD_NOT_ALLOWED: 'method.not_allowed',
  PAYLOAD_TOO_LARGE: 'limit.exceeded',
  LIMIT_EXCEEDED: 'limit.exceeded',
  STORAGE_FAILED: 'storage.failed',
  SHUTTING_DOWN: 'service.unavailable',
  UNAVAILABLE: 'service.unavailable',
  TIMEOUT: 'service.timeout',
  INTERNAL_ERROR: 'internal',
};

/**
 * Which envelope an error gets. S 7 shows envelope 1 for authentication, rate limits and the train upload
 * route, and envelope 2 for things not found; so: what concerns every route alike (401, 405, 413, 429, 5xx)
 * and everything on the train upload route is generic, the rest is quickstart.
 */
export function envelopeFor(status: number, route: Envelope): Envelope {
  const everywhere = status === 401 || status === 405 || status === 413 || status === 429 || status >= 500;
  return everywhere ? 'generic' : route;
}

/** The error body of a refusal, in the envelope given. */
function errorBody(refusal: Refusal, envelope: Envelope, traceId: string): Record<string, unknown> {
  const { errorCode, retryable, status } = refusal.body;
  // Clients add the full stop themselves.
  const message = refusal.message.replace(/\.$/, '');
  if (envelope === 'quickstart') {
    return { message, error_code: errorCode, trace_id: traceId };
  }
  return {
    code: CATEGORY_CODES[errorCode] ?? errorCode.toLowerCase().replaceAll('_', '.'),
    detail: message,
    retryable: retryable ?? status === 429,
    support: SUPPORT_URL,
  };
}

/**
 * Answers with JSON; text and bytes are taken as JSON already. While the request is still arriving, the response is
 * written but not ended: Node would close the connection, and a sender that is cut off while writing never reads the
 * answer. `discardBody` receives the rest.
 */
export function sendJson(
  res: ServerResponse,
  status: number,
  body: object | string | Uint8Array,
  headers: Record<string, string> = {},
): void {
  if (res.destroyed || res.writableEnded) {
    return;
  }
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.byteLength,
    'cache-control': 'no-store',
    ...headers,
  });
  if (isBodyComing(res.req)) {
    res.write(bytes);
    res.req.once('end', () => res.end());
  } else {
    res.end(bytes);
  }
}

/** Answers with the error body of a refusal on this kind of route. */
export function sendRefusal(res: ServerResponse, refusal: Refusal, route: Envelope): void {
  const { status, retryAfter, headers } = refusal.body;
  const traceId = randomUUID();
  sendJson(res, status, errorBody(refusal, envelopeFor(status, route), traceId), {
    ...(retryAfter === undefined ? {} : { 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) }),
    'x-trace-id': traceId,
    ...headers,
  });
}

/**
 * Answers with JSON that may take minutes (S 1). Within `keepaliveMs` it is an ordinary answer. After that the
 * status 200 goes out, then a space every `keepaliveMs`, and finally the JSON (given as a value, or as its bytes); an
 * error is then reported by a body with
 * `_streamed_error: true`, the status it would have had and the fields of the route's envelope.
 */
export async function answerLate(
  res: ServerResponse,
  answer: Promise<object>,
  { keepaliveMs, route, log }: { keepaliveMs: number; route: Envelope; log: Log },
): Promise<void> {
  const timer = setInterval(() => {
    if (res.destroyed) {
      return;
    }
    if (!res.headersSent) {
      res.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    }
    res.write(' ');
  }, keepaliveMs);
  try {
    const body = await answer;
    if (res.headersSent) {
      res.end(body instanceof Uint8Array ? body : JSON.stringify(body));
    } else {
      sendJson(res, 200, body);
    }
  } catch (error) {
    logFailure(log, res.req.method, error);
    const refusal = toRefusal(error);
    if (!res.headersSent) {
      sendRefusal(res, refusal, route);
      return;
    }
    const envelope = envelopeFor(refusal.status, route);
    const body = errorBody(refusal, envelope, randomUUID());
    res.end(JSON.stringify({ _streamed_error: true, status_code: refusal.status, ...body }));
  } finally {
    clearInterval(timer);
  }
}

/** Logs an unexpected failure of a request: the answer gives no internal details, so the log must. */
export function logFailure(log: Log, method: string | undefined, error: unknown): void {
  if (!(error instanceof Refusal)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    log('warn', `A ${method ?? ''} request failed: ${text}`);
  }
}
