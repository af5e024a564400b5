import type { IncomingMessage, ServerResponse } from 'node:http';

import { type BodyBounds, discardBody, isBodyComing, isForm, readJson, readRowsForm } from './http/body';
import { type Envelope, logFailure, sendJson, sendRefusal } from './http/reply';
import { checkBearer, UPLOAD_ROOT } from './http/signed-url';
import { notFound, Refusal, toRefusal } from './refusal';
import type { Route, ServiceContext } from './routes/context';
import { deleteAllDatasets, deleteDataset, downloadAllData, getDataSummary } from './routes/datasets';
import { fit, getFit, getFitStatus, submitFit } from './routes/fit';
import {
  checkToken,
  estimateCost,
  getApiUsage,
  getGreetings,
  getServiceStatus,
  healthz,
  metricsRoute,
  modelLimitsRoute,
  readyz,
  root,
  settingsRoute,
} from './routes/health';
import { exportModelRoute, importModelRoute } from './routes/model-files';
import { legacyPredict, predictRoute, predictRows } from './routes/predict';
import { prepareTestSetUpload, prepareTrainSetUpload, putUpload } from './routes/uploads';
import type { SenderPatience } from './slow-body';
import { shuttingDown } from './work/pool-job';

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
    const url = makeUrl(req.url ?? '/');
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
    refuse(context, { req, res }, error, envelope);
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
function makeUrl(target: string): URL {
  const text = target.startsWith('/') ? `http://localhost${target}` : target;
  return URL.canParse(text) ? new URL(text) : new URL('http://localhost/*');
}

function readParsed(req: IncomingMessage, route: Route, patience: SenderPatience): Promise<unknown> {
  return route.takesRows === true && isForm(req)
    ? readRowsForm(req, OF_ROWS, patience)
    : readJson(req, chooseBounds(route), patience);
}

function chooseBounds({ withRows, withConfig }: Route): BodyBounds {
  return withRows === true ? OF_ROWS : withConfig === true ? OF_CONFIG : OF_IDS;
}

function refuse(
  context: ServiceContext,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
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

/** `/{api name}/…` */
const API_ROUTES: Readonly<Record<string, Route>> = {
  prepare_train_set_upload: prepareTrainSetUpload,
  prepare_test_set_upload: prepareTestSetUpload,
  fit,
  submit_fit_job: submitFit,
  get_fit_status: getFitStatus,
  predict: predictRoute,
  get_model_limits: modelLimitsRoute,
  get_settings: settingsRoute,
  estimate_cost: estimateCost,
  get_service_status: getServiceStatus,
};

/** Those without an API name; they may end with a slash. */
const ROOT_ROUTES: Readonly<Record<string, Route>> = {
  '': root,
  healthz,
  readyz,
  metrics: metricsRoute,
  protected: checkToken,
  retrieve_greeting_messages: getGreetings,
  get_api_usage: getApiUsage,
  get_data_summary: getDataSummary,
  download_all_data: downloadAllData,
  delete_dataset: deleteDataset,
  delete_all_datasets: deleteAllDatasets,
  export_fitted_train_set: exportModelRoute,
  import_fitted_train_set: importModelRoute,
  predict: predictRows,
};

/** Routes that end with an id: `/{api name}/fit/{id}`. */
const ID_ROUTES: Readonly<Record<string, Route>> = { fit: getFit };

/** The route that serves a request. */
interface FoundRoute {
  route: Route;
  /** One of a fixed set, for metrics. */
  name: string;
  /** The API name in the path; empty if the route has none. */
  apiName: string;
  id?: string;
}

/** Whether the request needs no token. */
function isOpen(pathname: string, method: string | undefined): boolean {
  const route = findAtRoot(pathname);
  return route?.open === true && route.method === method;
}

/**
 * The route of a path.
 *
 * @param wanted the only API name that is served; undefined for any
 * @throws Refusal 404
 */
function findRoute(pathname: string, wanted: string | undefined): FoundRoute {
  const atRoot = findAtRoot(pathname);
  if (atRoot !== undefined) {
    return { route: atRoot, name: pathname.split('/')[1] || 'root', apiName: '' };
  }
  const [, apiName = '', name = '', ...rest] = pathname.split('/');
  if (apiName === 'v1' && rest.length === 0) {
    if (name === 'predict') {
      return { route: legacyPredict, name, apiName };
    }
    throw notFound(
      `The legacy route /v1/${shown(name)} is not served here; use /{api name}/fit and /{api name}/predict.`,
    );
  }
  const [id] = rest;
  const routes = rest.length === 0 ? API_ROUTES : rest.length === 1 ? ID_ROUTES : {};
  const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
  if (route === undefined) {
    throw notFound(`There is no route ${shown(pathname)}.`);
  }
  if (wanted === undefined ? !/^[A-Za-z0-9][\w-]{0,63}$/.test(apiName) : apiName !== wanted) {
    throw notFound(
      `There is no API named "${shown(apiName)}" here${wanted === undefined ? '' : `; its name is "${wanted}"`}.`,
    );
  }
  return { route, name, apiName, id };
}

function findAtRoot(pathname: string): Route | undefined {
  const [, name = '', ...rest] = pathname.split('/');
  const isAtRoot = rest.join('/') === '' && !pathname.startsWith('//');
  return isAtRoot && Object.hasOwn(ROOT_ROUTES, name) ? ROOT_ROUTES[name] : undefined;
}

/** A part of a URL for a sentence, shortened so that the sentence stays readable. */
function shown(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
