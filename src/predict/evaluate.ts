import type { ModelCurves } from '../metrics/curves';
import { LEVELS, regressionScores } from '../metrics/regression';
import type { Scores } from '../metrics/scores';
import type { Evaluation, ScoredBlock, UsualTarget } from '../models/cards';
import {
  codesOfLabels,
  groupBlocks,
  type RowAnswers,
  rowBlocks,
  scoreRows,
  scoresOfRows,
  standardErrors,
  usualNumbers,
} from '../models/evaluation';
import type { ResolvedModel } from '../models/model-request';
import { countDays, Steps, writeTime } from '../models/row-times';
import type { Column, Label } from '../table/cells/types';
import { type ColumnBatch, pickRows } from '../table/columns/column-batch';
import type { TableSource } from '../table/open';
import { Yielder } from '../util/concurrency';
import { findKind, type Prediction } from '../wire/prediction';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { OutputType } from '../wire/vocabulary';
import { chooseColumns, type QueuedPredict } from './message';
import { scoreInParts } from './parts';
import type { Failed } from './queue';
import { assertLabels, readTruth, type TableTruth } from './read-truth';
import type { Scored } from './test-set';
import { announceRows, type WarnedScoring } from './why';

/** The true values for messages whose predictions are to be scored. A message whose rows cannot be is refused. */
export async function readTruths(
  messages: readonly QueuedPredict[],
  model: ResolvedModel,
  signal: AbortSignal,
): Promise<{ truths: Map<QueuedPredict, TableTruth>; refused: Failed<QueuedPredict>[] }> {
  const truths = new Map<QueuedPredict, TableTruth>();
  const refused: Failed<QueuedPredict>[] = [];
  for (const message of messages) {
    const { table, request } = message.payload;
    if (request.evaluate !== true || !message.isWanted) {
      continue;
    }
    try {
      const source = await table.source(signal);
      if (source !== undefined) {
        truths.set(message, await readTruth(source, model, request, signal));
      }
    } catch (error) {
      signal.throwIfAborted();
      refused.push({ message, error });
    }
  }
  return { truths, refused };
}

/** How good the predictions of a message are; undefined, with a warning, where the service does not answer. */
export async function evaluateMessage(
  { context, model, options, warn }: WarnedScoring,
  message: QueuedPredict,
  scored: Scored,
  truth: TableTruth,
): Promise<Evaluation | undefined> {
  const { table, request } = message.payload;
  const source = (await table.source(options.signal))!;
  const columns = chooseColumns([message], model);
  const { missingColumns } = request;
  return evaluate({ context, model, options, warn, source, columns, missingColumns, truth, scored });
}

/**
 * Scores the predictions of a table against its target. Where the service does not answer what that takes, it costs the
 * evaluation and never the predictions: a warning says why, and the answer is undefined.
 *
 * @throws ServiceError `closed`; `table.invalid` where the model knows none of the labels
 */
async function evaluate(table: EvaluatedTable): Promise<Evaluation | undefined> {
  const { model, truth, warn } = table;
  const { rows, known, unknown: leftOut } = truth;
  const facts = {
    model: model.name,
    ...(model.version !== undefined && { version: model.version }),
    task: model.task,
    target: model.target!,
    rows: rows.length,
    left_out: leftOut,
  };
  if (rows.length === 0) {
    const none: Scores = { rows: 0 };
    return { ...facts, scores: none, baseline: none, baseline_from: 'rows' };
  }
  if (known > rows.length) {
    warn('thinned', `Of ${known} rows with a target ${rows.length}, spread evenly, are scored.`);
  }
  let answers: RowAnswers;
  try {
    answers = await rowAnswers(table);
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (error.code === 'closed' || error.code === 'table.invalid') {
      throw error;
    }
    warn(`unscored ${error.code}`, `The rows are predicted, but could not be scored: ${error.message}`);
    return undefined;
  }
  return { ...facts, ...(await computeScores(table, answers)) };
}

type EvaluatedScores = Pick<
  Evaluation,
  'scores' | 'baseline' | 'baseline_from' | 'baseline_now' | 'standard_error' | 'curves' | 'blocks'
