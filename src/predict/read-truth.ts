import { codesOfLabels } from '../models/evaluation';
import type { ResolvedModel } from '../models/model-request';
import { followsTime, isTimeName, Steps } from '../models/row-times';
import type { PredictRequest } from '../models/types';
import { localZone } from '../table/cells/parse-date';
import type { Column, Label } from '../table/cells/types';
import { labelAt, numberAt } from '../table/columns/column-batch';
import type { TableSource } from '../table/open';
import { Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';

/** More rows than these make the scores no surer, and hold the event loop: then every second is scored, or fewer. */
const MOST_ROWS = 20_000;
const MOST_CELLS = 200_000;
/** Numbers of a column that is only named like a time: below this they count rows. */
const FIRST_TIME = 365 * 24 * 3_600_000;

/** What is true of the rows of a table, in its order. */
export interface TableTruth {
  /** The rows to score, by their numbers in the table from 0: with a value in the target, and predicted. */
  rows: Int32Array;
  /** Rows with a value, of which `rows` may be a part, and rows without. */
  known: number;
  unknown: number;
  /** Of `rows`: numbers, or labels. */
  target: Float64Array | Label[];
  /** For each of `rows`, the current value of the target, where a column has it: numbers, or labels and null where unknown. */
  now?: Float64Array | (Label | null)[];
  /** Of `rows`: what they are grouped by, where the fit did so and the table tells it. */
  groups?: (Label | null)[];
  /** The rows follow each other in time. */
  inTime: boolean;
  /** The newest rows come first. */
  falling: boolean;
  /** Of `rows`: milliseconds as the column holds them; NaN where missing. Left out where no column tells the time. */
  times?: { column: Column; values: Float64Array };
}

/**
 * Reads from a table what a model predicts, once.
 *
 * @throws ServiceError `target.missing` where the table does not have it, or it is not known; `table.invalid` where it is
 *   of another type, or holds none of the model's labels
 */
export async function readTruth(
  source: TableSource,
  model: ResolvedModel,
  request: PredictRequest,
  signal: AbortSignal,
): Promise<TableTruth> {
  const target = targetColumn(source, model);
  const candidates = timeColumns(source, model, request);
  const isLabels = model.task === 'classification';
  const nowColumn = columnOfNow(source, model, target);
  const { group } = model;
  const groupColumn: Column[] =
    group !== undefined && source.names.includes(group) ? [{ name: group, type: 'text' }] : [];
  const read = [target, ...nowColumn, ...groupColumn, ...candidates];
  const groupAt = groupColumn.length === 0 ? -1 : 1 + nowColumn.length;
  const chosen = new Chosen(mostRows(model), read.length);
  const steps = read.map(() => new Steps());
  const yielder = new Yielder();
  let rows = 0;
  for await (const { columns, rows: count } of source.batches(read, { signal })) {
    for (let i = 0; i < count; i++, rows++) {
      const cells = columns.map((column, at) =>
        (isLabels && at <= nowColumn.length) || at === groupAt ? labelAt(column, i) : numberAt(column, i),
      );
      cells.forEach((cell, at) => steps[at]!.add(typeof cell === 'number' ? cell : Number.NaN));
      // A relative model does not predict a row without the value that it predicts the change from.
      if (cells[0] !== null && !Number.isNaN(cells[0]) && !(nowColumn.length > 0 && Number.isNaN(cells[1]))) {
        chosen.add(rows, cells as Label[]);
      }
      if (yielder.isDueAt(rows)) {
        await yielder.yield();
      }
    }
  }
  const numbers = (at: number): Float64Array => Float64Array.from(chosen.cells[at] as number[]);
  const timeAt = read.findIndex(
    (column, at) =>
      candidates.includes(column) &&
      followsTime(column, steps[at]!, steps[0]!) &&
      (model.columns.includes(column) || steps[at]!.min >= FIRST_TIME),
  );
  if (isLabels && model.classes !== undefined) {
    assertLabels(chosen.cells[0]!, model.classes, model);
  }
  return {
    rows: Int32Array.from(chosen.rows),
    known: chosen.count,
    unknown: rows - chosen.count,
    target: isLabels ? chosen.cells[0]! : numbers(0),
    ...(nowColumn.length > 0 && { now: isLabels ? chosen.cells[1] : numbers(1) }),
    ...(groupAt > 0 && { groups: chosen.cells[groupAt] }),
    inTime: model.inTime === true || timeAt >= 0,
    falling: timeAt >= 0 && steps[timeAt]!.direction() === -1,
    ...(timeAt >= 0 && { times: { column: read[timeAt]!, values: numbers(timeAt) } }),
  };
}

function columnOfNow(
  source: TableSource,
  { nowColumn, relativeTo }: ResolvedModel,
  target: Column,
): Column[] {
  return nowColumn === undefined || !source.names.includes(nowColumn)
    ? []
    : [{ ...target, name: nowColumn, type: relativeTo === undefined ? target.type : 'number' }];
}

/** @throws ServiceError `table.invalid` where a model knows none of the labels that a table has */
export function assertLabels(
  labels: readonly Label[],
  classes: readonly Label[],
  { name, target }: Pick<ResolvedModel, 'name' | 'target'>,
): void {
  const different = [...new Set(labels)];
  if (different.length > 0 && codesOfLabels(classes, different).every((code) => code < 0)) {
    const list = (some: readonly Label[]): string =>
      `${some.slice(0, 3).map(String).join(', ')}${some.length > 3 ? ', …' : ''}`;
    throw new ServiceError(
      'table.invalid',
      `The column "${target}" holds ${list(different)}, and the model "${name}" knows ${list(classes)}: its predictions cannot be scored against that.`,
    );
  }
}

/** Some rows spread evenly over those that are added: all, every second, every fourth, as it takes to stay within a bound. */
class Chosen {
  readonly rows: number[] = [];
  /** A list for each column. */
  readonly cells: Label[][];
  count = 0;
  private step = 1;

  constructor(
    private readonly most: number,
    columns: number,
  ) {
    this.cells = Array.from({ length: columns }, () => []);
  }

  add(row: number, cells: readonly Label[]): void {
    if (this.count % this.step === 0 && this.rows.length === this.most) {
      this.step *= 2;
      [this.rows, ...this.cells].forEach(keepEverySecond);
    }
    if (this.count % this.step === 0) {
      this.rows.push(row);
      cells.forEach((cell, at) => this.cells[at]!.push(cell));
    }
    this.count++;
  }
}

function keepEverySecond(list: unknown[]): void {
  const left = Math.ceil(list.length / 2);
  for (let i = 0; i < left; i++) {
    list[i] = list[2 * i];
  }
  list.length = left;
}

function mostRows({ classes }: ResolvedModel): number {
  return Math.min(MOST_ROWS, Math.max(2000, Math.floor(MOST_CELLS / Math.max(1, classes?.length ?? 1))));
}

/** The target as the fit read it. */
function targetColumn({ names }: TableSource, model: ResolvedModel): Column {
  const { target, targetType, task, classes = [], columns, name } = model;
  if (target === undefined) {
    throw new ServiceError(
      'target.missing',
      `The predictions of the model "${name}" cannot be scored: which column it predicts is not known here.`,
    );
  }
  if (!names.includes(target)) {
    throw new ServiceError(
      'target.missing',
      `The table lacks the column "${target}", which the model "${name}" predicts: its predictions cannot be scored against it.`,
    );
  }
  const found =
    targetType ??
    (classes.length > 0 && classes.every((label) => typeof label === 'number')
      ? 'number'
      : classes.length > 0 && classes.every((label) => typeof label === 'boolean')
        ? 'boolean'
        : 'text');
  // Words that mean "missing", and what becomes of unreadable cells, hold for all columns of a table.
  const { missing, unreadable } = columns[0] ?? {};
  const zone = columns.find((column) => column.type === 'date')?.zone;
  return {
    name: target,
    type: task === 'regression' || found === 'integer' ? 'number' : found,
    ...(missing !== undefined && { missing }),
    ...(unreadable !== undefined && { unreadable }),
    ...(found === 'date' && zone !== undefined && { zone }),
  };
}

/** Columns that may tell the time: the dates of the model, and others that are named so. */
function timeColumns(
  { names }: TableSource,
  { columns, target }: ResolvedModel,
  { timezone }: PredictRequest,
): Column[] {
  const dates = columns.filter(({ name, type }) => type === 'date' && names.includes(name));
  const known = new Set(columns.map(({ name }) => name));
  const zone = dates[0]?.zone ?? timezone ?? localZone();
  const others = names.filter((name) => name !== target && !known.has(name) && isTimeName(name));
  return [...dates, ...others.map((name): Column => ({ name, type: 'date', zone, unreadable: 'missing' }))];
}
