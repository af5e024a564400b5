import { missingOf } from '../../client/errors/missing';
import {
  addCounts,
  type Column,
  type ColumnBatch,
  encodeBatches,
  fileAsIs,
  readBatches,
  type TableFile,
} from '../../table';
import { Yielder } from '../../util/event-loop';
import { slicePrediction } from '../../wire/prediction';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Batcher } from '../batching/batcher';
import type { Context } from '../context/context';
import { type ResolvedModel, resolveTarget } from '../models/model-request';
import type { PredictOutcome, PredictSettings } from '../types';
import { type Budget, MAX_PREDICTS, scoreByHalves } from './bisection';
import { columnsOf, conformAll, type Conformed } from './conform';
import { runLegacy } from './legacy';
import type { MessageTable, PredictMessage, QueuedPredict } from './message';
import { outcomeBytes, outcomeOf, type Scored, smallOutcome } from './outcome';
import { rowsPerTestSet, scoreInParts } from './parts';
import { addOffsets, offsetsOf } from './relative';
import { noteIfDead, predictUpload, scoreFile, type ScoreOptions } from './test-set';

export interface BatchRun {
  context: Context;
  settings: PredictSettings;
  batcher: Batcher<PredictMessage, PredictOutcome>;
}

/** Scores the messages of one batch and settles each. */
export async function runBatch(run: BatchRun, jobs: QueuedPredict[], signal: AbortSignal): Promise<void> {
  const first = jobs[0]!;
  const { request, choice, table } = first.payload;
  if (table?.kind === 'legacy') {
    run.batcher.finish(first, await runLegacy(run, request, signal));
    return;
  }
  // Resolved again: a fit that ended while they waited takes over between batches.
  const target = resolveTarget(choice, request, run.context.cards) ?? first.payload.target;
  if (target === undefined) {
    throw new ServiceError('internal', 'The batch has no model.');
  }
  const options: ScoreOptions = {
    signal,
    retryPredict: run.settings.retryPredict,
    maxCost: run.settings.maxCost,
    forceRefit: request.forceRefit,
  };
  switch (table?.kind) {
    case 'upload':
      await runUpload(run, first, table, target, options);
      break;
    case 'stream':
      await runStream(run, first, target, options);
      break;
    default:
      await runJoined(run, jobs, target, options);
  }
}

async function runUpload(
  run: BatchRun,
  job: QueuedPredict,
  { id, card }: Extract<MessageTable, { kind: 'upload' }>,
  named: ResolvedModel,
  options: ScoreOptions,
): Promise<void> {
  // A test set belongs to the model that it was uploaded for, even where its name means a newer one by now.
  const target: ResolvedModel = {
    ...named,
    fittedId: card?.fitted_train_set_id ?? named.fittedId,
    classes: card?.classes ?? named.classes,
  };
  if (target.relativeTo !== undefined) {
    throw new ServiceError(
      'config.invalid',
      `The model "${target.name}" predicts the change from "${target.relativeTo}", and the rows of an upload are not here to add it to: give the table to the predict node.`,
    );
  }
  try {
    const scored = await predictUpload(run.context, target, id, options);
    await deliver(run, job, scored, target, options.signal);
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (missingOf(error) === 'model') {
      throw noteIfDead(run.context, target, error);
    }
    // The upload id may be the wrong one, so the model is not marked dead.
    throw error.code === 'not_found' || error.code === 'model.unknown'
      ? new ServiceError(
          'not_found',
          `The service has no test set ${id}, or no model ${target.name}: ${error.message}`,
          error.cause,
        )
      : error;
  }
}

async function runStream(
  run: BatchRun,
  job: QueuedPredict,
  target: ResolvedModel,
  options: ScoreOptions,
): Promise<void> {
  const { table, request, hooks } = job.payload;
  if (table?.kind !== 'stream') {
    return;
  }
  const columns = columnsOf([job], target);
  let done = 0;
  const predicting = (): void => hooks?.onStatus?.({ key: 'predicting', done, total: table.source.rowCount });
  let uploaded = false;
  // Once parts are scored their rows tell how far it is, and the bytes of the next ones say little.
  const onUpload = (sent: number, total: number, allSent = sent >= total): void => {
    uploaded ||= allSent;
    if (uploaded || done > 0) {
      predicting();
    } else {
      hooks?.onStatus?.({ key: 'uploading', sent, total });
    }
  };
  const file = await wholeFile(run.context, table, columns, target, options.signal);
  if (file !== undefined) {
    const scored = await scoreFile(run.context, target, file, { ...options, onProgress: onUpload });
    await deliver(run, job, scored, target, options.signal);
    return;
  }
  const batches = countCleaned(
    job,
    readBatches(table.source, columns, { missingColumns: request.missingColumns, signal: options.signal }),
  );
  const scored = await scoreInParts(run.context, target, columns, batches, {
    ...options,
    rows: table.source.rowCount,
    onUpload,
    onRows: (rows) => {
      done += rows;
      predicting();
    },
  });
  await deliver(run, job, scored, target, options.signal);
}

/** Keeps with a message how many cells of its table were taken as missing. */
async function* countCleaned(
  job: QueuedPredict,
  batches: AsyncIterable<ColumnBatch>,
): AsyncIterable<ColumnBatch> {
  for await (const batch of batches) {
    if (batch.cleaned !== undefined) {
      addCounts((job.payload.cleaned ??= {}), batch.cleaned);
    }
    yield batch;
  }
}

