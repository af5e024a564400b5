import type { ModelCurves } from '../metrics/curves';
import { inBlocks, logLossRange, type LossRange, rmseRange } from '../metrics/loss-range';
import { areNeighboursAlike, type ScoredRows } from '../metrics/neighbours';
import { LEVELS, regressionScores } from '../metrics/regression';
import type { Scores } from '../metrics/scores';
import { findThresholds } from '../metrics/thresholds';
import type { FittedModel, ModelScores, ModelThresholds, UsualNumbers, UsualTarget } from '../models/cards';
import {
  codesOfLabels,
  MIN_PROBABILITY,
  numberBaseline,
  type RowAnswers,
  scoreRows,
  usualNumbers,
} from '../models/evaluation';
import { predictToEstimate } from '../models/limits';
import type { ResolvedModel } from '../models/model-request';
import type { Work } from '../models/service';
import { changeFrom } from '../models/threshold';
import type { Hooks } from '../models/types';
import { scoreInParts } from '../predict/parts';
import type { Scored } from '../predict/test-set';
import type { Column, FileFormat } from '../table/cells/types';
import { batchBytes, type ColumnBatch, numberAt, pickRows, sliceBatch } from '../table/columns/column-batch';
import type { SampleChoice } from '../table/columns/table-sample';
import { encodeTrainColumns, type TrainSetFiles } from '../table/encoder/encode';
import type { TableSource } from '../table/open';
import { Yielder } from '../util/concurrency';
import { assertKind } from '../wire/prediction';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { Label, OutputType } from '../wire/vocabulary';
import { HELD, KEPT, type RowFacts } from './holdout-plan';

/** Held-out rows stay in memory up to this many bytes; beyond them the table is read again. */
const HELD_BYTES = 32 * 1024 * 1024;

/** Rows of a train set that the fit does not see. */
export interface Holdout {
  /** Rows kept back, and rows left for the fit. */
  rows: number;
  kept: number;
  /** The features of the rows kept back. */
  batches: () => AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>;
  /** The target of the rows kept back and of those left, in the order of the table. */
  truth: Truth;
  /** Their numbers in the table, from 0. */
  numbers: Int32Array;
}

/** Classification: codes that index `classes`. Regression: numbers. */
type Truth =
  | { task: 'classification'; classes: Label[]; held: number[]; keptCounts: number[] }
  | { task: 'regression'; held: number[]; kept: Float64Array };

interface SplitOptions {
  format?: FileFormat;
  compress: boolean;
  /** What to take of the rows that go into the files. */
  sample?: SampleChoice;
  signal?: AbortSignal;
  /** Called with the number of rows written so far. */
  onProgress?: (rows: number) => void;
}

/** What goes into the files of a train set, where it is not the table as it is. */
export interface RowPlan {
  /** What becomes of each row. */
  plan: Uint8Array;
  /** Rows that go into the files. */
  kept: number;
  /** The column that the target is learned relative to. */
  relativeTo?: string;
  /** Left out where no row is held out. */
  holdout?: Holdout;
}

interface HeldColumns {
  columns: readonly Column[];
  target: string;
  features: readonly Column[];
}

/** The rows kept back by a plan, and the truth of them. */
export async function readHoldout(
  source: TableSource,
  columns: HeldColumns,
  { facts, plan }: { facts: RowFacts; plan: Uint8Array },
  signal: AbortSignal | undefined,
): Promise<Holdout> {
  const { truth, rows, heldRows: numbers } = await readTruth(facts, plan);
  const batches = (): AsyncIterable<ColumnBatch> => heldRows(source, columns, plan, signal);
  return { rows, kept: countRows(plan, KEPT), batches, truth, numbers };
}

/**
 * The train set by a plan of its rows, as its two files, in one pass. The rows kept back are gathered in the same
 * pass, where there is room for them: `holdout.batches` then reads nothing.
 */
