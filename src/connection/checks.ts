import { inspect } from 'node:util';

import type { ModelCard } from '../models/cards';
import { chooseLimits, sizeExcess, testExcess, trainExcess, versionNamed } from '../models/limits';
import { checkedCard, unknownModel } from '../models/model-request';
import type { Context } from '../models/service';
import type {
  CheckLimitsRequest,
  CostRequest,
  Hooks,
  LimitExceeded,
  PredictRequest,
  PredictSettings,
  TrainRequest,
} from '../models/types';
import { choice, numberIn, object, problemWith, type Setting } from '../settings/kinds';
import {
  FIT,
  FIT_REQUEST,
  PREDICT,
  PREDICT_OWN,
  PREDICT_QUEUE,
  PREDICT_SEPARATE,
  UPLOAD,
} from '../settings/nodes';
import { encodeBatches } from '../table/encoder/encode';
import type { TableProfile } from '../table/inference/profile';
import type { TableSource } from '../table/open';
import type { TableFile } from '../table/storage/table-file';
import { autoTask } from '../train/doubts';
import { openInput } from '../train/train-set';
import { isAbortSignal } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { ModelLimits } from '../wire/types';
import { FOLDS } from '../wire/vocabulary';

/** What a program may give by the same rules as a dialog; values that are left out are always right. */
type Rules<T> = Partial<Record<keyof T, Setting>>;

const TRAINING: Rules<TrainRequest> = {
  ...FIT_REQUEST,
  model: FIT.model,
  format: UPLOAD.format,
  description: UPLOAD.description,
  trainedFrom: UPLOAD.description,
  trainedUntil: UPLOAD.description,
  folds: choice(FOLDS),
  costs: FIT.costs,
  thinking: object(),
};

const THINKING: Rules<NonNullable<TrainRequest['thinking']>> = {
  effort: FIT.thinkingEffort,
  timeoutSecs: FIT.thinkingTimeout,
  metric: FIT.thinkingMetric,
};

const ASKING: Rules<PredictRequest> = {
  ...PREDICT_SEPARATE,
  ...PREDICT_OWN,
  // These depend on the model: `resolveModel` checks them.
  outputType: undefined,
  quantiles: undefined,
  options: object(),
  threshold: numberIn({ min: 0, max: 1 }),
};

const SETTINGS: Rules<PredictSettings> = {
  ...PREDICT_QUEUE,
  queueRows: PREDICT.queue,
  queueBytes: numberIn({ min: 1 }),
  // A program has no message to pass on.
  noModel: choice(['error', 'wait']),
};

/** A program's requests are checked here; a node has read its fields before, with their own names in its errors. */
export function checkTraining(request: TrainRequest): void {
  checkByRules('train', TRAINING, request);
  if (request.thinking !== undefined) {
    checkByRules('train: thinking', THINKING, { effort: '', ...request.thinking });
  }
}

export const checkAsking = (request: PredictRequest): void => checkByRules('predict', ASKING, request);
export const checkSettings = (settings: PredictSettings): void =>
  checkByRules('settings', SETTINGS, settings);

/**
 * Checks what a program gives to end its work, and to be told of it.
 *
 * @param told functions, by name
 * @throws ServiceError `validation.failed`
 */
export function checkHooks(what: string, { signal, ...told }: Hooks & Record<`on${string}`, unknown>): void {
  if (signal !== undefined && !isAbortSignal(signal)) {
    throw new ServiceError('validation.failed', `${what}: signal must be an AbortSignal.`);
  }
  for (const [name, value] of Object.entries(told)) {
    if (/^on[A-Z]/.test(name) && value !== undefined && typeof value !== 'function') {
      throw new ServiceError('validation.failed', `${what}: ${name} must be a function.`);
    }
  }
}

/** Checks what a program gives by the rules of settings. @throws ServiceError `validation.failed` */
export function checkByRules<T extends object>(what: string, rules: Rules<T>, given: T): void {
  for (const [name, setting] of Object.entries(rules) as [keyof T & string, Setting | undefined][]) {
    const value = given[name];
    const problem =
      value === undefined || setting === undefined ? undefined : problemWith(setting, value, 'value');
    if (problem !== undefined) {
      const shown = inspect(value, { depth: 1, breakLength: Infinity }).slice(0, 100);
      const found = problem.startsWith('must be') ? `, not ${shown}` : '';
      throw new ServiceError('validation.failed', `${what}: ${name} ${problem}${found}.`);
    }
  }
}

