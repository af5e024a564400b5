import type { Static } from '@sinclair/typebox';

import { isObject } from '../util/json';
import { renamed } from './dialect';
import { schemas } from './load-schemas';
import { type Body, type Names, notAnObject, parseBody, type Parsed } from './parse-body';
import type { PredictRequestSchema, RowsPredictRequestSchema, TaskConfigFitRequestSchema } from './schemas';
import {
  type EstimateCostRequest,
  type FitRequest,
  type LegacyPredictRequest,
  OUTPUT_TYPES,
  type ParsedPredictRequest,
  type System,
  SYSTEMS,
  takesQuantiles,
} from './types';

/*
 * Requests other than those for uploads. Both fit shapes (S 4.3) are taken, but never two of them in one body. The
 * result has the package's own names whatever the dialect.
 */

/** A fit, and whether its answer may come before it has ended. */
export type SentFit = FitRequest & { async_mode?: boolean };

/** S 4.3, shape A or B. */
export function parseFit(sent: unknown, dialect: Names): Parsed<SentFit> {
  if (!isObject(sent)) {
    return notAnObject();
  }
  const { body, unknown } = withoutUnknownSystems(sent, `${dialect.apiName}_systems`);
  const parsed = parseShape(body, dialect);
  return parsed.ok ? { ...parsed, ignored: [...parsed.ignored, ...unknown] } : parsed;
}

/** Clients of other versions name systems that there are not here; their paths are listed. */
function withoutUnknownSystems(body: Body, name: string): { body: Body; unknown: string[] } {
  const systems: unknown = body[name];
  if (!Array.isArray(systems)) {
    return { body, unknown: [] };
  }
  const isUnknown = (system: unknown): system is string =>
    typeof system === 'string' && !SYSTEMS.includes(system as System);
  return {
    body: { ...body, [name]: systems.filter((system) => !isUnknown(system)) },
    unknown: systems.filter(isUnknown).map((system) => `${name}.${system.slice(0, 100)}`),
  };
}

function parseShape(body: Body, dialect: Names): Parsed<SentFit> {
  const isGiven = (name: string): boolean => (body[name] ?? undefined) !== undefined;
  const nested = ['task_config', 'thinking_config'].find(isGiven);
  if (nested === undefined) {
    return parseBody<SentFit>(schemas().FlatFitRequestSchema, body, dialect);
  }
  const flat = [
    'task',
    `${dialect.apiName}_config`,
    'thinking_effort',
    'thinking_timeout_s',
    'thinking_effort_metric',
  ].find(isGiven);
  if (flat !== undefined) {
    return {
      ok: false,
      path: flat,
      message: `cannot be sent with ${nested}: they belong to different shapes`,
    };
  }
  const parsed = parseBody<TaskConfigFit>(schemas().TaskConfigFitRequestSchema, body, dialect);
  if (!parsed.ok) {
    return parsed;
  }
  const { task_config: task, thinking_config: thinking = {}, ...rest } = parsed.value;
  const { effort, timeout_secs: timeout, metric, ...folds } = thinking;
  return {
    ...parsed,
    value: {
      ...rest,
      ...task,
      ...(effort !== undefined && { thinking_effort: effort }),
      ...(timeout !== undefined && { thinking_timeout_s: timeout }),
      ...(metric !== undefined && { thinking_effort_metric: metric }),
      ...(Object.keys(folds).length > 0 && { thinking_folds: folds }),
    },
  };
}

/** The question what has become of a fit. */
export function parseFitStatus(body: unknown): Parsed<{ fitted_train_set_id: string }> {
  return parseBody(schemas().FitStatusRequestSchema, body);
}

/** S 4.4. The output type must be one of the task's. */
export function parsePredict(body: unknown, dialect: Names): Parsed<ParsedPredictRequest> {
  const parsed = parseBody<WirePredict>(schemas().PredictRequestSchema, body, dialect);
  if (!parsed.ok) {
    return parsed;
  }
  const { task_config: config, ...rest } = parsed.value;
  const task = flatTask(config);
  return task.ok
    ? { ...task, value: { ...rest, ...task.value }, ignored: [...parsed.ignored, ...task.ignored] }
    : task;
}