export async function encodePlanned(
  source: TableSource,
  { columns, target, features }: HeldColumns,
  { plan, holdout, relativeTo }: RowPlan,
  { sample, signal, ...written }: SplitOptions,
): Promise<TrainSetFiles> {
  const held: ColumnBatch[] = [];
  let bytes = 0;
  const keep = (batch: ColumnBatch): void => {
    bytes += batchBytes(batch);
    if (bytes <= HELD_BYTES) {
      held.push(batch);
    }
  };
  const indexOf = (name: string): number => columns.findIndex((column) => column.name === name);
  const own = features.map(({ name }) => indexOf(name));
  const [targetAt, relativeAt] = [indexOf(target), relativeTo === undefined ? -1 : indexOf(relativeTo)];
  const kept = async function* (): AsyncGenerator<ColumnBatch> {
    for await (const [batch, first] of numbered(source.batches(columns, { signal }))) {
      const back = holdout === undefined ? [] : rowsWhere(batch, plan, first, HELD);
      if (back.length > 0 && bytes <= HELD_BYTES) {
        keep(pickRows({ rows: batch.rows, columns: own.map((index) => batch.columns[index]!) }, back));
      }
      const others = rowsWhere(batch, plan, first, KEPT);
      if (others.length > 0) {
        const picked = others.length === batch.rows ? batch : pickRows(batch, others);
        const changed = relativeAt < 0 ? picked : withChange(picked, targetAt, relativeAt);
        yield { ...changed, cleaned: batch.cleaned };
      }
    }
  };
  const stored = columns.map((column): Column =>
    relativeTo !== undefined && column.name === target ? { name: target, type: 'number' } : column,
  );
  const files = await encodeTrainColumns(stored, kept(), { target, sample, signal, ...written });
  if (holdout !== undefined && bytes <= HELD_BYTES) {
    holdout.batches = () => copyBatches(held);
  }
  return files;
}

/** The batch with the change from one column to another in place of the other. */
function withChange(batch: ColumnBatch, targetAt: number, relativeAt: number): ColumnBatch {
  const [target, relative] = [batch.columns[targetAt]!, batch.columns[relativeAt]!];
  const values = Float64Array.from(
    { length: batch.rows },
    (_, row) => numberAt(target, row) - numberAt(relative, row),
  );
  return {
    rows: batch.rows,
    columns: batch.columns.map((column, at) => (at === targetAt ? { type: 'number', values } : column)),
  };
}

function countRows(plan: Uint8Array, what: number): number {
  return plan.reduce((count, one) => count + (one === what ? 1 : 0), 0);
}

