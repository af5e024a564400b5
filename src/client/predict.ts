import { randomUUID } from 'node:crypto';

import { isObject } from '../util/values';
import { schemas } from '../wire/check';
import { fromWireMetadata, LEGACY_PREDICT_PATH, toWirePredict, toWireTask } from '../wire/dialect';
import { anyAmong, checkGiven, numberFrom, OBJECT, optional, withMethods } from '../wire/given';
import { kindOfOutput, type PredictionContext, readPrediction, rowCount } from '../wire/prediction';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { PredictMetadata } from '../wire/types';
import {
  DEFAULT_OUTPUT_TYPE,
  DEFAULT_QUANTILES,
  OUTPUTS,
  type OutputType,
  type Task,
  TASKS,
} from '../wire/vocabulary';
import { malformedAnswer, parseAnswer, withoutNull } from './answer';
import { assertConfig, assertRequest, type Core } from './core';
import type { HttpRequest } from './http';
import type { Call } from './pacing';
import type { RequestPlan, RequestRights } from './retry';
import { downloadFile } from './transfer';
import type {
  BodyPart,
  CallOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
  RowsPredictCall,
  RowsPredictResult,
  UploadSource,
} from './types';
import { SOURCE } from './upload';

/** Bytes for the metadata around the prediction. */
const FLOOR = 1024 * 1024;
/** A JavaScript string cannot hold much more. */
const CEILING = 500 * 1024 * 1024;
/** For a test set with an unknown number of rows: enough for 1.5 million numbers. */
const UNKNOWN = 64 * 1024 * 1024;
/** A number as JSON has at most 25 characters; indented, some spaces and a line break more. */
const NUMBER_BYTES = 48;
/** A label may be any text. */
const LABEL_BYTES = 2048;
/** More classes and bars than any known service has. */
const MAX_CLASSES = 1000;
const MAX_BARS = 10_000;

/** Properties for which null means missing. */
const METADATA = ['test_set_num_rows', 'test_set_num_cols', 'package_version', 'task', 'classes'];
const LEGACY = ['duration_seconds', 'params', 'used_credits', 'remaining_quota'];

const COUNT = optional(numberFrom(0));

const PREDICT = { rows: COUNT, classes: COUNT, causes: COUNT };

/** S 4.4 */
export async function callPredict(
  core: Core,
  request: PredictCall,
  options: CallOptions,
): Promise<PredictResult> {
  checkGiven('predict', request, PREDICT);
  return core.call('predict', 'predict', options, async (call) => {
    const { svc_config: config, ...checkable } = request;
    assertRequest(schemas().FlatPredictRequestSchema, checkable, 'predict');
    assertConfig(config);
    const plan = core.plan('predict', 'predict', 'predict', {
      body: toWirePredict(request, core.dialect),
      ...predictRights(core, request),
      missing: 'model.unknown',
      maxBytes: maxPredictBytes(request),
      labels: labelsIn(request),
    });
    const body = await core.ask(call, plan, schemas().PredictResponseSchema);
    const metadata = fromWireMetadata(withoutNull(body.metadata ?? {}, METADATA), core.dialect);
    const prediction = body.prediction ?? (await fetchedPrediction(core, call, plan, body.prediction_uri));
    return predictResult(prediction, metadata, request);
  });
}

/** S 4.7 */
export async function callLegacyPredict(
  core: Core,
  request: LegacyPredictCall,
  options: CallOptions,
): Promise<LegacyPredictResult> {
  checkGiven('predictLegacy', request, { data: OBJECT, file: SOURCE });
  const { data } = request;
  return core.call('predict', 'predict', options, async (call) => {
    assertRequest(schemas().LegacyPredictRequestSchema, data, 'predict');
    const body = await core.ask(call, legacyPlan(core, request), schemas().LegacyPredictResponseSchema);
    const { prediction, task, ...rest } = withoutNull(body, LEGACY);
    const metadata = { task: typeof task === 'string' ? task : data.task };
    return { ...rest, ...predictResult(prediction, metadata, { ...data, legacy: true }) };
  });
}

