import { open } from 'node:fs/promises';
import path from 'node:path';
import { workerData } from 'node:worker_threads';

import { LearnerError, saveModel } from '../../learner';
import { crc32c, crc32cToBase64 } from '../../table/storage/crc32c';
import { invalid } from '../refusal';
import { readFeatures } from './columns';
import { assist, trainWithHelpers } from './folds';
import type { FitJob, FitOutcome, FitTask } from './jobs';
import { type JobResult, serveJobs, yieldToOthers } from './pool-job';
import { readTarget } from './target';

/* A fit thread: reads the two files of a train set, trains, and writes the model to its file. */

const { pressure } = workerData as { pressure: Int32Array };

yieldToOthers();

serveJobs<FitTask>(async (task, progress) => {
  if (task.kind === 'fit') {
    return fit(task, progress);
  }
  await assist(task.port, () => Atomics.load(pressure, 0) > 0, progress);
  return { result: undefined };
});

async function fit(job: FitJob, progress: (fraction: number) => void): Promise<JobResult> {
  const { limits } = job;
  const bounds = {
    rows: limits.train_set_max_rows,
    cells: limits.train_set_max_cells,
    columns: limits.max_cols,
  };
  const y = await readTarget(job.y, job.task, limits.max_classes);
  const x = await readFeatures(job.x, bounds, undefined, path.dirname(job.modelFile));
  try {
    if (x.rows !== y.rows) {
      throw invalid(`The feature file has ${x.rows} rows and the target file ${y.rows}; they must be equal.`);
    }
    const input = { features: x.columns, target: y.target, options: job.options };
    const model = await trainWithHelpers(input, job.helpers, progress, x.close);
    const saved = await write(job.modelFile, saveModel(model));
    const learned = new Set(model.features.map(({ name }) => name));
    const result: FitOutcome = {
      targetName: y.name,
      features: x.shapes.filter(({ name }) => learned.has(name)),
      rows: x.rows,
      ...(y.target.task === 'classification' ? { classes: y.target.classes } : {}),
      ...(y.longClasses === true && { longClasses: true }),
      ...saved,
      report: model.report,
    };
    return { result };
  } catch (error) {
    if (error instanceof LearnerError) {
      throw invalid(error.message);
    }
    throw error;
  } finally {
    x.close();
  }
}

async function write(file: string, bytes: Uint8Array): Promise<{ bytes: number; crc: string }> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return { bytes: bytes.length, crc: crc32cToBase64(crc32c(bytes)) };
}
