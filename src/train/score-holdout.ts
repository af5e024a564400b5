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
import { assertKind } from '../wire/prediction';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { Label, OutputType } from '../wire/vocabulary';
import type { Holdout, Truth } from './holdout';
import { HELD, KEPT, type RowFacts } from './holdout-plan';

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
    return await scoresOf(await askHoldout(work, card, holdout), card, holdout);
  } catch (thrown) {
    rethrowClosed(thrown, work);
    const { message } = toServiceError(thrown);
    work.onWarning?.(`The model is fitted, but the rows kept back could not be scored: ${message}`);
    return undefined;
  }
}

/** What a model says of the rows kept back: probabilities, or means and the quantiles of LEVELS. */
type HoldoutAnswers =
  { task: 'classification'; probas: Scored } | { task: 'regression'; mean: Scored; quantiles: Scored };

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
  return scoreInParts(work, model, { columns: card.columns, batches: holdout.batches() }, { signal });
}

async function scoresOf(
  answers: HoldoutAnswers,
  card: Pick<FittedModel, 'classes'>,
  { truth, numbers: rows }: Holdout,
): Promise<HoldoutScores> {
  const own = rowAnswers(answers, card.classes, truth);
  const { scores, baseline, curves } = await scoreRows(own, await usualTarget(truth));
  const thresholds = thresholdsOf(own);
  const neighboursAlike = areNeighboursAlike({ rows, ...errorsIn(own) });
  const together = neighboursAlike ? inBlocks(rows.map((_, row) => row)) : undefined;
  return {
    scores: { from: 'holdout', ...scores, ...rangeOf(own, together), baseline },
    curves,
    ...(thresholds !== undefined && { thresholds }),
    neighboursAlike,
  };
}

function rangeOf(answers: RowAnswers, together: Int32Array | undefined): LossRange {
  if (answers.task === 'regression') {
    const { actual, mean } = answers;
    return rmseRange(
      Float64Array.from(actual, (truth, row) => truth - mean[row]!),
      together,
    );
  }
  const { codes, probas, classes } = answers;
  const losses = probas.map((row, i) => -Math.log(Math.max(row[codes[i]!] ?? 0, MIN_PROBABILITY)));
  return logLossRange(losses, codes, classes.length, (share) => -Math.log(share), together);
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
function thresholdsOf(answers: RowAnswers): ModelThresholds | undefined {
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
export function chancesOf(
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
