import type { Static, TSchema } from '@sinclair/typebox';

import { isObject } from '../util/values';
import { check, type Fault, knownPart, schemas } from './check';
import { type Dialect, renamed, wireNames } from './dialect';
import type { PredictRequestSchema, RowsPredictRequestSchema, TaskConfigFitRequestSchema } from './schemas';
import type {
  EstimateCostRequest,
  FitRequest,
  LegacyPredictRequest,
  ParsedPredictRequest,
  PrepareTestSetUploadRequest,
  PrepareTrainSetUploadRequest,
} from './types';
import { hasQuantiles, OUTPUT_TYPES, type System, SYSTEMS } from './vocabulary';

/** A request; `ignored` has the paths of properties that had no effect, in the names of the wire. */
export type Parsed<T> = { ok: true; value: T; ignored: string[] } | ({ ok: false } & Fault);

type Names = Pick<Dialect, 'apiName'>;
export type Body = Record<string, unknown>;

/**
 * A body by its schema. A property that is null counts as not given; one that is unknown is ignored and listed,
 * unless the schema refuses it.
 *
 * @param dialect whose names the body has; the result has the package's own
 */
function parseBody<T>(schema: TSchema, body: unknown, dialect?: Names): Parsed<T> {
  if (!isObject(body)) {
    return notAnObject();
  }
  const names = dialect === undefined ? [] : wireNames(dialect).filter(([wire, own]) => wire !== own);
  const { body: sent, strays } = withoutStrays(body, names);
  const own = renamed(sent, names);
  if (isObject(own.task_config)) {
    own.task_config = renamed(own.task_config, names);
  }
  const onWire = (path: string): string =>
    names.reduce((text, [wire, inner]) => text.replace(inner, wire), path);
  const { value, ignored } = knownPart(schema, own);
  const fault = check(schema, value);
  return fault === undefined
    ? { ok: true, value: value as T, ignored: [...strays, ...ignored.map(onWire)] }
    : { ok: false, path: onWire(fault.path), message: fault.message };
}

/**
 * A body without this package's own names where the dialect calls them otherwise, and the paths of those left out: to this
 * service such a name is unknown, and must not count as the one that it would be renamed to.
 */
function withoutStrays(body: Body, names: [wire: string, own: string][]): { body: Body; strays: string[] } {
  const isStray = (name: string): boolean => names.some(([, own]) => own === name);
  const strays: string[] = [];
  const without = (object: Body, path: string): Body => {
    strays.push(
      ...Object.keys(object)
        .filter(isStray)
        .map((name) => path + name),
    );
    return Object.fromEntries(Object.entries(object).filter(([name]) => !isStray(name)));
  };
  const rest = without(body, '');
  if (isObject(rest.task_config)) {
    rest.task_config = without(rest.task_config, 'task_config.');
  }
  return { body: rest, strays };
}

function notAnObject(): { ok: false } & Fault {
  return { ok: false, path: 'body', message: 'must be a JSON object' };
}

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
    | { train: { x: unknown[]; y: unknown[] }; model_id?: undefined }
    | { train?: undefined; model_id: string }
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
  if (quantiles === undefined || hasQuantiles(output)) {
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

/*
 * File info has two namings (S 2.1): `format` and `hash`, or `filename` and `content_hash`. Either is taken, but never
 * both in one body; an unknown property is refused.
 */

/** S 4.1 */
export function parsePrepareTrainSetUpload(body: unknown): Parsed<PrepareTrainSetUploadRequest> {
  return parseUpload(body, ['x_train_info', 'y_train_info'], schemas().PrepareTrainSetUploadRequestSchema);
}

/** S 4.2 */
export function parsePrepareTestSetUpload(body: unknown): Parsed<PrepareTestSetUploadRequest> {
  return parseUpload(body, ['x_test_info'], schemas().PrepareTestSetUploadRequestSchema);
}

const SAMPLE_NAMES = ['filename', 'content_hash'];
const SCHEMA_NAMES = ['format', 'hash'];

function parseUpload<T>(body: unknown, files: string[], schema: TSchema): Parsed<T> {
  if (!isObject(body)) {
    return notAnObject();
  }
  const infos = files.flatMap((name) => (isObject(body[name]) ? [{ name, info: body[name] }] : []));
  const sample = found(infos, SAMPLE_NAMES);
  if (sample === undefined) {
    return parseBody(schema, body);
  }
  const other = found(infos, SCHEMA_NAMES);
  if (other !== undefined) {
    return {
      ok: false,
      path: sample,
      message: `cannot be sent with ${other}: they belong to different namings`,
    };
  }
  const plain: Body = { ...body };
  for (const { name, info } of infos) {
    const { value } = knownPart(schemas().SampleFileInfoSchema, info);
    const fault = check(schemas().SampleFileInfoSchema, value);
    if (fault !== undefined) {
      return { ok: false, ...fault, path: fault.path === 'body' ? name : `${name}.${fault.path}` };
    }
    plain[name] = fromSample(value);
  }
  return parseBody(schema, plain);
}

function found(infos: { name: string; info: Body }[], names: string[]): string | undefined {
  const given = infos.flatMap(({ name, info }) =>
    names.filter((one) => (info[one] ?? undefined) !== undefined).map((one) => `${name}.${one}`),
  );
  return given[0];
}

function fromSample(info: Body): Body {
  const { filename, content_hash: hash, ...rest } = info;
  const format = String(filename).toLowerCase().endsWith('.csv') ? 'csv' : 'parquet';
  return { format, ...(hash !== undefined && { hash }), ...rest };
}
