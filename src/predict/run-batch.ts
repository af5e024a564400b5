import { predictToEstimate } from '../models/limits';
import { type ResolvedModel, resolveModel } from '../models/model-request';
import type { Context } from '../models/service';
import type { PredictOutcome, PredictSettings } from '../models/types';
import { PREDICT } from '../settings/nodes';
import type { Column } from '../table/cells/types';
import { encodeBatches } from '../table/encoder/encode';
import { Yielder } from '../util/concurrency';
import { cloneJson } from '../util/values';
import { findKind, rowCount, slicePrediction, toService } from '../wire/prediction';
import { ServiceError } from '../wire/service-error';
import { ALL_DIGITS, answeredBy, flatColumns, predictionColumns, tellingDigits } from './attach';
import { type CausesOf, type Effects, sliceEffects } from './causes';
import { evaluateMessage, readTruths } from './evaluate';
import {
  chooseColumns,
  LegacyTable,
  type PredictMessage,
  type QueuedPredict,
  readTogether,
  type RowsTogether,
  UploadedSet,
} from './message';
import { LoneTable } from './message-table';
import { addOffsets, readOffsets, rowsPerTestSet, scoreInParts } from './parts';
import type { Result } from './queue';
import type { TableTruth } from './read-truth';
import {
  type Budget,
  MAX_PREDICTS,
  scoreByHalves,
  type Scored,
  scoreFile,
  type ScoreOptions,
} from './test-set';
import type { TrainSetComparison } from './unlike';
import { chooseExplained, type ExplainByRows, explainByRows, makeCauses, openComparison } from './why';

/** What the causes of a row take while a result waits to be delivered in order. */
const CAUSES_BYTES = 1024;
/** So many predicts of one row in a row are a stream of them. */
const STREAM = 20;
/** Rows of the batch to compare with, where the node gathers none. */
const BATCH = 100;
/** The charge of a batch is worth a warning where it is below this part of that of its rows one by one. */
const WORTH = 0.5;
const ESTIMATE_MS = 10_000;

/** What a batch is run with. */
interface BatchRun {
  context: Context;
  settings: PredictSettings;
  /** Warns the user, once per key. */
  warn: (key: string, text: string) => void;
  /** Watches for a stream of predicts that each pay the least charge for one row. */
  singleRows: SingleRows;
  /** The true values for messages whose predictions are to be scored. */
  truths?: Map<QueuedPredict, TableTruth>;
}

type PredictResult = Result<QueuedPredict, PredictOutcome>;

/** Scores the messages of one batch: the result of each, as soon as it is there. */
export async function* runBatch(
  run: BatchRun,
  messages: QueuedPredict[],
  signal: AbortSignal,
): AsyncGenerator<PredictResult> {
  const { context, settings } = run;
  const first = messages[0]!;
  const { request, reference, table } = first.payload;
  const { retryPredict, maxCost } = settings;
  if (table instanceof LegacyTable) {
    const scored = await table.score(context, { retryPredict, signal });
    yield makeResult(run, first, scored, { model: { name: request.modelId! }, options: { signal } });
    return;
  }
  // Resolved again: a fit that ended while they waited takes over between batches.
  const model = resolveModel(reference, request, context.cards) ?? first.payload.model;
  if (model === undefined) {
    throw new ServiceError('internal', 'The batch has no model.');
  }
  const options: ScoreOptions = { signal, retryPredict, maxCost, forceRefit: request.forceRefit };
  if (request.explain === true) {
    options.explain = chooseExplained(model, request);
  }
  // A fit may replace the model while the batch runs: the service keeps it until then.
  const release = context.cards.hold(model.fittedId);
  try {
    const own = { ...run };
    // Before anything is sent: a table that cannot be scored is refused.
    if (messages.some(({ payload }) => payload.request.evaluate === true)) {
      const { truths, refused } = await readTruths(messages, model, signal);
      own.truths = truths;
      yield* refused;
    }
    if (!(table instanceof LoneTable)) {
      yield* runJoined(own, messages, model, options);
    } else if (first.isWanted) {
      yield runLone(own, { message: first, table }, model, options);
    }
  } finally {
    release();
  }
}

