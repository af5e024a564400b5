import {
  ColumnSplit,
  FEWEST_COLUMNS,
  FEWEST_TOGETHER,
  MISSING_WORD,
  PrivateValues,
  RowDigests,
  RowKinds,
  RowsButOne,
} from '../metrics/repeated-rows';
import type { FittedModel, KeyTime } from '../models/cards';
import type { Hooks, SetInput, TableChoices } from '../models/types';
import type { Column, ColumnType } from '../table/cells/types';
import { type ColumnBatch, type ColumnData, isMissing } from '../table/columns/column-batch';
import type { TableProfile } from '../table/inference/profile';
import type { TableSource } from '../table/open';
import { Yielder } from '../util/concurrency';
import { ServiceError } from '../wire/service-error';
import type { Task } from '../wire/vocabulary';
import { autoTask } from './doubts';
import { readHoldout, type RowPlan } from './holdout';
import {
  hasRowQuestions,
  KEPT,
  LEFT_OUT,
  planRows,
  readRowFacts,
  type RowFacts,
  type RowQuestions,
} from './holdout-plan';

/** Parts of consecutive rows that a fold consists of: enough to mix the seasons, few enough to be long. */
const BLOCKS = 25;

interface DigestedColumns {
  /** Read as these types, in this order. */
  features: readonly Column[];
  /** As the table's profile has it: rows without one are left out where it is required. */
  target: Column;
}

/** A digest of each row of a train set that has a target: equal for rows with equal features and an equal target. */
export async function digestRows(
  source: TableSource,
  { features, target }: DigestedColumns,
  facts: Pick<RowFacts, 'rows' | 'task' | 'codes' | 'classes' | 'values'>,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const all = new Float64Array(facts.rows);
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of source.batches([...features, target], { signal })) {
    const digests = await computeDigests(batch.rows, batch.columns.slice(0, features.length), yielder);
    addTarget(facts, first, digests);
    for (let row = 0; row < batch.rows; row++) {
      all[first + row] = digests.of(row);
    }
    first += batch.rows;
  }
  return all;
}

/** Digests of some cells of each row of a batch. */
async function computeDigests(
  rows: number,
  columns: readonly ColumnData[],
  yielder: Yielder,
): Promise<RowDigests> {
  const digests = new RowDigests(rows);
  for (const column of columns) {
    await addColumn(column, digests, yielder);
    await yielder.due();
  }
  return digests;
}

async function addColumn(column: ColumnData, digests: RowDigests, yielder: Yielder): Promise<void> {
  switch (column.type) {
    case 'number':
    case 'integer':
    case 'date':
      for (let row = 0; row < digests.rows; row++) {
        digests.addNumber(row, column.values[row]!);
      }
      return;
    case 'boolean':
      for (let row = 0; row < digests.rows; row++) {
        digests.add(row, column.values[row]!);
      }
      return;
    case 'bigint':
      column.values.forEach((value, row) => {
        const isMissing = column.missing?.[row] === 1;
        digests.add(row, isMissing ? MISSING_WORD : Number(BigInt.asIntN(32, value)));
        digests.add(row, isMissing ? MISSING_WORD : Number(BigInt.asIntN(32, value >> 32n)));
      });
      return;
    case 'text':
      for (let row = 0; row < digests.rows; row++) {
        const [from, to] = [column.offsets[row]!, column.offsets[row + 1]!];
        digests.add(row, column.missing?.[row] === 1 ? MISSING_WORD : to - from);
        for (let at = from; at < to; at++) {
          digests.add(row, column.bytes[at]!);
          if (yielder.isDueAt(at)) {
            await yielder.yield();
          }
        }
      }
  }
}

function addTarget(
  { task, codes, classes, values }: Pick<RowFacts, 'task' | 'codes' | 'classes' | 'values'>,
  first: number,
  digests: RowDigests,
): void {
  if (task === 'regression') {
    values.subarray(first, first + digests.rows).forEach((value, row) => digests.addNumber(row, value));
    return;
  }
  // The same label has another code in another table.
  const texts = classes.map((label) => Buffer.from(String(label)));
  for (let row = 0; row < digests.rows; row++) {
    for (const byte of texts[codes[first + row]!] ?? []) {
      digests.add(row, byte);
    }
  }
}

