import { workerData } from 'node:worker_threads';

import { predict } from '../../learner/model/predict';
import { LearnerError } from '../../learner/types';
import { hasBars } from '../../wire/vocabulary';
import { invalid } from '../refusal';
import { readFeatures } from './columns';
import type { PredictJob, PredictTask, ScoredFile } from './jobs';
import { checkModel, ModelCache } from './model-cache';
import { type JobResult, serveJobs } from './pool-job';
import { predictPatience } from './pool-thread';
import { assertAnswerSize, predictionJson, writeExplanation } from './prediction-json';

/* A predict thread: keeps models in memory, reads a test file, predicts, and writes the answer as JSON. */

const { cacheBytes } = workerData as { cacheBytes: number };
const cache = new ModelCache(cacheBytes);

serveJobs<PredictTask>(
  async (task, _progress, mayTake) => {
    if (task.kind === 'predict') {
      return score(task, mayTake);
    }
    await (task.kind === 'check' ? checkModel(task) : cache.get(task.model));
    return { result: undefined };
  },
  (ids) => cache.forget(ids),
);

async function score(job: PredictJob, mayTake: (ms: number) => void): Promise<JobResult> {
  const { limits } = job;
  const model = await cache.get(job.model);
  const rows = hasBars(job.outputType)
    ? Math.min(limits.test_set_max_rows, limits.test_set_max_rows_w_full_regression_output)
    : limits.test_set_max_rows;
  const bounds = { rows, cells: limits.test_set_max_cells, columns: limits.max_cols };
  const features = await readFeatures(job.x, bounds, job.features);
  assertAnswerSize(
    {
      outputType: job.outputType,
      quantiles: job.quantiles,
      classes: model.task === 'classification' ? model.classes.length : 0,
      rows: features.rows,
    },
    limits,
  );
  mayTake(predictPatience(features.rows, job.model.bytes, job.explain !== undefined));
  let json: Uint8Array<ArrayBuffer>;
  let explanation: ScoredFile['explanation'];
  try {
    const result = predict(model, features.columns, features.rows, job.options);
    json = predictionJson(result, job.outputType, job.quantiles, job.longClasses);
    if (job.explain !== undefined) {
      explanation = writeExplanation(model, features.columns, result, {
        options: job.options,
        asked: job.explain,
      });
    }
  } catch (error) {
    if (error instanceof LearnerError) {
      throw invalid(error.message);
    }
    throw error;
  }
  const result: ScoredFile = {
    json,
    rows: features.rows,
    columns: features.width,
    extra: features.extra,
    ...(explanation && { explanation }),
  };
  return { result, transfer: [json.buffer] };
}
