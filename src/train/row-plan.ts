import type { FittedModel, KeyTime } from '../models/cards';
import { timeCandidates } from '../models/row-times';
import type { Hooks, SetInput, TableChoices } from '../models/types';
import type { Column, ColumnType } from '../table/cells/types';
import type { TableProfile } from '../table/inference/profile';
import type { TableSource } from '../table/open';
import { ServiceError } from '../wire/service-error';
import type { Task } from '../wire/vocabulary';
import type { Copies } from './copies';
import { autoTask } from './doubts';
import { readHoldout, type RowPlan } from './holdout';
import { KEPT, LEFT_OUT, planRows, readRowFacts, type RowFacts, type RowQuestions } from './holdout-plan';

/** Parts of consecutive rows that a fold consists of: enough to mix the seasons, few enough to be long. */
const BLOCKS = 25;

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
  const { target, group, relativeTo } = request;
  const mayFollowTime = order !== 'none' && timeCandidates(profile.columns, target).length > 0;
  const hasQuestions =
    hasCopies || questions.holdout || group !== undefined || relativeTo !== undefined || mayFollowTime;
  return hasQuestions ? readRowFacts(source, profile, questions) : undefined;
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
    percent,
    seed: readSeed(options),
    embargo,
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
