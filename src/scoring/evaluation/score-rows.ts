import { classCurves, type ModelCurves, numberCurves } from '../../metrics/curves';
import { regressionScores } from '../../metrics/regression';
import type { Scores } from '../../metrics/scores';
import type { Label } from '../../table';
import { Yielder } from '../../util/event-loop';
import { ServiceError } from '../../wire/service-error';
import type { UsualTarget } from '../reference/types';
import { labelBaseline, numberBaseline } from './baseline';
import { classificationScores } from './classification-scores';

/** Predictions of some rows with their true values. */
export type RowAnswers = LabelAnswers | NumberAnswers;

export interface LabelAnswers {
  task: 'classification';
  /** Those of the model, in the order of the probabilities. */
  classes: readonly Label[];
  /** [row][class] */
  probas: readonly (readonly number[])[];
  /** The true class of each row as an index of `classes`; −1 for one that the model does not know. */
  codes: ArrayLike<number>;
}

export interface NumberAnswers {
  task: 'regression';
  /** Of each row. */
  mean: readonly number[];
  /** [level][row] for LEVELS of src/metrics. */
  quantiles: readonly (readonly number[])[];
  actual: ArrayLike<number>;
}

/** How good predictions are, compared with a baseline that needs no model. */
export interface RowScores {
  scores: Scores;
  baseline: Scores;
  curves: ModelCurves;
}

/**
 * Scores predictions of rows that a model was not fitted on: those that a fit kept back, and those of an evaluation.
 *
 * @param usual the target in the train set
 */
export async function scoreRows(answers: RowAnswers, usual: UsualTarget): Promise<RowScores> {
  const scores = await scoresOfRows(answers);
  const yielder = new Yielder();
  await yielder.due();
  if (answers.task === 'classification' && usual.kind === 'classes') {
    const { classes: labels, probas, codes } = answers;
    const baseline = await labelBaseline(usual, labels, codes);
    await yielder.due();
    return {
      scores,
      baseline,
      curves: classCurves({ labels, codes, probability: (row, of) => probas[row]![of] ?? 0 }),
    };
  }
  if (answers.task === 'regression' && usual.kind === 'numbers') {
    const { mean, actual } = answers;
    const baseline = numberBaseline(usual, actual);
    await yielder.due();
    return { scores, baseline, curves: numberCurves(actual, mean) };
  }
  throw new ServiceError('internal', `A ${answers.task} is compared with a target of ${usual.kind}.`);
}

/** The scores alone; with `rows` of these rows only. */
export async function scoresOfRows(answers: RowAnswers, rows?: Int32Array): Promise<Scores> {
  if (answers.task === 'classification') {
    const { probas, codes, classes } = answers;
    return rows === undefined
      ? classificationScores(probas, codes, classes.length)
      : classificationScores(
          [...rows].map((row) => probas[row]!),
          valuesOf(codes, rows),
          classes.length,
        );
  }
  const { mean, quantiles, actual } = answers;
  return rows === undefined
    ? regressionScores(mean, quantiles, actual)
    : regressionScores(
        valuesOf(mean, rows),
        quantiles.map((values) => valuesOf(values, rows)),
        valuesOf(actual, rows),
      );
}

/** A loop: `from` with a function takes ten times as long. */
function valuesOf(values: ArrayLike<number>, rows: Int32Array): Float64Array {
  const picked = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    picked[at] = values[rows[at]!]!;
  }
  return picked;
}
