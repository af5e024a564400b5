import { fromWireMetadata, toWireTask } from '../../wire/dialect';
import { schemas } from '../../wire/load-schemas';
import { withoutNull } from '../errors/answer';
import type { HttpRequest } from '../http/exchange';
import type { BodyPart, CallOptions, RowsPredictCall, RowsPredictResult } from '../types';
import { maxPredictBytes } from './answer-size';
import { assertConfig, type Core } from './core';
import { predictionOf } from './fetched-prediction';
import { labelsIn, METADATA, predictResult } from './predict-calls';

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
  assertConfig(request.svc_config);
  return core.call(kind, kind, options, async (call) => {
    const url = new URL(core.settings.base);
    const plan = {
      what: call.what,
      path: url.pathname,
      gate: core.gates.of(kind),
      missing: request.model_id === undefined ? ('not_found' as const) : ('model.unknown' as const),
      repeatable: true,
      maxBytes: maxPredictBytes(request),
      labels: labelsIn(request),
      request: {
        method: 'POST' as const,
        url,
        headers: { ...core.headers(), 'content-type': 'application/json' },
        body: rowsBody(request, core.dialect.apiName),
      },
    };
    const body = await core.ask(call, plan, schemas().PredictResponseSchema);
    const metadata = fromWireMetadata(withoutNull(body.metadata ?? {}, METADATA), core.dialect);
    const { model_id: modelId } = body as { model_id?: unknown };
    return {
      ...predictResult(await predictionOf(core, call, plan, body), metadata, request),
      ...(typeof modelId === 'string' && { model_id: modelId }),
    };
  });
}

/** Bytes of a body other than those of its rows. */
export function overheadOf(request: Sendable, apiName: string): number {
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
