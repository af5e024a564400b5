import type {
  FileInfo,
  FitRequest,
  ParsedPredictRequest,
  PredictMetadata,
  PrepareTestSetUploadRequest,
  PrepareTrainSetUploadRequest,
} from './types';
import { takesQuantiles } from './vocabulary';

/** The names that vary between deployments of the service (S intro, S 2.1, S 4.3). */
export interface Dialect {
  /** The product name that replaces `svc` in routes and fields. */
  apiName: string;
  /** Shape of the fit request: `task_config` is shape B of S 4.3, `flat` is shape A. */
  fitRequest: 'task_config' | 'flat';
  /** Naming of file info: `schema` is format/hash, `sample` is filename/content_hash (S 2.1). */
  fileInfo: 'schema' | 'sample';
}

export const DEFAULT_DIALECT: Dialect = { apiName: 'svc', fitRequest: 'task_config', fileInfo: 'schema' };

/** Routes whose path carries the product name. */
export type ServiceRoute =
  | 'prepare_train_set_upload'
  | 'prepare_test_set_upload'
  | 'fit'
  | 'predict'
  | 'get_model_limits'
  | 'estimate_cost'
  /** Not of the specification: the hosted service has these three. */
  | 'submit_fit_job'
  | 'get_fit_status'
  | 'get_settings'
  /** Not of the specification: the embedded service alone has it. */
  | 'get_service_status';

export const LEGACY_PREDICT_PATH = '/v1/predict';

/** Not of the specification: the hosted service has it, outside of its product's name. */
export const USAGE_PATH = '/get_api_usage/';

/** Path of a route below the base URL: `/svc/fit`. */
export function routePath(route: ServiceRoute, dialect: Pick<Dialect, 'apiName'>): string {
  return `/${dialect.apiName}/${route}`;
}

/** Not of the specification: a fitted train set as bytes, out of the embedded service and into it. */
export const EXPORT_MODEL_PATH = '/export_fitted_train_set/';
export const IMPORT_MODEL_PATH = '/import_fitted_train_set/';

/** Not of the specification: what a service keeps can be removed. */
export const DELETE_DATASET_PATH = '/delete_dataset/';

type Body = Record<string, unknown>;

/** Body of S 4.1. */
export function toWireTrainSetUpload(request: PrepareTrainSetUploadRequest, dialect: Dialect): Body {
  return defined({
    x_train_info: toWireFileInfo(request.x_train_info, 'x_train', dialect),
    y_train_info: toWireFileInfo(request.y_train_info, 'y_train', dialect),
    description: request.description,
    force_reupload: request.force_reupload,
  });
}

/** Body of S 4.2. */
export function toWireTestSetUpload(request: PrepareTestSetUploadRequest, dialect: Dialect): Body {
  return {
    fitted_train_set_id: request.fitted_train_set_id,
    x_test_info: toWireFileInfo(request.x_test_info, 'x_test', dialect),
  };
}

/** Body of S 4.3 in the dialect's one shape, never both. */
export function toWireFit(request: FitRequest, dialect: Dialect): Body {
  const { apiName } = dialect;
  const head = { train_set_upload_id: request.train_set_upload_id };
  const systems = { [`${apiName}_systems`]: request.svc_systems };
  const config = { [`${apiName}_config`]: request.svc_config };
  if (dialect.fitRequest === 'flat') {
    return defined({
      ...head,
      task: request.task,
      ...systems,
      ...config,
      thinking_effort: request.thinking_effort,
      thinking_timeout_s: request.thinking_timeout_s,
      thinking_effort_metric: request.thinking_effort_metric,
      force_refit: request.force_refit,
    });
  }
  const thinking = defined({
    effort: request.thinking_effort,
    timeout_secs: request.thinking_timeout_s,
    metric: request.thinking_effort_metric,
    ...request.thinking_folds,
  });
  return defined({
    ...head,
    task_config: defined({ task: request.task, ...config }),
    ...systems,
    thinking_config: Object.keys(thinking).length > 0 ? thinking : undefined,
    force_refit: request.force_refit,
  });
}

/** Body of S 4.4. */
export function toWirePredict(request: ParsedPredictRequest, dialect: Pick<Dialect, 'apiName'>): Body {
  return defined({
    test_set_upload_id: request.test_set_upload_id,
    fitted_train_set_id: request.fitted_train_set_id,
    task_config: toWireTask(request, dialect),
    force_refit: request.force_refit,
  });
}

/** `task_config` of a predict. Quantiles go with the output types `quantiles` and `main` only. */
export function toWireTask(
  request: Pick<ParsedPredictRequest, 'task' | 'svc_config' | 'output_type' | 'quantiles'>,
  dialect: Pick<Dialect, 'apiName'>,
): Body {
  const params = defined({
    output_type: request.output_type,
    quantiles: takesQuantiles(request.output_type) ? request.quantiles : undefined,
  });
  return defined({
    task: request.task,
    [`${dialect.apiName}_config`]: request.svc_config,
    predict_params: Object.keys(params).length > 0 ? params : undefined,
  });
}

/** Metadata with the canonical name for the configuration (S 2.7). */
export function fromWireMetadata(metadata: Body, dialect: Pick<Dialect, 'apiName'>): PredictMetadata {
  return renamed(metadata, [[`${dialect.apiName}_config`, 'svc_config']]);
}

/** Metadata with the deployment's name for the configuration. */
export function toWireMetadata(metadata: PredictMetadata, dialect: Pick<Dialect, 'apiName'>): Body {
  return renamed(metadata, [['svc_config', `${dialect.apiName}_config`]]);
}

/** The pairs of [name on the wire, canonical name]. */
export function wireNames(dialect: Pick<Dialect, 'apiName'>): [string, string][] {
  return [
    [`${dialect.apiName}_config`, 'svc_config'],
    [`${dialect.apiName}_systems`, 'svc_systems'],
  ];
}

/** A shallow copy with some properties renamed. A property that already has the new name is kept. */
export function renamed(body: Body, names: [from: string, to: string][]): Body {
  const to = new Map(names);
  const result: Body = {};
  for (const [name, value] of Object.entries(body)) {
    result[to.get(name) ?? name] = value;
  }
  return result;
}

function toWireFileInfo(info: FileInfo, stem: string, dialect: Dialect): Body {
  const rest = { size_bytes: info.size_bytes, use_chunks: info.use_chunks === true ? true : undefined };
  return dialect.fileInfo === 'sample'
    ? defined({ filename: `${stem}.${info.format}`, ...rest, content_hash: info.hash })
    : defined({ format: info.format, hash: info.hash, ...rest });
}

function defined(body: Body): Body {
  const rest: Body = {};
  for (const [name, value] of Object.entries(body)) {
    if (value !== undefined) {
      rest[name] = value;
    }
  }
  return rest;
}