/** Rows of a train set that stand in it more than once, more often than chance explains. */
export interface Copies {
  /** Per row, 1 if it repeats an earlier one. */
  is: Uint8Array;
  count: number;
}

/**
 * Looks for copies, in a pass over the rows, and in another one where any two rows are equal. Undefined where there are
 * none, or no more than chance explains.
 *
 * @param columns all that tell rows apart, the target among them; rows without a target do not count where it is required
 */
export async function findCopies(
  source: TableSource,
  columns: readonly Column[],
  rows: number,
  signal: AbortSignal | undefined,
): Promise<Copies | undefined> {
  const kinds = new RowKinds(rows);
  const yielder = new Yielder();
  for await (const batch of source.batches(columns, { signal })) {
    const digests = await computeDigests(batch.rows, batch.columns, yielder);
    for (let row = 0; row < batch.rows; row++) {
      kinds.add(digests.of(row));
    }
    await yielder.due();
  }
  if (
    kinds.areAllDifferent ||
    (kinds.times === 1 && !(await areMoreThanChance(source, columns, kinds, signal)))
  ) {
    return undefined;
  }
  const is = kinds.copies();
  return { is, count: is.reduce((sum, one) => sum + one, 0) };
}

async function areMoreThanChance(
  source: TableSource,
  columns: readonly Column[],
  kinds: RowKinds,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (columns.length < FEWEST_TOGETHER) {
    return false;
  }
  const values = columns.map(() => new PrivateValues(kinds));
  const splits = columns.map(() => new ColumnSplit());
  const mayBeCopied = kinds.mayBeCopied(columns.length);
  const yielder = new Yielder();
  for await (const { batch, cells, first } of readCells(source, columns, signal)) {
    for (const [at, column] of batch.columns.entries()) {
      for (let row = 0; row < batch.rows; row++) {
        if (mayBeCopied) {
          splits[at]!.add(cells[at]![row]!, first + row);
        }
        if (!isMissing(column, row)) {
          values[at]!.add(cells[at]![row]!, first + row);
        }
      }
      await yielder.due();
    }
  }
  const isNarrow = columns.length < FEWEST_COLUMNS;
  if (!isNarrow && values.some((one) => one.tellOfCopies())) {
    return true;
  }
  if (!mayBeCopied || (isNarrow && !values.some((one) => one.areOfMostKinds))) {
    return false;
  }
  const rows = new RowsButOne(kinds, splits);
  const own = new Int32Array(columns.length);
  for await (const { batch, cells, first } of readCells(source, columns, signal)) {
    for (let row = 0; row < batch.rows; row++) {
      cells.forEach((column, at) => (own[at] = column[row]!));
      rows.add(own, first + row);
      if (yielder.isDueAt(row)) {
        await yielder.yield();
      }
    }
  }
  return rows.tellOfCopies();
}

/** Per batch of a table, a digest of each cell: columns × rows, 32 bits. `first` is the number of its first row. */
async function* readCells(
  source: TableSource,
  columns: readonly Column[],
  signal: AbortSignal | undefined,
): AsyncGenerator<{ batch: ColumnBatch; cells: Int32Array[]; first: number }> {
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of source.batches(columns, { signal })) {
    const cells: Int32Array[] = [];
    for (const column of batch.columns) {
      const digests = await computeDigests(batch.rows, [column], yielder);
      cells.push(Int32Array.from({ length: batch.rows }, (_, row) => digests.of(row) | 0));
      await yielder.due();
    }
    yield { batch, cells, first };
    first += batch.rows;
  }
}

/** How the rows of a train set belong together. */
interface RowChoices {
  /** Default `none`. */
  order?: 'auto' | 'time' | 'none';
  group?: string;
  /** Default `groups`. */
  folds?: 'groups' | 'blocks';
  relativeTo?: string;
  embargo?: number;
  /** The newest time of the rows, where no column tells it. */
  trainedUntil?: string;
  /** The same of each machine, where the rows have a key. */
  trainedKeys?: readonly KeyTime[];
  /** The oldest time of the rows, where no column tells it. */
  trainedFrom?: string;
}