/** A message whose rows share no test set with those of others. */
async function runLone(
  run: BatchRun,
  { message, table }: { message: QueuedPredict; table: LoneTable },
  model: ResolvedModel,
  options: ScoreOptions,
): Promise<PredictResult> {
  const { context, warn } = run;
  const { request, hooks } = message.payload;
  const isHere = request.unlike === true && !(table instanceof UploadedSet);
  const comparison = isHere ? await openComparison(context, model, warn) : undefined;
  const scored = await table.score({ context, model, options, hooks, comparison });
  if (request.unlike === true && !isHere) {
    warn('unlike', 'The rows of an upload are not here, so they are not compared with the train set.');
  }
  if (options.explain !== undefined && scored.effects === undefined) {
    warn(
      'streamed',
      'Predictions of a large table or of an upload are explained by the embedded service alone.',
    );
  }
  return evaluatedResult(run, message, scored, { model, options });
}

/** Messages that share a test set: read into one batch, scored, and split again. */
async function* runJoined(
  run: BatchRun,
  messages: readonly QueuedPredict[],
  model: ResolvedModel,
  options: ScoreOptions,
): AsyncGenerator<PredictResult> {
  const { signal } = options;
  const wanted = messages.filter(({ isWanted }) => isWanted);
  const columns = chooseColumns(wanted, model);
  const { most: rows } = await rowsPerTestSet(run.context, model, columns.length, signal);
  const budget: Budget = { left: MAX_PREDICTS - 1 };
  for (const group of groupMessages(wanted, rows)) {
    const { refused, ...whole } = await readTogether(group, columns, signal);
    yield* refused;
    if (whole.batch.rows > rows) {
      yield runOversize(run, whole, model, options);
    } else if (whole.messages.length > 0) {
      yield* scoreByHalves(whole.messages, {
        score: async function* (items) {
          const part =
            items === whole.messages ? { ...whole, refused: [] } : await readTogether(items, columns, signal);
          yield* part.refused;
          yield* scoreTogether(run, part, model, { ...options, budget });
        },
        budget,
      });
    }
  }
}

async function* scoreTogether(
  run: BatchRun,
  { messages, columns, batch }: RowsTogether,
  model: ResolvedModel,
  options: ScoreOptions,
): AsyncGenerator<PredictResult> {
  if (messages.length === 0) {
    return;
  }
  const { signal } = options;
  const offsets = readOffsets(model, columns, batch);
  const file = await encodeBatches(columns, [batch], { compress: !run.context.service.isLocal, signal });
  let scored: Scored;
  try {
    scored = await scoreFile(run.context, model, file, options);
    run.singleRows.note(run, model, file.rows);
  } finally {
    await file.dispose();
  }
  const byRows = await effectsByRows(run, { model, columns, batch, options }, scored);
  const comparison = await comparisonFor(run, messages, model);
  const yielder = new Yielder();
  let to = 0;
  for (const message of messages) {
    const from = to;
    to += message.payload.table.rowCount;
    if (!message.isWanted) {
      continue;
    }
    const own: Scored = {
      prediction: slicePrediction(scored.prediction, from, to),
      metadata: scored.metadata,
      rows: to - from,
      effects: scored.effects && sliceEffects(scored.effects, from, to),
    };
    try {
      const level = offsets === undefined ? own : addOffsets(own, offsets.slice(from, to), model);
      level.effects ??= byRows && sliceEffects(byRows, from, to);
      if (message.payload.request.unlike === true) {
        level.unlike = await comparison?.compare(listColumnNames(columns), batch, { from, to, signal });
      }
      yield evaluatedResult(run, message, level, { model, options });
    } catch (error) {
      yield { message, error };
    }
    await yielder.due();
  }
}

/** One message with more rows than a test set may have. */
async function runOversize(
  run: BatchRun,
  { messages, columns, batch }: RowsTogether,
  model: ResolvedModel,
  options: ScoreOptions,
): Promise<PredictResult> {
  const message = messages[0]!;
  try {
    const scored = await scoreInParts(run.context, model, { columns, batches: [batch] }, options);
    scored.effects ??= await effectsByRows(run, { model, columns, batch, options }, scored);
    const comparison = await comparisonFor(run, messages, model);
    const { signal } = options;
    scored.unlike = await comparison?.compare(listColumnNames(columns), batch, {
      from: 0,
      to: batch.rows,
      signal,
    });
    return await evaluatedResult(run, message, scored, { model, options });
  } catch (error) {
    return { message, error };
  }
}

