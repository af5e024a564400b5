import { classCurves, type ModelCurves, numberCurves } from '../../metrics/curves';
import { areNeighboursAlike } from '../../metrics/neighbours';
import { LEVELS, regressionScores } from '../../metrics/regression';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { Label, OutputType } from '../../wire/types';
import type { Context } from '../context/context';
import { predictToEstimate } from '../context/estimate';
import type { ResolvedModel } from '../models/model-request';
import { scoreInParts } from '../predict/parts';
import type { Scored } from '../predict/test-set';
import type { FittedModel, Hooks, ModelScores } from '../types';
import { baselineOf } from './baseline';
import { classificationScores } from './classification-scores';
import type { Holdout, Truth } from './holdout';

/**
 * Says what scoring the rows kept back will cost, before anything is sent. A service that charges nothing, as the
 * embedded one, is silent.
 */
export async function announceCost(
  context: Context,
  model: { columns: readonly unknown[]; options: Record<string, unknown> },
  { rows, kept, truth }: Holdout,
  hooks: Hooks,
): Promise<void> {
  const limits = await context.limits.forChecks(hooks.signal);
  const request = predictToEstimate(limits, model, { train: kept, test: rows });
  // Regression takes two predicts: of the mean and of the quantiles.
  const predicts = truth.task === 'regression' ? 2 : 1;
  try {
    const cost = predicts * (await context.costs.estimate(request, hooks.signal));
    if (cost > 0) {
      hooks.onWarning?.(`Scoring the ${rows} rows kept back is estimated to cost ${cost}.`);
    }
  } catch (thrown) {
    rethrowClosed(thrown, hooks);
    hooks.onWarning?.(
      `What scoring the ${rows} rows kept back will cost could not be found out: ${toServiceError(thrown).message}`,
    );
  }
}

/** How a model did on the rows kept back from its train set. */
export interface HoldoutScores {
  scores: ModelScores;
  curves: ModelCurves;
  /** Errors of rows next to each other are alike. */
  neighboursAlike: boolean;
}

/**
 * Scores a model on the rows kept back from its train set, beside the trivial baseline. A model that is fitted is
 * not lost where that goes wrong: then a warning says why, and the answer is undefined.
 */
export async function scoreHoldout(
  context: Context,
  card: FittedModel,
  holdout: Holdout,
  hooks: Hooks,
): Promise<HoldoutScores | undefined> {
  hooks.onStatus?.({ key: 'predicting' });
  try {
    return await scoresOf(await askHoldout(context, card, holdout, hooks), card, holdout);
  } catch (thrown) {
    rethrowClosed(thrown, hooks);
    const { message } = toServiceError(thrown);
    hooks.onWarning?.(`The model is fitted, but the rows kept back could not be scored: ${message}`);
    return undefined;
  }
}

/** What a model says of the rows kept back: probabilities, or means and the quantiles of LEVELS. */
export type HoldoutAnswers =
  { task: 'classification'; probas: Scored } | { task: 'regression'; mean: Scored; quantiles: Scored };

export async function askHoldout(
  context: Context,
  card: FittedModel,
  holdout: Holdout,
  hooks: Hooks,
): Promise<HoldoutAnswers> {
  const ask = (outputType: OutputType): Promise<Scored> => askRows(context, card, holdout, outputType, hooks);
  return holdout.truth.task === 'classification'
    ? { task: 'classification', probas: await ask('probas') }
    : { task: 'regression', mean: await ask('mean'), quantiles: await ask('quantiles') };
}

/** Predictions of the rows kept back, of one kind; quantiles are those of LEVELS. */
export function askRows(
  context: Context,
  card: FittedModel,
  holdout: Holdout,
  outputType: OutputType,
  hooks: Hooks,
): Promise<Scored> {
  const signal = hooks.signal ?? new AbortController().signal;
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
    relativeTo: card.relative_to,
  };
  return scoreInParts(context, model, card.columns, holdout.batches(), { signal });
}

export function scoresOf(
  answers: HoldoutAnswers,
  card: Pick<FittedModel, 'classes'>,
  { truth, numbers }: Holdout,
): Promise<HoldoutScores> {
  if (answers.task === 'classification' && truth.task === 'classification') {
    return labelScores(answers.probas, truth, card.classes, numbers);
  }
  if (answers.task === 'regression' && truth.task === 'regression') {
    return numberScores(answers.mean, answers.quantiles, truth, numbers);
  }
  throw wrongKind(answers.task);
}