>;

async function computeScores(table: EvaluatedTable, answers: RowAnswers): Promise<EvaluatedScores> {
  const { context, model, truth } = table;
  const kept = (await context.cards.references.get(model.fittedId))?.target;
  const isKept = kept?.kind === (answers.task === 'classification' ? 'classes' : 'numbers');
  const usual = isKept ? kept : await findUsual(truth.target);
  const { scores, baseline, curves } = await scoreRows(answers, usual);
  const order = Int32Array.from(truth.rows, (_, at) => (truth.falling ? truth.rows.length - 1 - at : at));
  const times = truth.times?.values;
  const blocks = rowBlocks(order, times && ((row, before) => times[row] === times[before]));
  const alike = truth.groups === undefined ? blocks : groupBlocks(truth.groups);
  return {
    scores,
    ...(alike.length > 0 && { standard_error: await standardErrors(answers, scores, alike) }),
    baseline,
    baseline_from: isKept ? 'train-set' : 'rows',
    ...(truth.now !== undefined && {
      baseline_now: scoresOfNow(truth.now, truth.target),
    }),
    ...(truth.inTime && blocks.length > 0 && { blocks: await scoredBlocks(answers, truth, blocks) }),
    curves: inDays(curves, truth),
  };
}

/** What predicting no change scores. */
function scoresOfNow(now: NonNullable<TableTruth['now']>, target: TableTruth['target']): Scores {
  if (now instanceof Float64Array) {
    return regressionScores(now, [], target as Float64Array);
  }
  const same = now.filter((label, row) => label !== null && String(label) === String(target[row])).length;
  return { rows: now.length, accuracy: same / now.length };
}

/** With the days that the rows are of, where a column tells the time. */
function inDays(curves: ModelCurves, { times }: TableTruth): ModelCurves {
  if (curves.kind !== 'classes' || curves.by_threshold === undefined || times === undefined) {
    return curves;
  }
  const steps = new Steps();
  times.values.forEach((time) => steps.add(time));
  const days = countDays(times.column, steps);
  return days > 0 ? { ...curves, by_threshold: { ...curves.by_threshold, days } } : curves;
}

async function scoredBlocks(
  answers: RowAnswers,
  truth: TableTruth,
  blocks: readonly Int32Array[],
): Promise<ScoredBlock[]> {
  const scored: ScoredBlock[] = [];
  const yielder = new Yielder();
  for (const block of blocks) {
    await yielder.due();
    const { rows, ...scores } = await scoresOfRows(answers, block);
    const [first, last] = [block[0]!, block.at(-1)!];
    scored.push({
      ...(findSpan(truth, block) ?? { from: truth.rows[first]! + 1, to: truth.rows[last]! + 1 }),
      rows,
      scores,
    });
  }
  return scored;
}

