import { createRequire } from 'node:module';

import type { Static, TSchema } from '@sinclair/typebox';

import { lazy } from '../util/lazy';
import { check, type Fault } from './check';
import { type Dialect, renamed, wireNames } from './dialect';
import type { PredictRequestSchema, TaskConfigFitRequestSchema } from './schemas';
import {
  type EstimateCostRequest,
  type FileInfo,
  type FitRequest,
  type LegacyPredictRequest,
  OUTPUT_TYPES,
  type PredictRequest,
  type PrepareTestSetUploadRequest,
  type PrepareTrainSetUploadRequest,
} from './types';

/*
 * What the embedded service reads requests with. Both fit shapes (S 4.3) and both file-info namings (S 2.1) are
 * taken, but never two of them in one body. The answer has the house's names whatever the dialect.
 */

export type Parsed<T> = { ok: true; value: T } | ({ ok: false } & Fault);

type Names = Pick<Dialect, 'apiName'>;
type Body = Record<string, unknown>;

const load = createRequire(__filename);
const schemas = lazy(() => load('./schemas') as typeof import('./schemas'));

/** S 4.1 */
export function parsePrepareTrainSetUpload(body: unknown): Parsed<PrepareTrainSetUploadRequest> {
  return parseUpload(body, ['x_train_info', 'y_train_info'], schemas().PrepareTrainSetUploadRequestSchema);
}

/** S 4.2 */
export function parsePrepareTestSetUpload(body: unknown): Parsed<PrepareTestSetUploadRequest> {
  return parseUpload(body, ['x_test_info'], schemas().PrepareTestSetUploadRequestSchema);
}

/** S 4.3, shape A or B. */
export function parseFit(body: unknown, dialect: Names): Parsed<FitRequest> {
  if (!isObject(body)) {
    return notAnObject();
  }
  const nested = ['task_config', 'thinking_config'].find((name) => name in body);
  if (nested === undefined) {
    return checked<FitRequest>(schemas().FlatFitRequestSchema, body, dialect);
  }
  const flat = [
    'task',
    `${dialect.apiName}_config`,
    'thinking_effort',
    'thinking_timeout_s',
    'thinking_effort_metric',
  ].find((name) => name in body);
  if (flat !== undefined) {
    return { ok: false, path: flat, message: `cannot stand beside ${nested}: the two belong to two shapes` };
  }
  const parsed = checked<TaskConfigFit>(schemas().TaskConfigFitRequestSchema, body, dialect);
  if (!parsed.ok) {
    return parsed;
  }
  const { task_config: task, thinking_config: thinking, ...rest } = parsed.value;
  return {
    ok: true,
    value: {
      ...rest,
      ...task,
      ...(thinking?.effort !== undefined && { thinking_effort: thinking.effort }),
      ...(thinking?.timeout_secs !== undefined && { thinking_timeout_s: thinking.timeout_secs }),
      ...(thinking?.metric !== undefined && { thinking_effort_metric: thinking.metric }),
    },
  };
}

/** S 4.4. The output type must be one of the task's. */
export function parsePredict(body: unknown, dialect: Names): Parsed<PredictRequest> {
  const parsed = checked<WirePredict>(schemas().PredictRequestSchema, body, dialect);
  if (!parsed.ok) {
    return parsed;
  }
  const { task_config: config, ...rest } = parsed.value;
  const { predict_params: params, ...task } = config;
  const path = 'task_config.predict_params';
  if (params?.output_type !== undefined && !OUTPUT_TYPES[task.task].includes(params.output_type)) {
    const allowed = OUTPUT_TYPES[task.task].join(', ');
    return { ok: false, path: `${path}.output_type`, message: `must be one of ${allowed} for ${task.task}` };
  }
  if (params?.quantiles !== undefined && params.output_type !== 'quantiles') {
    return { ok: false, path: `${path}.quantiles`, message: 'goes with output_type quantiles only' };
  }
  return { ok: true, value: { ...rest, ...task, ...params } };
}

/** S 4.6 */
export function parseEstimateCost(body: unknown): Parsed<EstimateCostRequest> {
  return checked(schemas().EstimateCostRequestSchema, body);
}

/** The `data` part of S 4.7. The output type must be one of the task's. */
export function parseLegacyPredict(body: unknown): Parsed<LegacyPredictRequest> {
  const parsed = checked<LegacyPredictRequest>(schemas().LegacyPredictRequestSchema, body);
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

const SAMPLE_NAMES = ['filename', 'content_hash'];
const SCHEMA_NAMES = ['format', 'hash'];

function parseUpload<T>(body: unknown, files: string[], schema: TSchema): Parsed<T> {
  if (!isObject(body)) {
    return notAnObject();
  }
  const infos = files.flatMap((name) => (isObject(body[name]) ? [{ name, info: body[name] }] : []));
  const sample = found(infos, SAMPLE_NAMES);
  if (sample === undefined) {
    return checked(schema, body);
  }
  const other = found(infos, SCHEMA_NAMES);
  if (other !== undefined) {
    return {
      ok: false,
      path: sample,
      message: `cannot stand beside ${other}: the two belong to two namings`,
    };
  }
  const plain: Body = { ...body };
  for (const { name, info } of infos) {
    const fault = check(schemas().SampleFileInfoSchema, info);
    if (fault !== undefined) {
      return { ok: false, ...fault, path: fault.path === 'body' ? name : `${name}.${fault.path}` };
    }
    plain[name] = fromSample(info);
  }
  return checked(schema, plain);
}

function found(infos: { name: string; info: Body }[], names: string[]): string | undefined {
  return infos.flatMap(({ name, info }) => names.filter((n) => n in info).map((n) => `${name}.${n}`))[0];
}

function fromSample(info: Body): FileInfo {
  const { filename, content_hash: hash, ...rest } = info;
  const format = String(filename).toLowerCase().endsWith('.csv') ? 'csv' : 'parquet';
  return { format, ...(hash !== undefined && { hash: hash as string | null }), ...rest };
}

function checked<T>(schema: TSchema, body: unknown, dialect?: Names): Parsed<T> {
  if (!isObject(body)) {
    return notAnObject();
  }
  if (dialect === undefined) {
    const fault = check(schema, body);
    return fault === undefined ? { ok: true, value: body as T } : { ok: false, ...fault };
  }
  const names = wireNames(dialect);
  const stray = strayName(body, names);
  if (stray !== undefined) {
    return { ok: false, path: stray, message: 'is an unknown property' };
  }
  const value = renamed(body, names);
  if (isObject(value.task_config)) {
    value.task_config = renamed(value.task_config, names);
  }
  const fault = check(schema, value);
  if (fault === undefined) {
    return { ok: true, value: value as T };
  }
  const path = names.reduce((text, [wire, own]) => text.replace(own, wire), fault.path);
  return { ok: false, path, message: fault.message };
}

/** The house's own name in a body whose dialect has another one is as unknown as any. */
function strayName(body: Body, names: [wire: string, own: string][]): string | undefined {
  for (const [wire, own] of names) {
    if (wire === own) {
      continue;
    }
    if (own in body) {
      return own;
    }
    if (isObject(body.task_config) && own in body.task_config) {
      return `task_config.${own}`;
    }
  }
  return undefined;
}

function notAnObject(): { ok: false } & Fault {
  return { ok: false, path: 'body', message: 'must be a JSON object' };
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
