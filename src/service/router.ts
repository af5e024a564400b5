import type { IncomingMessage, ServerResponse } from 'node:http';

import { checkBearer } from './http/auth';
import { discardBody, isBodyComing, readJson } from './http/body';
import { logFailure } from './http/log-failure';
import { type Envelope, sendJson, sendRefusal } from './http/reply';
import { UPLOAD_ROOT } from './http/signed-url';
import { notFound, Refusal, toRefusal } from './refusal';
import { checkToken, getApiUsage, getGreetings, root } from './routes/account';
import type { Route, ServiceContext } from './routes/context';
import { fit } from './routes/fit';
import { legacyPredict } from './routes/legacy-predict';
import { estimateCost, getModelLimits, getServiceStatus } from './routes/other';
import { predict } from './routes/predict';
import { prepareTestSetUpload, prepareTrainSetUpload } from './routes/prepare-upload';
import { putUpload } from './routes/put-upload';

/** `/{api name}/…` */
const API_ROUTES: Readonly<Record<string, Route>> = {
  prepare_train_set_upload: prepareTrainSetUpload,
  prepare_test_set_upload: prepareTestSetUpload,
  fit,
  predict,
  get_model_limits: getModelLimits,
  estimate_cost: estimateCost,
  get_service_status: getServiceStatus,
};

/** Those without an API name; they may end with a slash. */
const ROOT_ROUTES: Readonly<Record<string, Route>> = {
  '': root,
  protected: checkToken,
  retrieve_greeting_messages: getGreetings,
  get_api_usage: getApiUsage,
};

/** Request bodies are ids and options; more than this is none of ours. Options may hold lists of row numbers. */
const MAX_JSON_BYTES = 1024 * 1024;
const MAX_CONFIG_BYTES = 8 * 1024 * 1024;

/** Answers one request, whatever it is; never throws. */
export async function answer(
  context: ServiceContext,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  let envelope: Envelope = 'quickstart';
  try {
    const url = new URL(req.url ?? '/', 'http://localhost');
    if (url.pathname.startsWith(`/${UPLOAD_ROOT}/`)) {
      await putUpload(context, url, req, res);
      return;
    }
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const atRoot = findAtRoot(url.pathname);
    if (atRoot?.open !== true || method !== atRoot.method) {
      checkBearer(req.headers.authorization, context.options.token);
    }
    const { route, apiName } =
      atRoot === undefined ? find(context, url.pathname) : { route: atRoot, apiName: '' };
    envelope = route.envelope;
    if (method !== route.method) {
      throw wrongMethod(route.method);
    }
    if (route.rate !== undefined) {
      context.limiter.take(route.rate);
    }
    if (req.headers.expect !== undefined) {
      res.writeContinue();
    }
    const withJson = route.method === 'POST' && route.rawBody !== true;
    const maxBytes = route.withConfig === true ? MAX_CONFIG_BYTES : MAX_JSON_BYTES;
    const body = withJson ? await readJson(req, maxBytes, context.options.times.body) : undefined;
    const result = await route.handle(context, { req, res, apiName, body });
    if (result !== undefined) {
      sendJson(res, result.status, result.body);
    }
  } catch (error) {
    refuse(context, req, res, error, envelope);
  } finally {
    discardBody(req, res);
    // From here on the time is the client's: reading nothing of a long answer must not hold it for ever.
    if (!res.writableFinished) {
      res.socket?.setTimeout(context.options.times.answerIdleMs);
    }
  }
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

function findAtRoot(pathname: string): Route | undefined {
  const [, name = '', ...rest] = pathname.split('/');
  return rest.join('/') === '' && Object.hasOwn(ROOT_ROUTES, name) ? ROOT_ROUTES[name] : undefined;
}

/** @throws Refusal 404 */
function find(context: ServiceContext, pathname: string): { route: Route; apiName: string } {
  const [, apiName = '', name = '', ...rest] = pathname.split('/');
  if (apiName === 'v1' && rest.length === 0) {
    if (name === 'predict') {
      return { route: legacyPredict, apiName };
    }
    throw notFound(
      `The legacy route /v1/${shown(name)} is not served here; use /{api name}/fit and /{api name}/predict.`,
    );
  }
  const route = rest.length === 0 && Object.hasOwn(API_ROUTES, name) ? API_ROUTES[name] : undefined;
  if (route === undefined) {
    throw notFound(`There is no route ${shown(pathname)}.`);
  }
  const wanted = context.options.apiName;
  if (wanted === undefined ? !/^[A-Za-z0-9][\w-]{0,63}$/.test(apiName) : apiName !== wanted) {
    throw notFound(
      `There is no API named "${shown(apiName)}" here${wanted === undefined ? '' : `; its name is "${wanted}"`}.`,
    );
  }
  return { route, apiName };
}

/** A part of a URL in a sentence, which stays readable whatever was asked for. */
function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
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