/** A Parquet file that has the columns and need not be split, to be sent as it is. */
async function wholeFile(
  context: Context,
  table: Extract<MessageTable, { kind: 'stream' }>,
  columns: readonly Column[],
  target: ResolvedModel,
  signal: AbortSignal,
): Promise<TableFile | undefined> {
  // A relative model needs the rows here, to add to.
  if (table.asIs !== true || target.relativeTo !== undefined) {
    return undefined;
  }
  const rows = await rowsPerTestSet(context, target, columns.length, signal);
  const { dataset_max_size_bytes: bytes } = await context.limits.forChecks(signal);
  return fileAsIs(table.source, columns, { signal, most: { rows, bytes } });
}

/** Messages that share a test set: read into one, scored, cut apart again. */
async function runJoined(
  run: BatchRun,
  jobs: QueuedPredict[],
  target: ResolvedModel,
  options: ScoreOptions,
): Promise<void> {
  const { signal } = options;
  const fail = (job: QueuedPredict, error: unknown): void => run.batcher.fail(job, error);
  const alive = jobs.filter((job) => job.state === 'flying');
  const columns = columnsOf(alive, target);
  const rows = await rowsPerTestSet(run.context, target, columns.length, signal);
  const budget: Budget = { left: MAX_PREDICTS - 1 };
  for (const group of groupsOf(alive, rows)) {
    const whole = await conformAll(group, target, signal, fail);
    if (whole.jobs.length === 0) {
      continue;
    }
    if (whole.batch.rows > rows) {
      await runOversize(run, whole, target, options);
      continue;
    }
    await scoreByHalves(whole.jobs, {
      score: async (items) => {
        const part = items === whole.jobs ? whole : await conformAll(items, target, signal, fail);
        await scoreJoined(run, part, target, { ...options, budget });
      },
      fail,
      toError: toServiceError,
      budget,
    });
  }
}

async function scoreJoined(
  run: BatchRun,
  part: Conformed,
  target: ResolvedModel,
  options: ScoreOptions,
): Promise<void> {
  if (part.jobs.length === 0) {
    return;
  }
  const columns = columnsOf(part.jobs, target);
  const counts = part.jobs.map(rowsOfJob);
  const offsets = offsetsOf(target, columns, part.batch);
  const file = await encodeBatches(columns, [part.batch], { signal: options.signal });
  let scored: Scored;
  try {
    scored = await scoreFile(run.context, target, file, options);
  } finally {
    await file.dispose();
  }
  const yielder = new Yielder();
  let from = 0;
  for (const [index, job] of part.jobs.entries()) {
    const to = from + counts[index]!;
    const own: Scored = {
      prediction: slicePrediction(scored.prediction, from, to),
      metadata: scored.metadata,
      rows: to - from,
    };
    const ownOffsets = offsets?.slice(from, to);
    from = to;
    try {
      const level = addOffsets(own, ownOffsets, target);
      const delivery = deliver(run, job, level, target, options.signal);
      await (delivery ?? yielder.due());
    } catch (error) {
      run.batcher.fail(job, error);
    }
  }
}

/** One message with more rows than a test set may have. */
async function runOversize(
  run: BatchRun,
  whole: Conformed,
  target: ResolvedModel,
  options: ScoreOptions,
): Promise<void> {
  const job = whole.jobs[0]!;
  const batches: ColumnBatch[] = [whole.batch];
  try {
    const scored = await scoreInParts(run.context, target, columnsOf([job], target), batches, options);
    await deliver(run, job, scored, target, options.signal);
  } catch (error) {
    run.batcher.fail(job, error);
  }
}

/** Hands a message its result; a promise only where the table is large enough to be attached in slices. */
function deliver(
  run: BatchRun,
  job: QueuedPredict,
  scored: Scored,
  target: ResolvedModel,
  signal: AbortSignal,
): Promise<void> | undefined {
  if (job.state !== 'flying') {
    return undefined;
  }
  const { table, request, cleaned } = job.payload;
  const property =
    request.property === undefined || request.property === '' ? 'prediction' : request.property;
  const bytes = job.bytes + outcomeBytes(scored.prediction, scored.rows);
  if (table?.kind === 'small') {
    run.batcher.finish(job, withCleaned(smallOutcome(scored, table, target, property)), bytes, scored.rows);
    return undefined;
  }
  return outcomeOf(scored, table, target, property, signal).then(
    (outcome) => run.batcher.finish(job, withCleaned(outcome), bytes, scored.rows),
    (error: unknown) => run.batcher.fail(job, error),
  );

  function withCleaned(outcome: PredictOutcome): PredictOutcome {
    return cleaned === undefined ? outcome : { ...outcome, cleaned: { cells_missing: cleaned } };
  }
}

/** Consecutive messages of at most `rows` rows together; a message with more makes a group of its own. */
function groupsOf(jobs: readonly QueuedPredict[], rows: number): QueuedPredict[][] {
  const groups: QueuedPredict[][] = [];
  let group: QueuedPredict[] = [];
  let held = 0;
  for (const job of jobs) {
    const own = rowsOfJob(job);
    if (group.length > 0 && held + own > rows) {
      groups.push(group);
      group = [];
      held = 0;
    }
    group.push(job);
    held += own;
  }
  return group.length > 0 ? [...groups, group] : groups;
}

function rowsOfJob({ payload: { table }, rows }: QueuedPredict): number {
  switch (table?.kind) {
    case 'small':
      return table.small.rows.length;
    case 'batch':
      return table.batch.rows;
    default:
      return rows;
  }
}
