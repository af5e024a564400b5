import { comparableLabel } from '../metrics/answer-costs';
import type { Reference } from '../models/cards';
import { predictToEstimate } from '../models/limits';
import type { ResolvedModel } from '../models/model-request';
import { referenceBatch } from '../models/reference-files';
import type { PredictRequest, PredictSettings } from '../models/types';
import type { Column, Label } from '../table/cells/types';
import { type ColumnBatch, joinBatches, mixRows, pickRows } from '../table/columns/column-batch';
import { seededRandom } from '../util/random';
import { assertKind } from '../wire/prediction';
import { toServiceError } from '../wire/service-error';
import {
  causeGroups,
  type CausesOf,
  type Effects,
  effectsOfMixtures,
  type ExplainWish,
  mixturesPerRow,
  planMixtures,
  type RowEffects,
  writeCauses,
} from './causes';
import { scoreInParts } from './parts';
import type { Scored, Scoring } from './test-set';
import { comparisonWith, type TrainSetComparison, type Unlike } from './unlike';

/** Rows of the train set that a row is compared with. */
const BACKGROUND = 32;
/** Most rows of a test set that are explained this way: each takes hundreds of predictions. */
const MOST_ROWS = 20;

/**
 * What a message wants explained of a model's predictions. Of two classes it is the rarer one, or the second if that is
 * not known, so that all effects are on one scale; of more, it is the predicted one.
 */
export function chooseExplained(model: ResolvedModel, { explainAbove }: PredictRequest): ExplainWish {
  const label = explainedLabel(model);
  return {
    groups: causeGroups(model.columns),
    label,
    above: explainAbove === undefined ? undefined : Math.min(explainAbove, answeredFrom(model, label)),
  };
}

function explainedLabel({ task, classes, rarer }: ResolvedModel): Label | undefined {
  return task === 'classification' ? (rarer ?? (classes?.length === 2 ? classes[1] : undefined)) : undefined;
}

/**
 * A bound below all probabilities at which a chosen threshold answers this class, so that each such answer is
 * explained. Infinity if no threshold is chosen.
 */
function answeredFrom({ answers }: ResolvedModel, label: Label | undefined): number {
  if (answers === undefined || label === undefined) {
    return Infinity;
  }
  const isOf = comparableLabel(answers.label) === comparableLabel(label);
  // The threshold itself is answered as its class already, so the limit lies below it; of the other class it is not.
  return isOf ? answers.at - Number.EPSILON : 1 - answers.at;
}

interface WhyOptions extends Pick<ExplainWish, 'above'>, Pick<PredictSettings, 'causeText'> {
  classes: readonly Label[] | undefined;
  /** Warns the user, once per key. */
  warn: (key: string, text: string) => void;
}

/** The causes of a message's rows. */
export function makeCauses(
  { effects, metadata }: Scored,
  { above, classes, causeText, warn }: WhyOptions,
): CausesOf {
  if (effects === undefined) {
    return () => null;
  }
  if (effects.left > 0) {
    warn(
      'left',
      `Of one table ${effects.rows.size} rows are explained at most: explain those above a value, or send fewer rows at a time.`,
    );
  }
  return writeCauses(effects, { above }, metadata.classes ?? classes, causeText);
}

/** What rows are scored with, and who is told what could not be done. */
export interface WarnedScoring extends Scoring {
  /** Warns the user, once per key. */
  warn: (key: string, text: string) => void;
}

interface ExplainByRows extends WarnedScoring {
  columns: readonly Column[];
  batch: ColumnBatch;
  wish: ExplainWish;
}

/**
 * Explains rows by predicting mixtures of them with rows of the train set, on a service that does not explain itself.
 * A failure costs the explanation, never the prediction: a warning says why, and the result is undefined.
 *
 * @throws ServiceError `closed`
 */
export async function explainByRows(work: ExplainByRows): Promise<Effects | undefined> {
  try {
    return await explained(work);
  } catch (thrown) {
    const error = toServiceError(thrown);
    if (error.code === 'closed') {
      throw error;
    }
    work.warn('failed', `The rows are predicted, but could not be explained: ${error.message}`);
    return undefined;
  }
}

async function explained(work: ExplainByRows): Promise<Effects | undefined> {
  const { context, model, columns, batch, wish, warn } = work;
  const reference = await context.cards.references.get(model.fittedId);
  const chosenRows = backgroundRows(reference?.rows.length ?? 0);
  const background = reference && referenceBatch(reference, columns, batch, chosenRows);
  if (reference === undefined || background === undefined || background.rows === 0) {
    warn('reference', `The model "${model.name}" keeps no rows to explain predictions with: fit it again.`);
    return undefined;
  }
  const wanted = await rowsToExplain(work);
  const rows = wanted.slice(0, MOST_ROWS);
  const causes = causesOfColumns(columns, wish.groups);
  const facts = {
    causes: causes.names,
    ...findUsual(reference, causes.names),
    left: wanted.length - rows.length,
  };
  if (rows.length === 0) {
    return { ...facts, rows: new Map() };
  }
  const asked = background.rows + rows.length * mixturesPerRow(background.rows, causes.names.length);
  await announceRows(work, asked, 'Explaining these predictions');
  const plan = planMixtures(rows.length, background.rows, causes.of, causes.names.length);
  const mixed = mixRows(joinBatches([pickRows(batch, rows), background]), plan.sources);
  const answers = await ask(work, mixed);
  const effects = rows.map((row, i): [number, RowEffects] => {
    const own = background.rows + i * mixturesPerRow(background.rows, causes.names.length);
    const of = chooseClass(answers, own, work);
    const findAnswer = (mixture: number): number => answers.of(mixture, of);
    return [row, { of, ...effectsOfMixtures(i, plan, findAnswer, causes.names.length) }];
  });
  return { ...facts, rows: new Map(effects) };
}

