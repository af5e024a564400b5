import path from 'node:path';

import { toWireMetadata } from '../../wire/dialect';
import { parsePredict } from '../../wire/parse-requests';
import { DEFAULT_OUTPUT_TYPE, DEFAULT_QUANTILES, type PredictMetadata } from '../../wire/types';
import { invalid, notFound, Refusal } from '../refusal';
import type { ModelEntry } from '../store/entries';
import { fileRef } from '../store/file-ref';
import { MODEL_FILE } from '../store/store';
import { PACKAGE_VERSION } from '../version';
import type { PredictJob, ScoredFile } from '../work/jobs';
import { type Applied, applyConfig } from './config';
import { accept, type Route, type ServiceContext } from './context';

/**
 * S 4.4. Columns are found by name: their order is free, extra ones are ignored and listed in
 * `metadata.ignored_columns`, a missing one is 422.
 */
export const predictRoute: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'predict',
  withConfig: true,
  async handle(context, { body, apiName, res }) {
    const { value: request, ignored } = accept(parsePredict(body, { apiName }));
    const { uploads } = context.store;
    const model = modelFor(context, request.fitted_train_set_id, request.task);
    const upload = uploads.get(request.test_set_upload_id.toLowerCase(), 'test');
    if (upload.entry.fittedId !== model.id) {
      throw invalid(
        `The test set upload ${upload.entry.id} was prepared for the fitted train set ` +
          `${upload.entry.fittedId ?? ''}, not for ${model.id}.`,
      );
    }
    const applied = applyConfig(model, request.svc_config, ignored);
    const outcome = await uploads.reading(upload, () =>
      score(context, model, {
        x: fileRef(upload, 'x'),
        outputType: request.output_type ?? DEFAULT_OUTPUT_TYPE[request.task],
        quantiles: request.quantiles ?? DEFAULT_QUANTILES,
        options: applied.options,
        signal: abortedWith(res),
      }),
    );
    const metadata = toWireMetadata(metadataOf(model, applied, outcome), { apiName });
    return { status: 200, body: joinJson(outcome.json, metadata) };
  },
};

/** The model, if it is there and of this task. @throws Refusal 404, 422 */
export function modelFor(context: ServiceContext, id: string, task: ModelEntry['task']): ModelEntry {
  const found = context.store.models.use(id.toLowerCase());
  if (found === undefined) {
    throw notFound(`There is no fitted train set ${id}: fit it again.`);
  }
  const { entry } = found;
  if (entry.task !== task) {
    throw invalid(`The fitted train set ${id} was fitted for ${entry.task}, not for ${task}.`);
  }
  return entry;
}

/** Scores a file on a predict thread. A model that turns out to be damaged is set aside. @throws Refusal */
export async function score(
  context: ServiceContext,
  model: ModelEntry,
  asked: Pick<PredictJob, 'x' | 'outputType' | 'quantiles' | 'options'> & { signal?: AbortSignal },
): Promise<ScoredFile> {
  const { signal, ...what } = asked;
  const { store, predictPool, limits } = context;
  const item = store.models.use(model.id);
  if (item === undefined) {
    throw notFound(`There is no fitted train set ${model.id}: fit it again.`);
  }
  const ref = { id: model.id, file: path.join(item.folder, MODEL_FILE), crc: model.crc };
  const job: PredictJob = { kind: 'predict', model: ref, features: model.features, limits, ...what };
  item.pins += 1;
  try {
    return await predictPool.run<ScoredFile>(job, {
      key: model.id,
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (error instanceof Refusal && error.body.errorCode === 'MODEL_DAMAGED') {
      await store.models.setAside(model.id, item.folder, error.message);
      throw notFound(error.message);
    }
    throw error;
  } finally {
    item.pins -= 1;
  }
}

/** Ends a predict that still waits when its client has gone. */
export function abortedWith(res: {
  on(event: 'close', listener: () => void): unknown;
  writableFinished: boolean;
}): AbortSignal {
  const controller = new AbortController();
  res.on('close', () => {
    if (!res.writableFinished) {
      controller.abort();
    }
  });
  return controller.signal;
}

function metadataOf(model: ModelEntry, applied: Applied, outcome: ScoredFile): PredictMetadata {
  return {
    test_set_num_rows: outcome.rows,
    test_set_num_cols: outcome.columns,
    package_version: PACKAGE_VERSION,
    svc_config: applied.config,
    task: model.task,
    ...(model.classes === undefined ? {} : { classes: model.classes }),
    ignored_options: applied.ignored,
    ignored_columns: outcome.extra,
  };
}

/** `{"prediction": <json>, "metadata": …}` without parsing the prediction again. */
function joinJson(prediction: Uint8Array, metadata: object): Uint8Array {
  return Buffer.concat([
    Buffer.from('{"prediction":'),
    prediction,
    Buffer.from(`,"metadata":${JSON.stringify(metadata)}}`),
  ]);
}