export interface TrainSetRequest extends TableChoices, RowChoices {
  table: SetInput;
  target: string | undefined;
  task: 'auto' | Task;
  options: Record<string, unknown>;
  /** Percent of the rows to keep back. */
  holdout?: number;
  /** With `better` all that is known of the rows is asked for. */
  replace?: 'always' | 'better';
  /** The service draws folds by the columns that are sent: the group and the time must be among them. */
  sendsFoldColumns?: boolean;
}

/** What a model card says of the order of its rows. */
export type Lineage = Pick<FittedModel, 'order' | 'group' | 'embargo' | 'relative_to' | 'trained_until'>;

export type CheckedRequest = TrainSetRequest & { target: string; task: Task };

/** What has to be known of the rows; undefined where nothing has. */
export async function findFacts(
  { source, profile, hasCopies }: { source: TableSource; profile: TableProfile; hasCopies: boolean },
  request: CheckedRequest,
  signal: AbortSignal | undefined,
): Promise<RowFacts | undefined> {
  const { holdout = 0, order = 'none', replace } = request;
  const questions: RowQuestions = {
    ...request,
    order,
    holdout: holdout > 0 || replace === 'better',
    signal,
  };
  return hasCopies || hasRowQuestions(questions, profile)
    ? readRowFacts(source, profile, questions)
    : undefined;
}

/** Which rows are kept back, as the request says; undefined where none are. */
export async function chooseHoldout(
  facts: RowFacts,
  { holdout: percent = 0, options, embargo = 0, folds }: CheckedRequest,
  { onWarning }: Hooks,
): Promise<Uint8Array | undefined> {
  if (percent === 0) {
    return undefined;
  }
  const chosen = await planRows(facts, {
    ...{ percent, seed: readSeed(options), embargo },
    groupsGoOn: folds === 'blocks',
  });
  if (chosen === undefined) {
    onWarning?.(`No row can be kept back: ${whyNot(facts, percent)}`);
  }
  return chosen;
}

export function readSeed({ random_state: seed }: Record<string, unknown>): number {
  return typeof seed === 'number' ? seed : 0;
}

/** Which rows the files leave out, and how the target is changed; undefined where the table goes as it is. */
export async function planTrainSet(
  table: {
    source: TableSource;
    profile: TableProfile;
    features: readonly Column[];
    request: CheckedRequest;
    copies: Copies | undefined;
  },
  facts: RowFacts,
  chosen: Uint8Array | undefined,
  { signal, onWarning }: Hooks,
): Promise<RowPlan | undefined> {
  const { source, profile, features, request, copies } = table;
  const { target, relativeTo } = request;
  const plan = chosen ?? new Uint8Array(facts.rows);
  leaveOutMissing(plan, facts, relativeTo, onWarning);
  copies?.is.forEach((isCopy, row) => (plan[row] = isCopy === 1 ? LEFT_OUT : plan[row]!));
  if (chosen === undefined && facts.relative === undefined && copies === undefined) {
    return undefined;
  }
  const columns = { columns: profile.columns, target, features };
  const holdout = chosen && (await readHoldout(source, columns, { facts, plan }, signal));
  const kept = plan.reduce((count, one) => count + (one === KEPT ? 1 : 0), 0);
  return { plan, kept, relativeTo: facts.relative && relativeTo, holdout };
}

function whyNot({ rows, groups, order }: RowFacts, percent: number): string {
  if (Math.floor((rows * percent) / 100 + 1e-9) < 1) {
    return `${percent} % of ${rows} rows is less than one.`;
  }
  return groups !== undefined
    ? 'no group can be spared, since groups are never split.'
    : order === 'time'
      ? 'the older rows alone would be too few to learn from, or all of one class.'
      : `${percent} % of ${rows} rows is less than one of a class.`;
}