function legacyPlan(core: Core, request: LegacyPredictCall): RequestPlan {
  const form = multipart(request.data, request.file);
  const plan = core.plan('predict', 'predict', LEGACY_PREDICT_PATH, {
    content: { type: form.contentType, body: form.body },
    ...predictRights(core, request),
    missing: 'model.unknown',
    maxBytes: maxPredictBytes({ task: request.data.task }),
    labels: labelsIn(request.data),
  });
  plan.request.headers['content-length'] = String(form.bytes);
  return plan;
}

/** A predict changes nothing: where it is free, it may be made again whatever became of it. */
function predictRights(
  { settings: { free } }: Core,
  { retryAmbiguous }: Pick<PredictCall, 'retryAmbiguous'>,
): RequestRights {
  return { repeatable: free || retryAmbiguous === true, metered: !free };
}

/** Which parts of a classification an answer has. */
function labelsIn({
  task,
  output_type: output,
}: {
  task: Task;
  output_type?: string;
}): 'preds' | 'probas' | undefined {
  return task === 'regression' ? undefined : output === 'preds' ? 'preds' : 'probas';
}

/** The prediction and metadata of an answer, checked against the request. */
function predictResult(raw: unknown, metadata: PredictMetadata, asked: PredictionContext): PredictResult {
  const rows = metadata.test_set_num_rows;
  const prediction = readPrediction(raw, { ...asked, ...(rows !== undefined && { rows }) });
  const classes = metadata.classes?.length;
  if (prediction.kind === 'probas' && classes !== undefined) {
    const columns = prediction.values[0]?.length ?? classes;
    if (columns !== classes) {
      throw malformedAnswer(
        'predict',
        `prediction has ${columns} probabilities a row for ${classes} classes`,
      );
    }
  }
  return { prediction, metadata, rows: rowCount(prediction) };
}

/**
 * Not of the specification: one request with train rows and test rows, to the client's base URL itself. It leaves
 * nothing behind, so that it may be repeated.
 */
export async function callRowsPredict(
  core: Core,
  request: RowsPredictCall,
  options: CallOptions,
  kind: 'fit' | 'predict',
): Promise<RowsPredictResult> {
  checkGiven('predictRows', request, { ...ROWS, rows: numberFrom(0) });
  assertConfig(request.svc_config);
  return core.call(kind, kind, options, async (call) => {
    const url = new URL(core.settings.base);
    const plan = {
      what: call.what,
      path: url.pathname,
      gate: core.gates[kind],
      missing: request.model_id === undefined ? ('not_found' as const) : ('model.unknown' as const),
      repeatable: true,
      maxBytes: maxPredictBytes(request),
      labels: labelsIn(request),
      request: {
        method: 'POST' as const,
        url,
        headers: { ...core.headers, 'content-type': 'application/json' },
        body: rowsBody(request, core.dialect.apiName),
      },
    };
    const body = await core.ask(call, plan, schemas().PredictResponseSchema);
    const metadata = fromWireMetadata(withoutNull(body.metadata ?? {}, METADATA), core.dialect);
    const { model_id: modelId } = body as { model_id?: unknown };
    const prediction = body.prediction ?? (await fetchedPrediction(core, call, plan, body.prediction_uri));
    return {
      ...predictResult(prediction, metadata, request),
      ...(typeof modelId === 'string' && { model_id: modelId }),
    };
  });
}

const PART = withMethods('rows that can be opened', 'open');
const ROWS = {
  task: anyAmong(TASKS),
  test: PART,
  train: optional({
    must: 'an object of x and y, rows that can be opened',
    fits: (value) => isObject(value) && PART.fits(value.x) && PART.fits(value.y),
  }),
};

/** Bytes of a body other than those of its rows. */
export function countOverhead(request: Sendable, apiName: string): number {
  checkGiven('overhead', request, ROWS);
  const { train, test } = request;
  return (
    rowsBody(request, apiName).bytes - test.bytes - (train === undefined ? 0 : train.x.bytes + train.y.bytes)
  );
}

type Sendable = Omit<RowsPredictCall, 'rows'>;
type Body = Exclude<NonNullable<HttpRequest['body']>, Buffer>;