/** One row of each of 32 equal stretches: every n-th one might always be of the same hour. */
function backgroundRows(rows: number): number[] {
  const random = seededRandom(rows);
  const count = Math.min(BACKGROUND, rows);
  return Array.from({ length: count }, (_, i) => {
    const from = Math.floor((i * rows) / count);
    return from + Math.floor(random() * (Math.floor(((i + 1) * rows) / count) - from));
  });
}

/** All rows, or those above the threshold for explanations, which are predicted first. */
async function rowsToExplain(work: ExplainByRows): Promise<number[]> {
  const { batch, wish } = work;
  const all = Array.from({ length: batch.rows }, (_, row) => row);
  if (wish.above === undefined) {
    return all;
  }
  const answers = await ask(work, batch);
  return all.filter((row) => answers.of(row, chooseClass(answers, row, work)) > wish.above!);
}

/** Predictions on the scale that is explained: class probabilities, or means. */
interface Answers {
  of: (row: number, of: number | undefined) => number;
  /** Per row; empty for numbers. */
  probas: readonly number[][];
  classes: readonly unknown[];
}

async function ask(
  { context, model, columns, options }: ExplainByRows,
  batch: ColumnBatch,
): Promise<Answers> {
  const asked: ResolvedModel = {
    ...model,
    outputType: model.task === 'classification' ? 'probas' : 'mean',
    quantiles: undefined,
  };
  const own = { ...options, explain: undefined };
  const { prediction, metadata } = await scoreInParts(
    { context, model: asked, options: own },
    { columns, batches: [batch] },
  );
  const classes = metadata.classes ?? model.classes ?? [];
  if (model.task === 'regression') {
    const { values } = assertKind(prediction, 'numbers');
    return { of: (row) => values[row]!, probas: [], classes };
  }
  const { values } = assertKind(prediction, 'probas');
  return { of: (row, of) => values[row]![of!]!, probas: values, classes };
}

/** The class explained in a row: the one asked for, else the most probable one. */
function chooseClass(
  { probas, classes }: Answers,
  row: number,
  { model, wish }: ExplainByRows,
): number | undefined {
  if (model.task === 'regression') {
    return undefined;
  }
  const asked = classes.findIndex((label) => String(label) === String(wish.label));
  const own = probas[row]!;
  return wish.label !== undefined && asked >= 0 ? asked : own.indexOf(Math.max(...own));
}

function causesOfColumns(
  columns: readonly Column[],
  groups: ExplainWish['groups'],
): { names: string[]; of: number[] } {
  const names = Object.keys(groups);
  const groupOf = new Map(names.flatMap((name, at) => groups[name]!.map((column) => [column, at] as const)));
  const of = columns.map(({ name }) => groupOf.get(name) ?? names.push(name) - 1);
  return { names, of };
}

function findUsual(reference: Reference, causes: readonly string[]): Pick<Effects, 'usual' | 'means'> {
  const usual = causes.map((cause): [number, number] | null => {
    const at = reference.columns.findIndex(({ name }) => name === cause);
    const own = reference.usual[at];
    const isNumber = own?.kind === 'number' && reference.columns[at]!.type !== 'date';
    return isNumber ? [own.q10, own.q90] : null;
  });
  return { usual, means: causes.map(() => null) };
}

/** The train set of a model, to compare rows with; undefined, with one warning, where none of it is stored. */
export async function openComparison({
  context,
  model,
  warn,
}: WarnedScoring): Promise<TrainSetComparison | undefined> {
  const { fittedId, name } = model;
  const reference = await context.cards.references.get(fittedId);
  const comparison = reference && (await comparisonWith(reference));
  if (comparison === undefined) {
    warn(
      `unlike ${name}`,
      `Rows cannot be compared with the train set of "${name}": none of it is kept here. Fit the model again, from a table.`,
    );
  }
  return comparison;
}

/** Compares batches as they pass. */
export async function* withUnlike(
  comparison: TrainSetComparison,
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  into: Unlike[],
): AsyncGenerator<ColumnBatch> {
  const names = columns.map(({ name }) => name);
  for await (const batch of batches) {
    for (const unlike of await comparison.compare(names, batch)) {
      into.push(unlike);
    }
    yield batch;
  }
}

/** Warns once that more rows are predicted than the message has, on a service that may charge for them. */
export async function announceRows(
  { context, model, options: { signal }, warn }: WarnedScoring,
  rows: number,
  what: string,
): Promise<void> {
  if (context.service.isLocal) {
    return;
  }
  const limits = await context.service.limits.forChecks(signal);
  const request = predictToEstimate(limits, model, { train: model.trainRows, test: rows });
  let price: string;
  try {
    const cost = !context.service.isMetered ? 0 : await context.service.costs.estimate(request, signal);
    price = cost > 0 ? `, estimated to cost ${cost}` : '';
  } catch {
    signal.throwIfAborted();
    price = ', at a cost that could not be found out';
  }
  warn(`cost ${what}`, `${what} asks the service for ${rows} more rows${price}.`);
}
