import { LEVELS } from '../../../metrics/regression';
import { type Column, type ColumnBatch, pickRows, readBatches, type TableSource } from '../../../table';
import { Yielder } from '../../../util/event-loop';
import type { Prediction } from '../../../wire/prediction';
import { ServiceError } from '../../../wire/service-error';
import { DEFAULT_QUANTILES, type OutputType } from '../../../wire/types';
import type { Context } from '../../context/context';
import { codesOfLabels } from '../../evaluation/labels';
import type { RowAnswers } from '../../evaluation/score-rows';
import type { ResolvedModel } from '../../models/model-request';
import { announceRows } from '../causes/announce-rows';
import { scoreInParts } from '../test-set/parts';
import type { Scored, ScoreOptions } from '../test-set/test-set';
import { assertLabels, type TableTruth } from './read-truth';

/** A table whose predictions are to be scored. */
export interface EvaluatedTable {
  context: Context;
  model: ResolvedModel;
  source: TableSource;
  /** The features as the table is read. */
  columns: readonly Column[];
  missingColumns?: 'error' | 'fill';
  truth: TableTruth;
  /** The predictions of all rows, of whatever kind was asked for. */
  scored: Scored;
  options: ScoreOptions;
  /** Warns the user, once per key. */
  warn: (key: string, text: string) => void;
}

/**
 * The predictions of the rows to score, with their targets. What the output type lacks is requested once
 * more: probabilities, or the mean and nine quantiles.
 *
 * @throws ServiceError `table.invalid` where the model knows none of the labels; and what the service answers
 */
export async function rowAnswers(table: EvaluatedTable): Promise<RowAnswers> {
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
  const pick = <Item>(list: readonly Item[]): Item[] =>
    rows.length === list.length ? [...list] : Array.from(rows, (row) => list[row]!);
  switch (prediction.kind) {
    case 'labels':
      return prediction;
    case 'probas':
      return { ...prediction, values: pick(prediction.values) };
    case 'numbers':
      return { ...prediction, values: pick(prediction.values) };
    case 'quantiles':
      return { ...prediction, values: prediction.values.map(pick) };
    case 'main':
    case 'full': {
      const { mean, quantiles } = prediction.value;
      const value = { ...prediction.value, mean: pick(mean), quantiles: quantiles.map(pick) };
      return { ...prediction, value } as Prediction;
    }
  }
}

function meanIn(prediction: Prediction, outputType: OutputType): number[] | undefined {
  switch (prediction.kind) {
    case 'numbers':
      return outputType === 'mean' ? prediction.values : undefined;
    case 'main':
    case 'full':
      return prediction.value.mean;
    default:
      return undefined;
  }
}

/** [level][row] for LEVELS. */
function levelsIn(prediction: Prediction): number[][] | undefined {
  const [names, values] =
    prediction.kind === 'quantiles'
      ? [prediction.quantiles, prediction.values]
      : prediction.kind === 'main'
        ? [prediction.quantiles, prediction.value.quantiles]
        : prediction.kind === 'full'
          ? [DEFAULT_QUANTILES, prediction.value.quantiles]
          : [[], []];
  const levels = LEVELS.map((level) => values[names.indexOf(level)]);
  const isWhole = names.length === values.length && levels.every((level) => level !== undefined);
  return isWhole ? levels : undefined;
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
  const batches = batchesOf(readBatches(source, columns, { missingColumns, signal }), truth.rows);
  return scoreInParts(context, asked, columns, batches, {
    ...options,
    explain: undefined,
    budget: undefined,
  });
}

/** Some rows of batches. */
async function* batchesOf(
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
