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
import { type CausesOf, sliceEffects } from './causes';
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
  type Scoring,
} from './test-set';
import { chooseExplained, explainByRows, makeCauses, openComparison } from './why';

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
}

/** A batch under way, with the model that its messages are scored with. */
interface Batch extends BatchRun, Scoring {
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
    yield makeResult({ ...run, model: { name: request.modelId! }, options: { signal } }, first, scored);
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
    const batch: Batch = { ...run, model, options };
    // Before anything is sent: a table that cannot be scored is refused.
    if (messages.some(({ payload }) => payload.request.evaluate === true)) {
      const { truths, refused } = await readTruths(messages, model, signal);
      batch.truths = truths;
      yield* refused;
    }
    if (!(table instanceof LoneTable)) {
      yield* runJoined(batch, messages);
    } else if (first.isWanted) {
      yield runLone(batch, first, table);
    }
  } finally {
    release();
  }
}

/** A message whose rows share no test set with those of others. */
async function runLone(batch: Batch, message: QueuedPredict, table: LoneTable): Promise<PredictResult> {
  const { context, model, options, warn } = batch;
  const { request, hooks } = message.payload;
  const isHere = request.unlike === true && !(table instanceof UploadedSet);
  const comparison = isHere ? await openComparison(batch) : undefined;
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
  return evaluatedResult(batch, message, scored);
}

/** Messages that share a test set: read into one batch, scored, and split again. */
async function* runJoined(batch: Batch, messages: readonly QueuedPredict[]): AsyncGenerator<PredictResult> {
  const { model, options } = batch;
  const { signal } = options;
  const wanted = messages.filter(({ isWanted }) => isWanted);
  const columns = chooseColumns(wanted, model);
  const { most: rows } = await rowsPerTestSet(batch, columns.length);
  const budget: Budget = { left: MAX_PREDICTS - 1 };
  for (const group of groupMessages(wanted, rows)) {
    const { refused, ...whole } = await readTogether(group, columns, signal);
    yield* refused;
    if (whole.batch.rows > rows) {
      yield runOversize(batch, whole);
    } else if (whole.messages.length > 0) {
      yield* scoreByHalves(whole.messages, {
        score: async function* (items) {
          const part =
            items === whole.messages ? { ...whole, refused: [] } : await readTogether(items, columns, signal);
          yield* part.refused;
          yield* scoreTogether({ ...batch, options: { ...options, budget } }, part);
        },
        budget,
      });
    }
  }
}

async function* scoreTogether(
  batch: Batch,
  { messages, columns, batch: rows }: RowsTogether,
): AsyncGenerator<PredictResult> {
  if (messages.length === 0) {
    return;
  }
  const { context, model, options } = batch;
  const { signal } = options;
  const offsets = readOffsets(model, columns, rows);
  const file = await encodeBatches(columns, [rows], { compress: !context.service.isLocal, signal });
  let scored: Scored;
  try {
    scored = await scoreFile(batch, file);
    batch.singleRows.note(batch, file.rows);
  } finally {
    await file.dispose();
  }
  const byRows =
    options.explain === undefined || scored.effects !== undefined
      ? undefined
      : await explainByRows({ ...batch, columns, batch: rows, wish: options.explain });
  const isCompared = messages.some(({ payload }) => payload.request.unlike === true);
  const comparison = isCompared ? await openComparison(batch) : undefined;
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
        level.unlike = await comparison?.compare(listColumnNames(columns), rows, { from, to, signal });
      }
      yield evaluatedResult(batch, message, level);
    } catch (error) {
      yield { message, error };
    }
    await yielder.due();
  }
}

/** One message with more rows than a test set may have. */
async function runOversize(
  batch: Batch,
  { messages, columns, batch: rows }: RowsTogether,
): Promise<PredictResult> {
  const message = messages[0]!;
  const { explain: wish, signal } = batch.options;
  try {
    const scored = await scoreInParts(batch, { columns, batches: [rows] });
    if (wish !== undefined) {
      scored.effects ??= await explainByRows({ ...batch, columns, batch: rows, wish });
    }
    if (message.payload.request.unlike === true) {
      const comparison = await openComparison(batch);
      const all = { from: 0, to: rows.rows, signal };
      scored.unlike = await comparison?.compare(listColumnNames(columns), rows, all);
    }
    return await evaluatedResult(batch, message, scored);
  } catch (error) {
    return { message, error };
  }
}

function listColumnNames(columns: readonly Column[]): string[] {
  return columns.map(({ name }) => name);
}

/** The result of a message, evaluated where that is asked for; a promise only where it takes longer. */
function evaluatedResult(
  batch: Batch,
  message: QueuedPredict,
  scored: Scored,
): PredictResult | Promise<PredictResult> {
  const { unpredicted } = scored;
  if (unpredicted !== undefined) {
    batch.warn(
      'unpredicted',
      `${unpredicted} of ${scored.rows} rows have no value in "${batch.model.relativeTo}", and the model predicts the change from it: the prediction of such a row is null.`,
    );
  }
  const truth = batch.truths?.get(message);
  if (truth === undefined || !message.isWanted) {
    return makeResult(batch, message, scored);
  }
  return evaluateMessage(batch, message, scored, truth).then((evaluation) =>
    makeResult(batch, message, { ...scored, evaluation }),
  );
}

/** What a result is made with: of a batch, the model and the settings. */
interface ResultOptions extends Pick<BatchRun, 'settings' | 'warn'> {
  model: OutcomeModel;
  options: Pick<ScoreOptions, 'signal' | 'explain'>;
}

/** The result of a message; a promise only where its table is so large that predictions are attached in slices. */
function makeResult(
  { settings, warn, model, options }: ResultOptions,
  message: QueuedPredict,
  scored: Scored,
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

type Run = Pick<Batch, 'context' | 'model' | 'warn'> & { settings: Pick<PredictSettings, 'batchRows'> };

/**
 * Notices that a metered service with a least charge for each predict is asked row by row. It is found out by two
 * estimates, which cost nothing, and said once.
 */
export class SingleRows {
  private inARow = 0;
  private isSaid = false;

  /** A test set of so many rows was predicted. */
  note(run: Run, rows: number): void {
    this.inARow = rows === 1 ? this.inARow + 1 : 0;
    if (this.inARow < STREAM || this.isSaid || !run.context.service.isMetered) {
      return;
    }
    this.isSaid = true;
    const { batchRows = PREDICT.batchRows.fallback } = run.settings;
    void warnOfCharge(run, batchRows > 1 ? batchRows : BATCH);
  }
}

/** Silent where the service does not tell what a predict costs, or charges by the row. Never rejects. */
async function warnOfCharge({ context, model, warn }: Run, rows: number): Promise<void> {
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