/** Effects for a service that does not explain itself; undefined where none are asked for, or the service gave them. */
async function effectsByRows(
  { context, warn }: BatchRun,
  { options, ...rows }: Pick<ExplainByRows, 'model' | 'columns' | 'batch' | 'options'>,
  { effects }: Scored,
): Promise<Effects | undefined> {
  const { explain: wish } = options;
  return wish === undefined || effects !== undefined
    ? undefined
    : explainByRows({ context, ...rows, wish, options, warn });
}

/** What rows are compared with, where a message asks for it. */
async function comparisonFor(
  { context, warn }: BatchRun,
  messages: readonly QueuedPredict[],
  model: ResolvedModel,
): Promise<TrainSetComparison | undefined> {
  for (const { payload } of messages) {
    if (payload.request.unlike === true) {
      return openComparison(context, model, warn);
    }
  }
  return undefined;
}

function listColumnNames(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}

/** What a message was scored with. */
interface ScoredBy {
  model: ResolvedModel;
  options: ScoreOptions;
}

/** The result of a message, evaluated where that is asked for; a promise only where it takes longer. */
function evaluatedResult(
  run: BatchRun,
  message: QueuedPredict,
  scored: Scored,
  by: ScoredBy,
): PredictResult | Promise<PredictResult> {
  const { unpredicted } = scored;
  if (unpredicted !== undefined) {
    run.warn(
      'unpredicted',
      `${unpredicted} of ${scored.rows} rows have no value in "${by.model.relativeTo}", and the model predicts the change from it: the prediction of such a row is null.`,
    );
  }
  const truth = run.truths?.get(message);
  if (truth === undefined || !message.isWanted) {
    return makeResult(run, message, scored, by);
  }
  return evaluateMessage(run, message, scored, { truth, ...by }).then((evaluation) =>
    makeResult(run, message, { ...scored, evaluation }, by),
  );
}

/** The result of a message; a promise only where its table is so large that predictions are attached in slices. */
function makeResult(
  { settings, warn }: BatchRun,
  message: QueuedPredict,
  scored: Scored,
  { model, options }: { model: OutcomeModel; options: Pick<ScoreOptions, 'signal' | 'explain'> },
): PredictResult | Promise<PredictResult> {
  const { payload } = message;
  const { request } = payload;
  const { rows } = scored;
  const causes = request.explain === true ? CAUSES_BYTES * rows : 0;
  const { prediction } = scored;
  const bytes = message.bytes + rows * findKind(prediction).rowBytes(prediction) + causes;
  const why =
    request.explain === true
      ? makeCauses(scored, {
          above: options.explain?.above,
          classes: model.classes,
          causeText: settings.causeText,
          warn,
        })
      : undefined;
  const outcome = makeOutcome(scored, payload, model, { signal: options.signal, why });
  return outcome instanceof Promise
    ? outcome.then((attached) => ({ message, outcome: attached, bytes, rows }))
    : { message, outcome, bytes, rows };
}

/** Groups consecutive messages up to `rows` rows in all; a message with more is a group of its own. */
function groupMessages(messages: readonly QueuedPredict[], rows: number): QueuedPredict[][] {
  const groups: QueuedPredict[][] = [];
  let group: QueuedPredict[] = [];
  let held = 0;
  for (const message of messages) {
    const own = message.payload.table.rowCount;
    if (group.length > 0 && held + own > rows) {
      groups.push(group);
      group = [];
      held = 0;
    }
    group.push(message);
    held += own;
  }
  return group.length > 0 ? [...groups, group] : groups;
}

/** What a result says about the model that made it. */
type OutcomeModel = Pick<ResolvedModel, 'name' | 'version'> &
  Partial<Pick<ResolvedModel, 'fittedId' | 'classes' | 'answers' | 'rarer' | 'error'>>;