async function readTruth(
  { task, codes, values, classes, counts }: RowFacts,
  plan: Uint8Array,
): Promise<{ truth: Truth; rows: number; heldRows: Int32Array }> {
  const yielder = new Yielder();
  const held: number[] = [];
  const numbers: number[] = [];
  const keptCounts = counts.map(() => 0);
  const kept = new Float64Array(values.length);
  let left = 0;
  for (let row = 0; row < plan.length; row++) {
    if (plan[row] === HELD) {
      numbers.push(row);
      held.push(task === 'regression' ? values[row]! : codes[row]!);
    } else if (plan[row] === KEPT) {
      keptCounts[codes[row]!]!++;
      kept[left++] = values[row]!;
    }
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  const truth: Truth =
    task === 'regression'
      ? { task, held, kept: kept.subarray(0, left) }
      : { task, classes, held, keptCounts };
  return { truth, rows: held.length, heldRows: Int32Array.from(numbers) };
}

async function* heldRows(
  source: TableSource,
  { columns, target, features }: HeldColumns,
  plan: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<ColumnBatch> {
  // The target is read too: a plan numbers the rows that have one.
  const read = [...features, ...columns.filter(({ name }) => name === target)];
  for await (const [batch, first] of numbered(source.batches(read, { signal }))) {
    const rows = rowsWhere(batch, plan, first, HELD);
    if (rows.length > 0) {
      yield pickRows({ rows: batch.rows, columns: batch.columns.slice(0, features.length) }, rows);
    }
  }
}

/** Batches with the number of their first row. */
async function* numbered(batches: AsyncIterable<ColumnBatch>): AsyncGenerator<[ColumnBatch, number]> {
  let first = 0;
  for await (const batch of batches) {
    yield [batch, first];
    first += batch.rows;
  }
}

/** Rows of a batch that a plan says this of. */
function rowsWhere({ rows }: ColumnBatch, plan: Uint8Array, first: number, wanted: number): number[] {
  const found: number[] = [];
  for (let i = 0; i < rows; i++) {
    if (plan[first + i] === wanted) {
      found.push(i);
    }
  }
  return found;
}

/** Copies: a batch that is encoded is handed over, and these are scored more than once. */
function* copyBatches(batches: readonly ColumnBatch[]): Generator<ColumnBatch> {
  for (const batch of batches) {
    yield sliceBatch(batch, 0, batch.rows);
  }
}

/** What predicting no change would score. */
export interface NowScores {
  /** Over the rows that are fitted, and over those kept back. */
  kept: Scores;
  held: Scores;
  /** Regression: the target of the rows that are fitted, and always predicting its mean and quantiles. */
  usual?: UsualNumbers;
  baseline?: Scores;
  /** Regression: the variance of the target over the rows that are fitted. */
  variance?: number;
}

/** Undefined where the table does not say what the target is now. */
export async function nowScores(
  facts: RowFacts,
  plan: Uint8Array = new Uint8Array(facts.rows),
): Promise<NowScores | undefined> {
  const { relative, sameAsNow, values } = facts;
  if (sameAsNow !== undefined) {
    const accuracy = (what: number): Scores => {
      const same = sameAsNow.filter((_, row) => plan[row] === what);
      const rows = same.length;
      return { rows, ...(rows > 0 && { accuracy: same.reduce((sum, one) => sum + one, 0) / rows }) };
    };
    return { kept: accuracy(KEPT), held: accuracy(HELD) };
  }
  if (relative === undefined) {
    return undefined;
  }
  const pick = (all: Float64Array, what: number): Float64Array => all.filter((_, row) => plan[row] === what);
  const level = pick(values, KEPT);
  const usual = await usualNumbers(level);
  return {
    kept: regressionScores(pick(relative, KEPT), [], level),
    held: regressionScores(pick(relative, HELD), [], pick(values, HELD)),
    usual,
    baseline: numberBaseline(usual, level),
    variance: level.reduce((sum, value) => sum + (value - usual.mean) ** 2 / level.length, 0),
  };
}

/**
 * Says what scoring the rows kept back will cost, before anything is sent.
 */
export async function announceCost(
  work: Work,
  model: { columns: readonly unknown[]; options: Record<string, unknown> },
  { rows, kept, truth }: Holdout,
): Promise<void> {
  if (!work.service.isMetered) {
    return;
  }
  const limits = await work.service.limits.forChecks(work.signal);
  const request = predictToEstimate(limits, model, { train: kept, test: rows });
  // Regression takes two predicts: of the mean and of the quantiles.
  const predicts = truth.task === 'regression' ? 2 : 1;
  try {
    const cost = predicts * (await work.service.costs.estimate(request, work.signal));
    if (cost > 0) {
      work.onWarning?.(`Scoring the ${rows} rows kept back is estimated to cost ${cost}.`);
    }
  } catch (thrown) {
    rethrowClosed(thrown, work);
    work.onWarning?.(
      `What scoring the ${rows} rows kept back will cost could not be found out: ${toServiceError(thrown).message}`,
    );
  }
}

/** How a model did on the rows kept back from its train set. */
interface HoldoutScores {
  scores: ModelScores;
  curves: ModelCurves;
  /** Of two classes, where both occur. */
  thresholds?: ModelThresholds;
  /** Errors of rows next to each other are alike. */
  neighboursAlike: boolean;
}

/**
 * Scores a model and the trivial baseline on the rows held out from its train set. A model that is fitted is
 * not lost where that goes wrong: then a warning says why, and the answer is undefined.
 */
export async function scoreHoldout(
  work: Work,
  card: FittedModel,
  holdout: Holdout,
): Promise<HoldoutScores | undefined> {
  work.onStatus?.({ key: 'predicting' });
  try {
    return await computeScores(await askHoldout(work, card, holdout), card, holdout);
  } catch (thrown) {
    rethrowClosed(thrown, work);
    const { message } = toServiceError(thrown);
    work.onWarning?.(`The model is fitted, but the rows kept back could not be scored: ${message}`);
    return undefined;
  }
}

/** What a model says of the rows kept back: probabilities, or means and the quantiles of LEVELS. */
type HoldoutAnswers =
  | { task: 'classification'; probas: Scored }
  | { task: 'regression'; mean: Scored; quantiles: Scored };

async function askHoldout(work: Work, card: FittedModel, holdout: Holdout): Promise<HoldoutAnswers> {
  const ask = (outputType: OutputType): Promise<Scored> => askRows(work, card, holdout, outputType);
  return holdout.truth.task === 'classification'
    ? { task: 'classification', probas: await ask('probas') }
    : { task: 'regression', mean: await ask('mean'), quantiles: await ask('quantiles') };
}

/** Predictions of the rows kept back, of one kind; quantiles are those of LEVELS. */
export function askRows(
  work: Work,
  card: FittedModel,
  holdout: Holdout,
  outputType: OutputType,
): Promise<Scored> {
  const signal = work.signal ?? new AbortController().signal;
  const model: ResolvedModel = {
    fittedId: card.fitted_train_set_id,
    name: card.name,
    task: card.task,
    outputType,
    quantiles: outputType === 'quantiles' ? [...LEVELS] : undefined,
    columns: card.columns,
    classes: card.classes,
    trainRows: card.rows,
    options: card.options,
    relativeTo: changeFrom(card),
  };
  return scoreInParts(
    { context: work, model, options: { signal } },
    { columns: card.columns, batches: holdout.batches() },
  );
}

async function computeScores(
  answers: HoldoutAnswers,
  card: Pick<FittedModel, 'classes'>,
  { truth, numbers: rows }: Holdout,
): Promise<HoldoutScores> {
  const own = rowAnswers(answers, card.classes, truth);
  const { scores, baseline, curves } = await scoreRows(own, await usualTarget(truth));
  const thresholds = chooseThresholds(own);
  const neighboursAlike = areNeighboursAlike({ rows, ...errorsIn(own) });
  const together = neighboursAlike ? inBlocks(rows.map((_, row) => row)) : undefined;
  return {
    scores: { from: 'holdout', ...scores, ...computeRange(own, together), baseline },
    curves,
    ...(thresholds !== undefined && { thresholds }),
    neighboursAlike,
  };
}

function computeRange(answers: RowAnswers, together: Int32Array | undefined): LossRange {
  if (answers.task === 'regression') {
    const { actual, mean } = answers;
    return rmseRange(
      Float64Array.from(actual, (truth, row) => truth - mean[row]!),
      together,
    );
  }
  const { codes, probas } = answers;
  const losses = probas.map((row, i) => -Math.log(Math.max(row[codes[i]!] ?? 0, MIN_PROBABILITY)));
  return logLossRange(losses, codes, (share) => -Math.log(share), together);
}

function rowAnswers(
  answers: HoldoutAnswers,
  cardClasses: readonly Label[] | undefined,
  truth: Truth,
): RowAnswers {
  if (answers.task === 'classification' && truth.task === 'classification') {
    const { prediction, metadata } = answers.probas;
    const classes = metadata.classes ?? cardClasses ?? [];
    const codeOf = codesOfLabels(classes, truth.classes);
    return {
      task: 'classification',
      classes,
      probas: assertKind(prediction, 'probas').values,
      codes: truth.held.map((code) => codeOf[code]!),
    };
  }
  if (answers.task === 'regression' && truth.task === 'regression') {
    return {
      task: 'regression',
      mean: assertKind(answers.mean.prediction, 'numbers').values,
      quantiles: quantilesIn(answers.quantiles),
      actual: truth.held,
    };
  }
  throw new ServiceError('internal', `Rows of a ${truth.task} were asked for as of a ${answers.task}.`);
}

/** The target of the rows that are fitted. */
async function usualTarget(truth: Truth): Promise<UsualTarget> {
  return truth.task === 'regression'
    ? usualNumbers(truth.kept)
    : { kind: 'classes', labels: truth.classes, counts: truth.keptCounts };
}

/** The best thresholds of two classes, by the rows of classes that the model knows. */
function chooseThresholds(answers: RowAnswers): ModelThresholds | undefined {
  if (answers.task !== 'classification' || answers.classes.length !== 2) {
    return undefined;
  }
  const { probas, classes } = answers;
  const known = Array.from(answers.codes, (code, row) => ({ code, row })).filter(({ code }) => code >= 0);
  const both = known.flatMap(({ row }) => [probas[row]![0] ?? 0, probas[row]![1] ?? 0]);
  const codes = Int32Array.from(known, ({ code }) => code);
  return findThresholds(Float64Array.from(both), codes, classes, undefined);
}

function errorsIn(answers: RowAnswers): Omit<ScoredRows, 'rows'> {
  if (answers.task === 'regression') {
    const { actual, mean } = answers;
    return { target: actual, width: 1, error: (i) => actual[i]! - mean[i]! };
  }
  const { codes, probas, classes } = answers;
  return {
    target: codes,
    width: classes.length,
    error: (i, k) => (codes[i] === k ? 1 : 0) - (probas[i]![k] ?? 0),
  };
}

/** The probability that a model gives the true class of each row; 0 for a class that it does not know. */
export function readChances(
  { prediction, metadata }: Scored,
  truth: Extract<Truth, { task: 'classification' }>,
  cardClasses: readonly Label[] | undefined,
): Float64Array {
  const { values } = assertKind(prediction, 'probas');
  const codeOf = codesOfLabels(metadata.classes ?? cardClasses ?? [], truth.classes);
  return Float64Array.from(truth.held, (code, row) => values[row]![codeOf[code]!] ?? 0);
}

/** @returns [level][row] for LEVELS */
export function quantilesIn({ prediction }: Scored): number[][] {
  return assertKind(prediction, 'quantiles').values;
}

function rethrowClosed(thrown: unknown, { signal }: Hooks): void {
  if (signal?.aborted === true) {
    throw thrown;
  }
}