/** From the oldest to the newest time. */
function findSpan({ times }: TableTruth, block: Int32Array): { from: string; to: string } | undefined {
  let [oldest, newest] = [Infinity, -Infinity];
  for (const row of block) {
    const time = times?.values[row] ?? Number.NaN;
    oldest = time < oldest ? time : oldest;
    newest = time > newest ? time : newest;
  }
  const [from, to] = [oldest, newest].map((time) => times && writeTime(times.column, time));
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Of a model whose train set is not known: what is usual in the rows themselves, which flatters no model. */
async function findUsual(target: TableTruth['target']): Promise<UsualTarget> {
  if (target instanceof Float64Array) {
    return usualNumbers(target);
  }
  const counts = new Map<Label, number>();
  for (const label of target) {
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return { kind: 'classes', labels: [...counts.keys()], counts: [...counts.values()] };
}

/** A table whose predictions are to be scored. */
interface EvaluatedTable extends WarnedScoring {
  source: TableSource;
  /** The features as the table is read. */
  columns: readonly Column[];
  missingColumns?: 'error' | 'fill';
  truth: TableTruth;
  /** The predictions of all rows, of whatever kind was asked for. */
  scored: Scored;
}

/**
 * The predictions of the rows to score, with their targets. What the output type lacks is requested once
 * more: probabilities, or the mean and nine quantiles.
 *
 * @throws ServiceError `table.invalid` where the model knows none of the labels; and what the service answers
 */
async function rowAnswers(table: EvaluatedTable): Promise<RowAnswers> {
  const { model, truth, scored } = table;
  const { target } = truth;
  const own = picked(scored.prediction, truth.rows);
  if (target instanceof Float64Array) {
    const mean = meanIn(own, model.outputType);
    const quantiles = levelsIn(own);
    if (mean === undefined || quantiles === undefined) {
      await announce(table, (mean === undefined ? 1 : 0) + (quantiles === undefined ? 1 : 0));
    }
    return {
      task: 'regression',
      actual: target,
      mean: mean ?? meanIn((await ask(table, 'mean')).prediction, 'mean') ?? wrongAnswer(),
      quantiles: quantiles ?? levelsIn((await ask(table, 'quantiles')).prediction) ?? wrongAnswer(),
    };
  }
  if (own.kind !== 'probas') {
    await announce(table, 1);
  }
  const asked = own.kind === 'probas' ? scored : await ask(table, 'probas');
  const probas = own.kind === 'probas' ? own : asked.prediction;
  if (probas.kind !== 'probas') {
    return wrongAnswer();
  }
  const classes = asked.metadata.classes ?? model.classes ?? [];
  assertLabels(target, classes, model);
  const different = [...new Set(target)];
  const codes = codesOfLabels(classes, different);
  const codeOf = new Map(different.map((label, at) => [label, codes[at]!]));
  return {
    task: 'classification',
    classes,
    probas: probas.values,
    codes: Int32Array.from(target, (label) => codeOf.get(label)!),
  };
}

/** Of some rows. */
function picked(prediction: Prediction, rows: Int32Array): Prediction {
  return findKind(prediction).pickRows(prediction, (list) =>
    rows.length === list.length ? [...list] : Array.from(rows, (row) => list[row]!),
  );
}

function meanIn(prediction: Prediction, outputType: OutputType): number[] | undefined {
  return findKind(prediction).means?.(prediction, outputType);
}

/** [level][row] for LEVELS. */
function levelsIn(prediction: Prediction): number[][] | undefined {
  const held = findKind(prediction).quantiles?.(prediction);
  const levels = LEVELS.map((level) => held?.values[held.levels.indexOf(level)]);
  const isWhole = held?.levels.length === held?.values.length;
  return isWhole && levels.every((level) => level !== undefined) ? levels : undefined;
}

/** Predictions of another kind, of the rows to score. */
function ask(
  { context, model, source, columns, missingColumns, truth, options }: EvaluatedTable,
  outputType: OutputType,
): Promise<Scored> {
  const { signal } = options;
  const asked: ResolvedModel = {
    ...model,
    outputType,
    quantiles: outputType === 'quantiles' ? [...LEVELS] : undefined,
  };
  const batches = cutBatches(source.batches(columns, { missingColumns, signal }), truth.rows);
  const own = { ...options, explain: undefined, budget: undefined };
  return scoreInParts({ context, model: asked, options: own }, { columns, batches });
}

/** Some rows of batches. */
async function* cutBatches(
  batches: AsyncIterable<ColumnBatch>,
  rows: Int32Array,
): AsyncGenerator<ColumnBatch> {
  const yielder = new Yielder();
  let first = 0;
  let at = 0;
  for await (const batch of batches) {
    const own: number[] = [];
    for (; at < rows.length && rows[at]! < first + batch.rows; at++) {
      own.push(rows[at]! - first);
    }
    first += batch.rows;
    if (own.length > 0) {
      yield pickRows(batch, own);
    }
    await yielder.due();
  }
}

function announce(table: EvaluatedTable, predicts: number): Promise<void> {
  return announceRows(table, predicts * table.truth.rows.length, 'Scoring predictions against the target');
}

function wrongAnswer(): never {
  throw new ServiceError(
    'response.invalid',
    'The service answered another kind of predictions than was asked for.',
  );
}