/**
 * The result of a message: its own prediction, its own copy of the metadata, and its table with the predictions
 * attached. A promise only where the table is so large that this is done in slices.
 */
function makeOutcome(
  scored: Scored,
  { table, request }: Pick<PredictMessage, 'table' | 'request'>,
  model: OutcomeModel,
  { signal, why }: { signal: AbortSignal; why: CausesOf | undefined },
): PredictOutcome | Promise<PredictOutcome> {
  const { property = 'prediction', flat, times } = request;
  const classes = scored.metadata.classes ?? model.classes;
  const answered = model.answers && answeredBy(model.answers, scored.prediction, classes);
  const told = answered?.labelsOnly === true ? answered.labels : scored.prediction;
  const outcome: PredictOutcome = {
    prediction: toService(told, scored.offsets),
    metadata: { ...cloneJson(scored.metadata), test_set_num_rows: scored.rows },
    modelName: model.name,
  };
  if (model.fittedId !== undefined) {
    const { name, version, fittedId: id } = model;
    outcome.predictedBy = { name, ...(version !== undefined && { version }), fitted_train_set_id: id };
  }
  if (table.cleaned !== undefined) {
    outcome.cleaned = { cells_missing: table.cleaned };
  }
  if (scored.evaluation !== undefined) {
    outcome.evaluation = scored.evaluation;
  }
  const { unlike } = scored;
  const digits = flat === true ? tellingDigits(model.error) : ALL_DIGITS;
  const columns = predictionColumns(scored.prediction, property, classes, { answered, digits });
  if (why !== undefined) {
    columns.push({ name: `${property}_why`, cell: why });
  }
  if (unlike !== undefined) {
    columns.push({ name: `${property}_unlike`, cell: (row) => unlike[row] });
  }
  if (flat === true) {
    const numbers = { property, classes, rarer: model.rarer, times, digits };
    columns.push(...flatColumns(scored.prediction, { ...numbers, answered: answered?.labels.values }));
  }
  const attached = table.attach({ rows: rowCount(scored.prediction), columns }, signal);
  return attached instanceof Promise
    ? attached.then((late) => Object.assign(outcome, late))
    : Object.assign(outcome, attached);
}

interface Run {
  context: Context;
  settings: Pick<PredictSettings, 'batchRows'>;
  warn: (key: string, text: string) => void;
}

/**
 * Notices that a metered service with a least charge for each predict is asked row by row. It is found out by two
 * estimates, which cost nothing, and said once.
 */
export class SingleRows {
  private inARow = 0;
  private isSaid = false;

  /** A test set of so many rows was predicted. */
  note({ context, settings, warn }: Run, model: ResolvedModel, rows: number): void {
    this.inARow = rows === 1 ? this.inARow + 1 : 0;
    if (this.inARow < STREAM || this.isSaid || !context.service.isMetered) {
      return;
    }
    this.isSaid = true;
    const { batchRows = PREDICT.batchRows.fallback } = settings;
    void warnOfCharge(context, model, batchRows > 1 ? batchRows : BATCH, warn);
  }
}

/** Silent where the service does not tell what a predict costs, or charges by the row. Never rejects. */
async function warnOfCharge(
  context: Context,
  model: ResolvedModel,
  rows: number,
  warn: Run['warn'],
): Promise<void> {
  const signal = AbortSignal.timeout(ESTIMATE_MS);
  const fetchCost = async (test: number): Promise<number> => {
    const limits = await context.service.limits.forChecks(signal);
    return context.service.costs.estimate(
      predictToEstimate(limits, model, { train: model.trainRows, test }),
      signal,
    );
  };
  try {
    const one = await fetchCost(1);
    const batch = await fetchCost(rows);
    if (batch < WORTH * rows * one) {
      warn(
        'single-rows',
        `The rows of this stream are predicted one by one, and each predict is estimated to cost ${one} tokens. ` +
          `${rows} rows in one predict are estimated to cost ${batch} instead of ${rows * one}: ` +
          'set Batch rows above 1 and a Batch wait, so that rows are gathered.',
      );
    }
  } catch {
    // The estimate is a service to the user: without it the predicts go on all the same.
  }
}
