import { fromWireMetadata, LEGACY_PREDICT_PATH, toWirePredict } from '../../wire/dialect';
import { schemas } from '../../wire/load-schemas';
import { rowCount } from '../../wire/prediction';
import { type PredictionContext, readPrediction } from '../../wire/read-prediction';
import type { PredictMetadata, Task } from '../../wire/types';
import { malformedAnswer, withoutNull } from '../errors/answer';
import { multipart } from '../http/multipart';
import type { RequestPlan } from '../retry/request';
import type { RequestRights } from '../retry/verdict';
import type {
  CallOptions,
  LegacyPredictCall,
  LegacyPredictResult,
  PredictCall,
  PredictResult,
} from '../types';
import { maxPredictBytes } from './answer-size';
import { assertConfig, assertRequest, type Core } from './core';
import { predictionOf } from './fetched-prediction';

/** Properties for which null means missing. */
export const METADATA = ['test_set_num_rows', 'test_set_num_cols', 'package_version', 'task', 'classes'];
const LEGACY = ['duration_seconds', 'params', 'used_credits', 'remaining_quota'];

/** S 4.4 */
export async function callPredict(
  core: Core,
  request: PredictCall,
  options: CallOptions,
): Promise<PredictResult> {
  const checkable = toWirePredict({ ...request, svc_config: undefined }, { apiName: 'svc' });
  assertRequest(schemas().PredictRequestSchema, checkable, 'predict');
  assertConfig(request.svc_config);
  return core.call('predict', 'predict', options, async (call) => {
    const plan = core.plan('predict', 'predict', 'predict', {
      body: toWirePredict(request, core.dialect),
      ...predictRights(core, request),
      missing: 'model.unknown',
      maxBytes: maxPredictBytes(request),
      labels: labelsIn(request),
    });
    const body = await core.ask(call, plan, schemas().PredictResponseSchema);
    const metadata = fromWireMetadata(withoutNull(body.metadata ?? {}, METADATA), core.dialect);
    return predictResult(await predictionOf(core, call, plan, body), metadata, request);
  });
}

/** S 4.7 */
export async function callLegacyPredict(
  core: Core,
  request: LegacyPredictCall,
  options: CallOptions,
): Promise<LegacyPredictResult> {
  const { data } = request;
  assertRequest(schemas().LegacyPredictRequestSchema, data, 'predict');
  return core.call('predict', 'predict', options, async (call) => {
    const body = await core.ask(call, legacyPlan(core, request), schemas().LegacyPredictResponseSchema);
    const { prediction, task, ...rest } = withoutNull(body, LEGACY);
    const metadata = { task: typeof task === 'string' ? task : data.task };
    return { ...rest, ...predictResult(prediction, metadata, { ...data, legacy: true }) };
  });
}

function legacyPlan(core: Core, request: LegacyPredictCall): RequestPlan {
  const form = multipart(request.data, request.file);
  const plan = core.plan('predict', 'predict', 'predict', {
    ...predictRights(core, request),
    missing: 'model.unknown',
    maxBytes: maxPredictBytes({ task: request.data.task }),
    labels: labelsIn(request.data),
  });
  const headers = {
    ...core.headers(),
    'content-type': form.contentType,
    'content-length': String(form.bytes),
  };
  const url = core.url(LEGACY_PREDICT_PATH);
  return { ...plan, path: LEGACY_PREDICT_PATH, request: { method: 'POST', url, headers, body: form.body } };
}

/** A predict changes nothing: where it is free, it may be made again whatever became of it. */
function predictRights(
  { settings: { free } }: Core,
  { retryAmbiguous }: Pick<PredictCall, 'retryAmbiguous'>,
): RequestRights {
  return { repeatable: free || retryAmbiguous === true, metered: !free };
}

/** Which parts of a classification an answer has. */
export function labelsIn({
  task,
  output_type: output,
}: {
  task: Task;
  output_type?: string;
}): 'preds' | 'probas' | undefined {
  return task === 'regression' ? undefined : output === 'preds' ? 'preds' : 'probas';
}

/** The prediction and metadata of an answer, checked against the request. */
export function predictResult(
  raw: unknown,
  metadata: PredictMetadata,
  asked: PredictionContext,
): PredictResult {
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
