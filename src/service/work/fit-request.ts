import type { TrainOptions } from '../../learner';
import { MODEL_FORMAT } from '../../learner/storage/formats';
import { isObject } from '../../util/values';
import type { FitRequest, ModelConfig } from '../../wire/types';
import type { ModelEntry } from '../store/entries';
import { LEARNER } from '../version';
import type { FitOutcome } from './jobs';

const DEFAULT_SYSTEMS: NonNullable<FitRequest['svc_systems']> = ['preprocessing', 'text'];

/** What a request asks of the learner. */
export function trainOptions(request: FitRequest): TrainOptions {
  const {
    thinking_effort: effort,
    thinking_timeout_s: timeoutSecs,
    thinking_effort_metric: metric,
    thinking_folds: folds,
  } = request;
  const asked = effort !== undefined || request.svc_systems?.includes('thinking') === true;
  const thinking = {
    effort: effort ?? ('medium' as const),
    ...(timeoutSecs === undefined ? {} : { timeoutSecs }),
    ...(metric === undefined ? {} : { metric: METRIC_ALIASES[metric] ?? metric }),
  };
  return { ...withFolds(request.svc_config ?? {}, folds), ...(asked ? { thinking } : {}) };
}

/** Parts of consecutive rows that a fold consists of, where a column of their time is named. */
const BLOCKS = 25;

/**
 * The columns by which a thinking fit is to draw its folds, as options of the learner; those that are given win. Rows
 * that are alike in several columns are so in the first of them. The rows are taken to be in order of time.
 */
function withFolds(config: ModelConfig, folds: FitRequest['thinking_folds'] = {}): ModelConfig {
  const { group_col: group, group_time_col: groupTime, time_col: time } = folds;
  const [first] = [group].flat();
  const own = {
    ...(first !== undefined && { GROUP: first }),
    ...((time ?? groupTime) !== undefined && { BLOCKS }),
  };
  const given = isObject(config.inference_config) ? config.inference_config : {};
  return Object.keys(own).length === 0 ? config : { ...config, inference_config: { ...own, ...given } };
}

/** Names that others have for the learner's metrics; the least squared error is the least root of it. */
const METRIC_ALIASES: Partial<Record<string, string>> = {
  acc: 'accuracy',
  auc: 'roc_auc',
  nll: 'log_loss',
  root_mean_squared_error: 'rmse',
  mean_squared_error: 'rmse',
  mse: 'rmse',
  mean_absolute_error: 'mae',
};

/** Everything that makes one fit differ from another; the learner too, since a newer one makes another model of it. */
export function fitKey(request: FitRequest): string {
  return canonical({
    ...request,
    learner: LEARNER,
    force_refit: undefined,
    async_mode: undefined,
    svc_config: request.svc_config ?? {},
    svc_systems: [...new Set(request.svc_systems ?? DEFAULT_SYSTEMS)].sort(),
    train_set_upload_id: request.train_set_upload_id.toLowerCase(),
  });
}

/** What is stored of a model besides its file. */
export function modelEntry(id: string, request: FitRequest, outcome: FitOutcome): ModelEntry {
  const { report, targetName, features, classes, longClasses, rows, bytes, crc } = outcome;
  return {
    version: 1,
    format: MODEL_FORMAT,
    id,
    trainSetUploadId: request.train_set_upload_id.toLowerCase(),
    fitKey: fitKey(request),
    task: request.task,
    targetName,
    features,
    ...(classes === undefined ? {} : { classes }),
    ...(longClasses === true && { longClasses }),
    rows,
    systems: request.svc_systems ?? DEFAULT_SYSTEMS,
    config: request.svc_config ?? {},
    usedOptions: { ...report.options.used, n_estimators: report.estimators },
    ignoredOptions: report.options.ignored,
    report,
    bytes,
    crc,
    createdAt: Date.now(),
  };
}

/** JSON whose text is the same for equal values: properties sorted by name, undefined ones left out. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) {
    // Lists of a million row numbers are written at once.
    return value.some(isNested)
      ? `[${value.map((item) => canonical(item ?? null)).join(',')}]`
      : JSON.stringify(value);
  }
  if (!isObject(value)) {
    return JSON.stringify(value);
  }
  const parts = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`);
  return `{${parts.join(',')}}`;
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}
