import type { IncomingMessage, ServerResponse } from 'node:http';

import { checkBearer } from './http/auth';
import { type BodyBounds, discardBody, isBodyComing, readJson } from './http/body';
import { isForm, readRowsForm } from './http/form';
import { logFailure } from './http/log-failure';
import { type Envelope, sendJson, sendRefusal } from './http/reply';
import { UPLOAD_ROOT } from './http/signed-url';
import { Refusal, toRefusal } from './refusal';
import type { Route, ServiceContext } from './routes/context';
import { findRoute, isOpen } from './routes/find-route';
import { putUpload } from './routes/put-upload';
import type { SenderPatience } from './slow-body';
import { shuttingDown } from './work/pool/pool-refusals';

/** Request bodies are ids and options; a larger one is refused. Options may hold lists of row numbers. */
const OF_IDS = { bytes: 1024 * 1024 };
const OF_CONFIG = { bytes: 8 * 1024 * 1024 };
/** A body is held in memory and parsed at once; more rows must be uploaded. */
const OF_ROWS = {
  bytes: 16 * 1024 * 1024,
  shape: { nodes: 1_000_000, values: Infinity, texts: Infinity },
};

/** Answers one request, whatever it is; never throws. */
export async function answer(
  context: ServiceContext,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  let envelope: Envelope = 'quickstart';
  let name = 'none';
  const since = performance.now();
  res.once('close', () => {
    const status = res.headersSent ? res.statusCode : undefined;
    context.metrics.countRequest(name, status, (performance.now() - since) / 1000);
  });
  try {
    const url = urlOf(req.url ?? '/');
    if (url.pathname.startsWith(`/${UPLOAD_ROOT}/`)) {
      name = 'upload';
      assertOpen(context);
      await putUpload(context, url, req, res);
      return;
    }
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    if (!isOpen(url.pathname, method)) {
      checkBearer(req.headers.authorization, context.options.token);
      assertOpen(context);
    }
    const { route, name: found, ...place } = findRoute(url.pathname, context.options.apiName);
    name = found;
    envelope = route.envelope;
    if (method !== route.method) {
      throw wrongMethod(route.method);
    }
    if (route.rate !== undefined) {
      context.limiter.take(route.rate);
    }
    const hasBody = route.method === 'POST' && route.rawBody !== true;
    const body = hasBody ? await readParsed(req, route, context.options.times.body) : undefined;
    const result = await route.handle(context, { req, res, url, ...place, body });
    if (result !== undefined) {
      sendJson(res, result.status, result.body);
    }
  } catch (error) {
    refuse(context, req, res, error, envelope);
  } finally {
    discardBody(req, res);
    // From here on the client is timed: one that never reads its answer must not hold the connection for ever.
    if (!res.writableFinished) {
      res.socket?.setTimeout(context.options.times.answerIdleMs);
    }
  }
}

/** @throws Refusal 503 while the service closes: what has been sent before is answered, nothing new is begun */
function assertOpen({ state }: ServiceContext): void {
  if (state() === 'closing') {
    throw shuttingDown();
  }
}

/** The URL of a request. `//` is a path too, not the start of a host; an invalid URL has no route. */
function urlOf(target: string): URL {
  const text = target.startsWith('/') ? `http://localhost${target}` : target;
  return URL.canParse(text) ? new URL(text) : new URL('http://localhost/*');
}

function readParsed(req: IncomingMessage, route: Route, patience: SenderPatience): Promise<unknown> {
  return route.takesRows === true && isForm(req)
    ? readRowsForm(req, OF_ROWS, patience)
    : readJson(req, boundsOf(route), patience);
}

function boundsOf({ withRows, withConfig }: Route): BodyBounds {
  return withRows === true ? OF_ROWS : withConfig === true ? OF_CONFIG : OF_IDS;
}

function refuse(
  context: ServiceContext,
  req: IncomingMessage,
  res: ServerResponse,
  error: unknown,
  envelope: Envelope,
): void {
  const refusal = toRefusal(error);
  if (!req.destroyed) {
    logFailure(context.log, req.method, error);
  }
  if (res.destroyed || res.headersSent) {
    res.destroy();
    return;
  }
  if (isBodyComing(req)) {
    res.setHeader('connection', 'close');
  }
  sendRefusal(res, refusal, envelope);
}

function wrongMethod(method: Route['method']): Refusal {
  const allowed = method === 'GET' ? 'GET, HEAD' : method;
  return new Refusal({
    status: 405,
    errorCode: 'METHOD_NOT_ALLOWED',
    message: `This route takes ${method} requests.`,
    retryable: false,
    headers: { allow: allowed },
  });
}
