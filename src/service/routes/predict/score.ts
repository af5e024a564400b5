import path from 'node:path';

import { bare, stringifyBare } from '../../../util/values';
import type { PredictMetadata } from '../../../wire/types';
import type { Label } from '../../../wire/vocabulary';
import { invalid, notFound, Refusal } from '../../refusal';
import type { ModelEntry } from '../../store/entries/entries';
import type { FileRef } from '../../store/entries/file-ref';
import { MODEL_FILE } from '../../store/store';
import { PACKAGE_VERSION } from '../../version';
import type { PredictJob, ScoredFile } from '../../work/jobs';
import { readPatience } from '../../work/pool/patience';
import { missingModel, type ServiceContext } from '../context';
import type { Applied } from './config';

/* What every route that predicts does. */

/** The model, if it is there and of this task. @throws Refusal 404, 422 */
export function modelFor(context: ServiceContext, id: string, task: ModelEntry['task']): ModelEntry {
  const found = context.store.models.use(id.toLowerCase());
  if (found === undefined) {
    throw missingModel(context.store, id.toLowerCase());
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
  asked: Pick<PredictJob, 'x' | 'outputType' | 'quantiles' | 'options' | 'explain'> & {
    signal?: AbortSignal;
  },
): Promise<ScoredFile> {
  const { signal, ...what } = asked;
  const { store, predictPool, limits, metrics } = context;
  const item = store.models.use(model.id);
  if (item === undefined) {
    throw missingModel(store, model.id);
  }
  const ref = { id: model.id, file: path.join(item.folder, MODEL_FILE), bytes: model.bytes, crc: model.crc };
  const { features, longClasses } = model;
  const job: PredictJob = { kind: 'predict', model: ref, features, longClasses, limits, ...what };
  item.pins += 1;
  try {
    const scored = await predictPool.run<ScoredFile>(job, {
      key: model.id,
      patienceMs: readPatience(model.bytes + bytesOf(what.x)),
      ...(signal === undefined ? {} : { signal }),
    });
    metrics.countPredictedRows(scored.rows);
    return scored;
  } catch (error) {
    store.models.restore();
    if (store.models.isLost(model.id)) {
      throw missingModel(store, model.id);
    }
    if (error instanceof Refusal && error.body.errorCode === 'MODEL_DAMAGED') {
      await store.models.setAside(model.id, item.folder, error.message);
      throw notFound(error.message);
    }
    throw error;
  } finally {
    item.pins -= 1;
  }
}

function bytesOf(x: FileRef): number {
  return x.data === undefined ? (x.bytes ?? 0) : x.data.length;
}

/** Aborted when the client disconnects before it has its answer. */
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

/** S 2.7 */
export function metadataOf(model: ModelEntry, applied: Applied, outcome: ScoredFile): PredictMetadata {
  return {
    test_set_num_rows: outcome.rows,
    test_set_num_cols: outcome.columns,
    package_version: PACKAGE_VERSION,
    svc_config: applied.config,
    task: model.task,
    ...(model.classes === undefined ? {} : { classes: labelsOf(model, model.classes) }),
    ignored_options: applied.ignored,
    ignored_columns: outcome.extra,
    ...(outcome.explanation && { explanation: outcome.explanation }),
  };
}

/** Labels as they should be in JSON: integers beyond 2^53 as numbers too, which other parsers read exactly. */
function labelsOf({ longClasses }: ModelEntry, classes: readonly Label[]): Label[] {
  return longClasses === true ? classes.map((label) => bare(String(label))) : [...classes];
}

/** `{"prediction": <json>, "metadata": …, …rest}` without parsing the prediction again. */
export function joinJson(prediction: Uint8Array, metadata: object, rest: object = {}): Uint8Array {
  const tail = stringifyBare({ metadata, ...rest });
  return Buffer.concat([Buffer.from('{"prediction":'), prediction, Buffer.from(`,${tail.slice(1)}`)]);
}