/** The probability that a model gives the true class of each row; 0 for a class that it does not know. */
export function chancesOf(
  { prediction, metadata }: Scored,
  truth: Extract<Truth, { task: 'classification' }>,
  cardClasses: readonly Label[] | undefined,
): Float64Array {
  if (prediction.kind !== 'probas') {
    throw wrongKind(prediction.kind);
  }
  const codeOf = codesOfClasses(metadata.classes ?? cardClasses ?? [], truth);
  return Float64Array.from(truth.held, (code, row) => prediction.values[row]![codeOf[code]!] ?? 0);
}

/** @returns [level][row] for LEVELS */
export function quantilesIn({ prediction }: Scored): number[][] {
  if (prediction.kind !== 'quantiles') {
    throw wrongKind(prediction.kind);
  }
  return prediction.values;
}

/** Each class of the truth as an index of a model's classes; −1 for one that it does not know. */
function codesOfClasses(
  classes: readonly Label[],
  truth: Extract<Truth, { task: 'classification' }>,
): number[] {
  const at = new Map(classes.map((label, index) => [comparable(label), index]));
  return truth.classes.map((label) => at.get(comparable(label)) ?? -1);
}

async function labelScores(
  { prediction, metadata }: Scored,
  truth: Extract<Truth, { task: 'classification' }>,
  cardClasses: readonly Label[] | undefined,
  rowNumbers: Int32Array,
): Promise<HoldoutScores> {
  if (prediction.kind !== 'probas') {
    throw wrongKind(prediction.kind);
  }
  const classes = metadata.classes ?? cardClasses ?? [];
  const codeOf = codesOfClasses(classes, truth);
  const codes = truth.held.map((code) => codeOf[code]!);
  const kept = truth.keptCounts.reduce((sum, count) => sum + count, 0);
  const frequencies = classes.map(() => 0);
  truth.keptCounts.forEach((count, code) => {
    if (codeOf[code]! >= 0) {
      frequencies[codeOf[code]!] = count / kept;
    }
  });
  const always = codes.map(() => frequencies);
  const { values } = prediction;
  return {
    scores: {
      from: 'holdout',
      ...(await classificationScores(values, codes, classes.length)),
      baseline: await classificationScores(always, codes, classes.length),
    },
    curves: classCurves({ labels: classes, codes, probability: (row, of) => values[row]![of] ?? 0 }),
    neighboursAlike: areNeighboursAlike({
      rows: rowNumbers,
      target: codes,
      width: classes.length,
      error: (i, k) => (codes[i] === k ? 1 : 0) - (values[i]![k] ?? 0),
    }),
  };
}

async function numberScores(
  mean: Scored,
  quantiles: Scored,
  truth: Extract<Truth, { task: 'regression' }>,
  rowNumbers: Int32Array,
): Promise<HoldoutScores> {
  if (mean.prediction.kind !== 'numbers' || quantiles.prediction.kind !== 'quantiles') {
    throw wrongKind(`${mean.prediction.kind} and ${quantiles.prediction.kind}`);
  }
  const { held, kept } = truth;
  const { values } = mean.prediction;
  return {
    scores: {
      from: 'holdout',
      ...regressionScores(values, quantiles.prediction.values, held),
      baseline: await baselineOf(kept, held),
    },
    curves: numberCurves(held, values),
    neighboursAlike: areNeighboursAlike({
      rows: rowNumbers,
      target: held,
      width: 1,
      error: (i) => held[i]! - values[i]!,
    }),
  };
}

/** Labels of a service may come back as text: `True` for true, `1` for 1. */
function comparable(label: Label): string {
  const text = String(label);
  return /^(true|false)$/i.test(text) ? text.toLowerCase() : text;
}

function rethrowClosed(thrown: unknown, { signal }: Hooks): void {
  if (signal?.aborted === true) {
    throw thrown;
  }
}

function wrongKind(kind: string): ServiceError {
  return new ServiceError('response.invalid', `The service answered ${kind}, which was not asked for.`);
}