/** Rows without the value that the target is relative to have no change to learn. */
function leaveOutMissing(
  plan: Uint8Array,
  { relative, rows }: RowFacts,
  relativeTo: string | undefined,
  onWarning: Hooks['onWarning'],
): void {
  let missing = 0;
  relative?.forEach((value, row) => {
    if (Number.isNaN(value)) {
      plan[row] = LEFT_OUT;
      missing++;
    }
  });
  if (missing === rows) {
    throw new ServiceError(
      'table.invalid',
      `The column "${relativeTo}" has no value in any of ${rows} rows.`,
    );
  }
  if (missing > 0) {
    onWarning?.(
      `${missing} of ${rows} rows are left out: they have no value in "${relativeTo}", which the target is relative to.`,
    );
  }
}

export function makeLineage(request: RowChoices, facts: RowFacts | undefined): Lineage {
  const { order = 'none', group, relativeTo, embargo } = request;
  const inTime = facts?.order === 'time' || order === 'time';
  const trainedUntil = facts?.trainedUntil ?? request.trainedUntil;
  return {
    order: inTime ? 'time' : 'none',
    ...(group !== undefined && { group }),
    ...(inTime && embargo !== undefined && embargo > 0 && { embargo }),
    ...((facts?.relative ?? facts?.sameAsNow) !== undefined && { relative_to: relativeTo }),
    ...(trainedUntil !== undefined && { trained_until: trainedUntil }),
  };
}

/** Days from the oldest row to the newest, where a column or the request tells. */
export function daysOfRows(
  { trainedFrom, trainedUntil }: RowChoices,
  facts: RowFacts | undefined,
): number | undefined {
  const days = facts?.days ?? (Date.parse(trainedUntil ?? '') - Date.parse(trainedFrom ?? '')) / 86_400_000;
  return Number.isNaN(days) ? undefined : days;
}

/**
 * How the embedded service is to draw its folds: of consecutive rows, and of whole groups.
 *
 * @param relativeTo the column that the target in the files is the change from
 */
export function describeFolds(
  { group, embargo = 0, order, folds }: RowChoices,
  found: 'time' | 'none',
  isFeature: boolean,
  relativeTo?: string,
): Record<string, unknown> | undefined {
  const inTime = found === 'time' || order === 'time';
  if (!inTime && group === undefined) {
    return order === 'none' ? { FOLDS: 'random' } : undefined;
  }
  return {
    ...(inTime && { BLOCKS }),
    ...(inTime && embargo > 0 && { EMBARGO: embargo }),
    ...(inTime && relativeTo !== undefined && { RELATIVE_TO: relativeTo }),
    ...(group !== undefined && { GROUP: group, GROUP_AS_FEATURE: isFeature }),
    ...(inTime && group !== undefined && folds === 'blocks' && { FOLDS: folds }),
  };
}

/** What is relative to a number is a number; anything else keeps its task, and the present label is only compared. */
export function relativeTask(profile: TableProfile): Task {
  return isNumeric(profile.target?.type) ? 'regression' : autoTask(profile);
}

function isNumeric(type: ColumnType | undefined): boolean {
  return type === 'number' || type === 'integer' || type === 'bigint';
}

/** @throws ServiceError `columns.missing`, `config.invalid` for a group or a column to be relative to that cannot serve */
export function assertColumns(
  { columns }: TableProfile,
  request: { target: string; task: Task; group?: string; relativeTo?: string; ignore: readonly string[] },
): void {
  const { target, task, group, relativeTo, ignore } = request;
  for (const [what, name] of [
    ['Group', group],
    ['Relative to', relativeTo],
  ] as const) {
    if (name === undefined) {
      continue;
    }
    if (name === target) {
      throw new ServiceError(
        'config.invalid',
        `${what} names "${name}", which is the target: name another column.`,
      );
    }
    if (what === 'Relative to' && ignore.includes(name)) {
      throw new ServiceError(
        'config.invalid',
        `The column "${name}" is both ignored and what the target is relative to: take it out of Ignore.`,
      );
    }
    const column = columns.find((one) => one.name === name);
    if (column === undefined) {
      throw new ServiceError(
        'columns.missing',
        `${what} names the column "${name}", which the table does not have.`,
      );
    }
    if (what === 'Relative to' && task === 'regression' && !isNumeric(column.type)) {
      throw new ServiceError(
        'config.invalid',
        `The target can only be relative to a column of numbers, and "${name}" holds ${column.type}.`,
      );
    }
  }
}
