import { regressionScores } from '../../../metrics/regression';
import type { Scores } from '../../../metrics/scores';
import type { Label } from '../../../table';
import { Yielder } from '../../../util/event-loop';
import { toServiceError } from '../../../wire/service-error';
import { groupBlocks, rowBlocks, standardErrors } from '../../evaluation/blocks';
import { type RowAnswers, scoreRows, scoresOfRows } from '../../evaluation/score-rows';
import { daysOf, isoOf, Steps } from '../../evaluation/time-column';
import { usualNumbers } from '../../evaluation/usual-target';
import type { UsualTarget } from '../../reference/types';
import type { Evaluation, ModelCurves, ScoredBlock } from '../../types';
import type { TableTruth } from './read-truth';
import { type EvaluatedTable, rowAnswers } from './row-answers';

/**
 * Scores the predictions of a table against its target. Where the service does not answer what that takes, it costs the
 * evaluation and never the predictions: a warning says why, and the answer is undefined.
 *
 * @throws ServiceError `closed`; `table.invalid` where the model knows none of the labels
 */
export async function evaluate(table: EvaluatedTable): Promise<Evaluation | undefined> {
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
  return { ...facts, ...(await scoresOf(table, answers)) };
}

type EvaluatedScores = Pick<
  Evaluation,
  'scores' | 'baseline' | 'baseline_from' | 'baseline_now' | 'standard_error' | 'curves' | 'blocks'
>;

async function scoresOf(table: EvaluatedTable, answers: RowAnswers): Promise<EvaluatedScores> {
  const { context, model, truth } = table;
  const kept = (await context.cards.reference(model.fittedId))?.target;
  const isKept = kept?.kind === (answers.task === 'classification' ? 'classes' : 'numbers');
  const usual = isKept ? kept : await usualOf(truth.target);
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
  const days = daysOf(times.column, steps);
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
      ...(spanOf(truth, block) ?? { from: truth.rows[first]! + 1, to: truth.rows[last]! + 1 }),
      rows,
      scores,
    });
  }
  return scored;
}

/** From the oldest to the newest time. */
function spanOf({ times }: TableTruth, block: Int32Array): { from: string; to: string } | undefined {
  let [oldest, newest] = [Infinity, -Infinity];
  for (const row of block) {
    const time = times?.values[row] ?? Number.NaN;
    oldest = time < oldest ? time : oldest;
    newest = time > newest ? time : newest;
  }
  const [from, to] = [oldest, newest].map((time) => times && isoOf(times.column, time));
  return from === undefined || to === undefined ? undefined : { from, to };
}

/** Of a model whose train set is not known: what is usual in the rows themselves, which flatters no model. */
async function usualOf(target: TableTruth['target']): Promise<UsualTarget> {
  if (target instanceof Float64Array) {
    return usualNumbers(target);
  }
  const counts = new Map<Label, number>();
  for (const label of target) {
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return { kind: 'classes', labels: [...counts.keys()], counts: [...counts.values()] };
}