/** What of a table goes beyond the limits, were it sent as a train set or a test set. */
export async function checkLimits(
  limits: ModelLimits,
  request: CheckLimitsRequest,
  signal: AbortSignal | undefined,
): Promise<LimitExceeded[]> {
  const { target, ignore, modelVersion } = request;
  const source = await openInput(request.table, signal);
  const profile = await source.profile({ target, ignore, signal });
  const set = chooseLimits(limits, versionNamed(limits, modelVersion));
  const size = {
    rows: profile.rows,
    columns: profile.columns.length - (profile.target === undefined ? 0 : 1),
  };
  const test = request.set === 'test';
  const classes = autoTask(profile) === 'classification' ? (profile.target?.distinct ?? 0) : 0;
  const bytes = await largestFile({ source, profile, test }, limits.dataset_max_size_bytes, signal);
  return [
    ...(test ? testExcess(set, size) : trainExcess(set, { ...size, classes })),
    ...sizeExcess(limits, bytes),
  ];
}

interface CheckedTable {
  source: TableSource;
  profile: TableProfile;
  /** It would be a test set. */
  test: boolean;
}

/**
 * Bytes of the larger file that the table would be sent as. It is encoded for that only where it may be larger than
 * is allowed; else 0. A test set in a Parquet file counts as it is: so it goes up where its columns fit the model.
 */
async function largestFile(
  table: CheckedTable,
  max: number | undefined,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { source, profile, test } = table;
  const known = test ? source.parquet?.bytes : undefined;
  if (known !== undefined || max === undefined || profile.bytes <= max) {
    return known ?? 0;
  }
  const files = await encoded(table, signal);
  await Promise.all(files.map((file) => file.dispose()));
  return Math.max(...files.map((file) => file.bytes));
}

async function encoded(
  { source, profile, test }: CheckedTable,
  signal: AbortSignal | undefined,
): Promise<TableFile[]> {
  const target = profile.target?.name;
  if (!test && target !== undefined) {
    const { x, y } = await source.encodeTrainSet(profile, { target, signal });
    return [x, y];
  }
  const columns = profile.columns.filter(({ name }) => name !== target);
  return [await encodeBatches(columns, source.batches(columns, { signal }), { signal })];
}

/**
 * Estimated cost in tokens (S 4.6). What the request does not count is counted in its table, or known from its model.
 *
 * @throws ServiceError `model.unknown`; those of the table; those of the service
 */
export async function estimatedCost(
  context: Context,
  request: CostRequest,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { operation = 'predict', thinkingEffort, modelVersion, nEstimators, table, model, target } = request;
  const card = findCard(context, model);
  const isFit = operation === 'thinking_fit';
  let { trainRows, testRows, rawColumns } = request;
  const rows = isFit ? trainRows : testRows;
  if (!isFit) {
    trainRows ??= card?.rows;
    rawColumns ??= card?.columns.length || undefined;
  }
  if (table !== undefined && (rows === undefined || rawColumns === undefined)) {
    const profile = await (await openInput(table, signal)).profile({ signal });
    if (isFit) {
      trainRows ??= profile.rows;
    } else {
      testRows ??= profile.rows;
    }
    rawColumns ??= profile.columns.filter(({ name }) => name !== target).length;
  }
  const version = modelVersion ?? (await context.service.limits.forChecks(signal)).default_model_version;
  const estimators = nEstimators ?? card?.options.n_estimators;
  return context.service.costs.estimate(
    {
      operation,
      ...(thinkingEffort !== undefined && { thinking_effort: thinkingEffort }),
      ...(version !== undefined && { model_version: version }),
      ...(trainRows !== undefined && { train_rows: trainRows }),
      ...(testRows !== undefined && { test_rows: testRows }),
      ...(rawColumns !== undefined && { raw_columns: rawColumns }),
      ...(typeof estimators === 'number' && { n_estimators: estimators }),
    },
    signal,
  );
}

function findCard({ cards }: Context, model: string | ModelCard | undefined): ModelCard | undefined {
  if (typeof model !== 'string') {
    return model && checkedCard(model);
  }
  const card = cards.get(model);
  if (card === undefined) {
    throw unknownModel(model, cards);
  }
  return card;
}