/** The body as a stream of known length: the rows are as they lie on the disk. */
function rowsBody(request: Sendable, apiName: string): Body {
  const { train, model_id: modelId, test } = request;
  const head = {
    task_config: toWireTask(request, { apiName }),
    ...(train === undefined && { context: { model_id: modelId } }),
  };
  const parts: (Buffer | BodyPart)[] = [Buffer.from(JSON.stringify(head).slice(0, -1))];
  const add = (name: string, rows: BodyPart): void => {
    parts.push(Buffer.from(`,"${name}":[`), rows, Buffer.from(']'));
  };
  if (train !== undefined) {
    add('X_train', train.x);
    add('y_train', train.y);
  }
  add('X_test', test);
  parts.push(Buffer.from('}'));
  const bytes = parts.reduce((sum, part) => sum + (Buffer.isBuffer(part) ? part.length : part.bytes), 0);
  return { bytes, open: () => joined(parts) };
}

async function* joined(parts: readonly (Buffer | BodyPart)[]): AsyncIterable<Uint8Array> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) {
      yield part;
    } else {
      yield* part.open() as AsyncIterable<Uint8Array>;
    }
  }
}

/**
 * The prediction that an answer does not hold itself, from the signed URL that it has in its place.
 * @throws ServiceError `predict.unknown` where it cannot be fetched: by then the predict has been carried out, and
 *   another one would cost again; `service.unavailable` where predicts are free
 */
async function fetchedPrediction(
  core: Core,
  call: Call,
  plan: Pick<RequestPlan, 'maxBytes' | 'labels'>,
  uri: string | null | undefined,
): Promise<unknown> {
  if (uri === undefined || uri === null) {
    throw malformedAnswer('predict', 'prediction is required');
  }
  let text: string;
  try {
    const bytes = await downloadFile(core, call, uri, { what: 'prediction', maxBytes: plan.maxBytes! });
    text = bytes.toString('utf8');
  } catch (error) {
    if (call.ending === 'cancelled') {
      throw error;
    }
    const { message, cause } = toServiceError(error);
    throw lostPrediction(core, message, cause);
  }
  const value = parseAnswer(text, plan.labels === 'preds' ? 'preds' : undefined);
  if (typeof value !== 'object' || value === null) {
    throw lostPrediction(core, `It is not JSON (${text.length} characters).`);
  }
  return value;
}

function lostPrediction(
  { settings: { free } }: Core,
  reason: string,
  cause?: ServiceError['cause'],
): ServiceError {
  const message = `The service has predicted, but its prediction could not be fetched. ${reason}`;
  return free
    ? new ServiceError('service.unavailable', message, cause)
    : new ServiceError(
        'predict.unknown',
        `${message} The predict has been carried out and may have been metered, so it is not repeated.`,
        cause,
      );
}

export interface AskedSize {
  task: Task;
  output_type?: OutputType;
  quantiles?: readonly number[];
  /** Rows of the test set and classes of the model, if known. */
  rows?: number;
  classes?: number;
  /** Most causes per row. */
  causes?: number;
}

/** Upper bound of the size of an answer to a predict, in bytes: more than it can need, and small enough to parse safely. */
export function maxPredictBytes(asked: AskedSize): number {
  const { rows, quantiles = DEFAULT_QUANTILES } = asked;
  if (rows === undefined) {
    return UNKNOWN;
  }
  const output = asked.output_type ?? DEFAULT_OUTPUT_TYPE[asked.task];
  const width = kindOfOutput(output).width({
    classes: asked.classes ?? MAX_CLASSES,
    quantiles: quantiles.length,
    bars: MAX_BARS,
  });
  const bytesPerRow = width * (OUTPUTS[output].kind === 'labels' ? LABEL_BYTES : NUMBER_BYTES);
  const explained = asked.causes === undefined ? 0 : NUMBER_BYTES * (asked.causes + 4);
  return Math.min(CEILING, FLOOR + rows * (bytesPerRow + explained));
}

/** The body of the deprecated route (S 4.7): `data` as JSON beside `file` as CSV, of known length. */
function multipart(
  data: object,
  file: UploadSource,
): { contentType: string; bytes: number; body: NonNullable<HttpRequest['body']> } {
  const boundary = `----${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="data"\r\n` +
      `Content-Type: application/json\r\n\r\n${JSON.stringify(data)}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="rows.csv"\r\n` +
      'Content-Type: text/csv\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const bytes = head.length + file.bytes + tail.length;
  const open = async function* () {
    yield head;
    for await (const part of file.open() as AsyncIterable<Uint8Array>) {
      yield part;
    }
    yield tail;
  };
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes, body: { bytes, open } };
}
