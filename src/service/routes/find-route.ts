import { notFound } from '../refusal';
import { checkToken, getApiUsage, getGreetings, root } from './account';
import type { Route } from './context';
import { deleteAllDatasets, deleteDataset, getDataSummary } from './datasets';
import { downloadAllData } from './download';
import { fit, getFit, getFitStatus, submitFit } from './fit';
import { healthz, metricsRoute, readyz } from './health';
import { exportModelRoute, importModelRoute } from './model-files';
import { estimateCost, getServiceStatus, modelLimitsRoute, settingsRoute } from './other';
import { legacyPredict } from './predict/legacy-predict';
import { predictRoute } from './predict/predict';
import { predictRows } from './predict/predict-rows';
import { prepareTestSetUpload, prepareTrainSetUpload } from './prepare-upload';

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
export interface FoundRoute {
  route: Route;
  /** One of a fixed set, for metrics. */
  name: string;
  /** The API name in the path; empty if the route has none. */
  apiName: string;
  id?: string;
}

/** Whether the request needs no token. */
export function isOpen(pathname: string, method: string | undefined): boolean {
  const route = findAtRoot(pathname);
  return route?.open === true && route.method === method;
}

/**
 * The route of a path.
 *
 * @param wanted the only API name that is served; undefined for any
 * @throws Refusal 404
 */
export function findRoute(pathname: string, wanted: string | undefined): FoundRoute {
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
