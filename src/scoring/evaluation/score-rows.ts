import { comparableLabel } from '../../metrics/answer-costs';
import { classCurves, type ModelCurves, numberCurves } from '../../metrics/curves';
import { LEVELS, quantileOf, regressionScores } from '../../metrics/regression';
import { rocAuc } from '../../metrics/roc-auc';
import type { Scores } from '../../metrics/scores';
import type { Label, TableSample } from '../../table';
import { sortedCopy } from '../../util/collections';
import { Yielder } from '../../util/concurrency';
import { ServiceError } from '../../wire/service-error';
import type { Task } from '../../wire/types';
import type { UsualClasses, UsualNumbers, UsualTarget } from '../reference/types';

/** Each label as an index of a model's classes; −1 for one that it does not know. */
export function codesOfLabels(classes: readonly Label[], labels: readonly Label[]): number[] {
  const at = new Map(classes.map((label, index) => [comparableLabel(label), index]));
  return labels.map((label) => at.get(comparableLabel(label)) ?? -1);
}

/** A probability counts as so much at least, so that its loss is finite. */
export const MIN_PROBABILITY = 1e-15;

/**
 * @param probas [row][class]
 * @param codes the true class of each row; −1 for one that the model does not know, which counts as wrong
 */
export async function classificationScores(
  probas: readonly (readonly number[])[],
  codes: ArrayLike<number>,
  classes: number,
): Promise<Scores> {
  const rows = probas.length;
  const scores: Scores = { rows };
  if (rows === 0) {
    return scores;
  }
  let right = 0;
  let loss = 0;
  probas.forEach((row, i) => {
    const code = codes[i]!;
    const most = row.reduce((best, p, k) => (p > row[best]! ? k : best), 0);
    right += most === code ? 1 : 0;
    loss -= Math.log(Math.max(row[code] ?? 0, MIN_PROBABILITY));
  });
  scores.accuracy = right / rows;
  // Probabilities that add up to a little more than 1 are no better than certain.
  scores.log_loss = Math.max(0, loss / rows);
  const yielder = new Yielder();
  let sum = 0;
  let count = 0;
  for (let k = classes === 2 ? 1 : 0; k < classes; k++) {
    await yielder.due();
    const area = rocAuc(
      Float64Array.from(probas, (row) => row[k] ?? 0),
      codes,
      k,
    );
    if (area !== undefined) {
      sum += area;
      count++;
    }
  }
  if (count > 0) {
    scores.roc_auc = sum / count;
  }
  return scores;
}

/** The mean and the quantiles of a target. @param values none of them NaN, at least one */
export async function usualNumbers(values: Float64Array): Promise<UsualNumbers> {
  const sorted = await sortedCopy(values);
  return {
    kind: 'numbers',
    mean: values.reduce((sum, value) => sum + value / values.length, 0),
    quantiles: LEVELS.map((level) => quantileOf(sorted, level)),
  };
}

/**
 * The same of a sample of a target: counts of text are of all rows, those of numbers and their quantiles of at most
 * 10,000. Undefined where it has more classes than are counted.
 */
export async function usualOfSample(
  target: TableSample['columns'][number],
  task: Task,
): Promise<UsualTarget | undefined> {
  if (target.kind === 'category') {
    const { categories: labels, counts, complete } = target;
    return task === 'classification' && complete ? { kind: 'classes', labels, counts } : undefined;
  }
  const values = target.values.filter((value) => Number.isFinite(value));
  if (values.length === 0) {
    return undefined;
  }
  if (task === 'regression') {
    return usualNumbers(values);
  }
  const counts = new Map<Label, number>();
  // Whole numbers beyond 2^53 are labels with all of their digits, which only the cells have.
  const isLong = target.cells.some((cell) => typeof cell === 'string');
  for (const label of isLong ? target.cells : values) {
    if (label !== null) {
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
  }
  return { kind: 'classes', labels: [...counts.keys()], counts: [...counts.values()] };
}

/** The scores of always predicting the mean and the quantiles of the rows that were fitted. */
export function numberBaseline({ mean, quantiles }: UsualNumbers, truth: ArrayLike<number>): Scores {
  const constant = (value: number): Float64Array => new Float64Array(truth.length).fill(value);
  return regressionScores(constant(mean), quantiles.map(constant), truth);
}

/**
 * The scores of always predicting how frequent each class was.
 *
 * @param classes those of the model
 * @param codes the true class of each row as an index of them; −1 for one that the model does not know
 */
function labelBaseline(
  { labels, counts }: UsualClasses,
  classes: readonly Label[],
  codes: ArrayLike<number>,
): Promise<Scores> {
  const rows = counts.reduce((sum, count) => sum + count, 0);
  const codeOf = codesOfLabels(classes, labels);
  const frequencies = classes.map(() => 0);
  counts.forEach((count, at) => {
    if (codeOf[at]! >= 0) {
      frequencies[codeOf[at]!] = count / rows;
    }
  });
  const always = Array.from(codes, () => frequencies);
  return classificationScores(always, codes, classes.length);
}

/** Predictions of some rows with their true values. */
export type RowAnswers = LabelAnswers | NumberAnswers;

interface LabelAnswers {
  task: 'classification';
  /** Those of the model, in the order of the probabilities. */
  classes: readonly Label[];
  /** [row][class] */
  probas: readonly (readonly number[])[];
  /** The true class of each row as an index of `classes`; −1 for one that the model does not know. */
  codes: ArrayLike<number>;
}

interface NumberAnswers {
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
