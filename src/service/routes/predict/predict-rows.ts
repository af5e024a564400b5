import { isObject } from '../../../util/values';
import { toWireMetadata } from '../../../wire/dialect';
import { parseRowsPredict, type SentRows } from '../../../wire/parse-requests';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES } from '../../../wire/vocabulary';
import { answerLate } from '../../http/late-answer';
import type { ModelEntry } from '../../store/entries/entries';
import { accept, type Route, type RouteAnswer, type RouteRequest, type ServiceContext } from '../context';
import { applyConfig } from './config';
import { rowsFile, targetFile } from './rows-file';
import { abortedWith, joinJson, metadataOf, modelFor, score } from './score';

/**
 * Not of the specification: train rows and test rows in one request, predictions in its answer. The model is kept, and
 * its `model_id` answered, only where `fit_mode` is `fit_with_cache`; nothing else is kept. With
 * `context: {model_id}` in place of the train rows such a model is used again.
 */
export const predictRows: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  withRows: true,
  takesRows: true,
  handle: answerRows,
};

/** The handler of `predictRows`; `predictRoute` passes requests that bring rows to it too. */
export async function answerRows(context: ServiceContext, request: RouteRequest): Promise<RouteAnswer> {
  const { options, log } = context;
  const apiName = request.apiName === '' ? configName(request.body) : request.apiName;
  const { value, ignored } = accept(parseRowsPredict(request.body, { apiName }));
  const answer = predicted(context, request, value, { apiName, ignored });
  await answerLate(request.res, answer, options.keepaliveMs, 'quickstart', log);
  return undefined;
}

async function predicted(
  context: ServiceContext,
  { res }: RouteRequest,
  sent: SentRows,
  { apiName, ignored }: { apiName: string; ignored: string[] },
): Promise<Uint8Array> {
  const signal = abortedWith(res);
  const x = rowsFile(sent.x_test, 'X_test');
  const isKept = sent.svc_config?.fit_mode === 'fit_with_cache';
  const model =
    sent.train === undefined
      ? modelFor(context, sent.model_id, sent.task)
      : await modelOf(context, sent, sent.train, signal);
  try {
    const applied = applyConfig(model, sent.svc_config, ignored);
    const outcome = await score(context, model, {
      x,
      outputType: sent.output_type ?? DEFAULT_OUTPUT_TYPE[sent.task],
      quantiles: sent.quantiles ?? DEFAULT_QUANTILES,
      options: applied.options,
      explain: applied.explain,
      signal,
    });
    const metadata = toWireMetadata(metadataOf(model, applied, outcome), { apiName });
    return joinJson(outcome.json, metadata, isKept ? { model_id: model.id } : {});
  } finally {
    if (sent.train !== undefined && !isKept) {
      await context.store.models.drop(model.id);
    }
  }
}

function modelOf(
  { fits }: ServiceContext,
  { task, svc_config }: SentRows,
  train: NonNullable<SentRows['train']>,
  gone: AbortSignal,
): Promise<ModelEntry> {
  const x = rowsFile(train.x, 'X_train');
  const y = targetFile(train.y, 'y_train');
  return fits.fitRows({ task, svc_config }, { x, y, bytes: x.data.length }, gone);
}

/** In a path without an API name, the configuration has it: `{name}_config`. */
function configName(body: unknown): string {
  const task = isObject(body) ? body.task_config : undefined;
  const name = isObject(task) ? Object.keys(task).find((one) => one.endsWith('_config')) : undefined;
  return name?.slice(0, -'_config'.length) ?? 'svc';
}