/**
 * A predict that brings its rows (`X_test`) and those to train on (`X_train`, `y_train`), or the id of a model
 * (`context.model_id`). The names of the rows are taken in small letters too.
 */
export function parseRowsPredict(body: unknown, dialect: Names): Parsed<SentRows> {
  const lowered = isObject(body) ? renamed(body, ROW_NAMES) : body;
  const parsed = parseBody<WireRows>(schemas().RowsPredictRequestSchema, lowered, dialect);
  if (!parsed.ok) {
    return parsed;
  }
  const { task_config: config, x_train, y_train, x_test, context } = parsed.value;
  const task = flatTask(config);
  if (!task.ok) {
    return task;
  }
  const ignored = [...parsed.ignored, ...task.ignored];
  if (x_train !== undefined) {
    return y_train === undefined
      ? { ok: false, path: 'y_train', message: 'is required' }
      : { ok: true, value: { ...task.value, x_test, train: { x: x_train, y: y_train } }, ignored };
  }
  return context === undefined
    ? { ok: false, path: 'X_train', message: 'is required, with y_train, or context.model_id' }
    : { ok: true, value: { ...task.value, x_test, model_id: context.model_id }, ignored };
}

/** Does a body bring the rows to predict? */
export function bringsRows(body: unknown): boolean {
  return isObject(body) && ('X_test' in body || 'x_test' in body);
}

/** What a predict asks for, and rows in place of ids. */
export type SentRows = FlatTask & { x_test: unknown[] } & (
    { train: { x: unknown[]; y: unknown[] }; model_id?: undefined } | { train?: undefined; model_id: string }
  );

type FlatTask = Pick<ParsedPredictRequest, 'task' | 'svc_config' | 'output_type' | 'quantiles'>;
type WireRows = Static<typeof RowsPredictRequestSchema>;

const ROW_NAMES: [string, string][] = [
  ['X_train', 'x_train'],
  ['X_test', 'x_test'],
];

/** A task configuration without its inner objects. The output type must be one of the task's. */
function flatTask({ predict_params: params, ...task }: WirePredict['task_config']): Parsed<FlatTask> {
  const path = 'task_config.predict_params';
  if (params?.output_type !== undefined && !OUTPUT_TYPES[task.task].includes(params.output_type)) {
    const allowed = OUTPUT_TYPES[task.task].join(', ');
    return { ok: false, path: `${path}.output_type`, message: `must be one of ${allowed} for ${task.task}` };
  }
  const { output_type: output, quantiles } = params ?? {};
  if (quantiles === undefined || takesQuantiles(output) || output === 'full') {
    return { ok: true, value: { ...task, ...params }, ignored: [] };
  }
  return {
    ok: true,
    value: { ...task, ...(output !== undefined && { output_type: output }) },
    ignored: [`${path}.quantiles`],
  };
}

/** S 4.6 */
export function parseEstimateCost(body: unknown): Parsed<EstimateCostRequest> {
  return parseBody(schemas().EstimateCostRequestSchema, body);
}

/** The `data` part of S 4.7. The output type must be one of the task's. */
export function parseLegacyPredict(body: unknown): Parsed<LegacyPredictRequest> {
  const parsed = parseBody<LegacyPredictRequest>(schemas().LegacyPredictRequestSchema, body);
  if (!parsed.ok || parsed.value.output_type === undefined) {
    return parsed;
  }
  const { task, output_type: output } = parsed.value;
  return OUTPUT_TYPES[task].includes(output)
    ? parsed
    : { ok: false, path: 'output_type', message: `must be one of the output types of ${task}` };
}

type TaskConfigFit = Static<typeof TaskConfigFitRequestSchema>;
type WirePredict = Static<typeof PredictRequestSchema>;
