import {
  type Column,
  localZone,
  openTable,
  openTableFile,
  profileTable,
  type TableProfile,
  type TableSource,
  warmEncoder,
} from '../../../table';
import { ServiceError } from '../../../wire/service-error';
import type { ModelLimits } from '../../../wire/types';
import type { Context } from '../../context/context';
import { describeExcess, limitSetOf, trainExcess, versionOf } from '../../context/limits';
import type { Hooks, SetInput, Task } from '../../types';
import { featureColumns, type RowFacts } from '../holdout/row-facts';
import { autoTask, checkTarget, targetWarnings } from './auto-task';
import { type Copies, findCopies } from './copies';
import { assertColumns, type CheckedRequest, factsOf, relativeTask, type TrainSetRequest } from './row-plan';

/** The table of a train set, read once and checked. */
export interface TrainTable {
  source: TableSource;
  /** With the columns that go into the files alone. */
  profile: TableProfile;
  /** The columns that are learned from. */
  features: Column[];
  /** The column of the groups, where there is one, is learned from too. */
  isFeature: boolean;
  /** What is known of its rows, where anything has to be. */
  facts: RowFacts | undefined;
  /** Rows to leave out, where they were looked for here. The embedded service looks for them by itself. */
  copies: Copies | undefined;
  limits: ModelLimits;
  /** Whether its files are compressed. */
  compress: boolean;
  request: CheckedRequest;
  /** What the task `auto` means. */
  auto: Task;
}

/**
 * Reads a train set for its types, and for what has to be known of its rows.
 *
 * @throws ServiceError `target.missing`, `table.invalid`, `table.empty`; `limit.exceeded` by the service's limits
 */
export async function readTrainTable(
  context: Context,
  request: TrainSetRequest,
  hooks: Hooks,
): Promise<TrainTable> {
  const { target, types, group, relativeTo } = request;
  const { missingWords, unreadable, timezone = localZone(), missingTarget = 'leaveOut' } = request;
  const ignore = request.ignore ?? [];
  const { signal } = hooks;
  if (target === undefined) {
    throw new ServiceError(
      'target.missing',
      'No target is named: set the column to predict in the dialog or in msg.target.',
    );
  }
  // The table is read twice: to find the types, and to write the files.
  hooks.onStatus?.({ key: 'reading' });
  // The thread starts while the types are settled here.
  warmEncoder();
  const source = await openInput(request.table, signal);
  const whole = await profileTable(source, {
    target,
    ignore: ignore.filter((name) => name !== group),
    types,
    missingTarget,
    missingWords,
    unreadable,
    timezone,
    signal,
    onRead: (part) => hooks.onStatus?.({ key: 'reading', fraction: part / 2 }),
  });
  for (const warning of whole.warnings) {
    hooks.onWarning?.(warning);
  }
  const auto = relativeTo === undefined ? autoTask(whole) : relativeTask(whole);
  const task = request.task === 'auto' ? auto : request.task;
  checkTarget(whole, task, missingTarget);
  assertColumns(whole, { ...request, target, ignore, task });
  const checked = { ...request, target, task };
  const { sendsFoldColumns = false } = request;
  const isFeature = group === undefined || !ignore.includes(group) || sendsFoldColumns;
  if (group !== undefined && ignore.includes(group) && sendsFoldColumns) {
    hooks.onWarning?.(
      `The group "${group}" is sent although it is ignored: the service draws the folds of its thinking by it. The service cannot leave it out of the features, so the model learns from it too, and predictions need it.`,
    );
  }
  const all = featureColumns(whole, target, isFeature ? [] : [group]);
  if (all.length === 0) {
    throw new ServiceError(
      'table.invalid',
      `The table has no column but the target "${target}": nothing to learn from.`,
    );
  }
  const limits = await context.service.limits.forChecks(signal);
  assertWithinLimits(limits, whole, all.length, task, request.options);
  for (const warning of targetWarnings(whole, task)) {
    hooks.onWarning?.(warning);
  }
  const copies = looksForCopies(context, checked, whole)
    ? await findCopies(source, whole.columns, whole.rows, signal)
    : undefined;
  const facts = await factsOf(source, whole, checked, copies !== undefined, signal);
  const others = sendsFoldColumns ? all : all.filter(({ name }) => name !== facts?.clock);
  const features = others.length > 0 ? others : all;
  // A group that is no feature travels with the features only where the service leaves it out by itself.
  const sent = new Set([target, ...features.map(({ name }) => name)]);
  if (group !== undefined && context.service.takesFolds) {
    sent.add(group);
  }
  const profile = { ...whole, columns: whole.columns.filter(({ name }) => sent.has(name)) };
  const compress = !context.service.isLocal;
  return { source, profile, features, isFeature, facts, copies, limits, compress, request: checked, auto };
}

/**
 * Rows that are kept back must not stand among those that are learned from, and a service that finds no copies draws its
 * folds without a look. Rows in order of time, or of groups, are copies only where a date is the same too: a machine that
 * stands still repeats all else.
 */
function looksForCopies(
  { service }: Context,
  { holdout = 0, replace, order, group }: CheckedRequest,
  { columns }: TableProfile,
): boolean {
  const isApart = order !== 'time' && group === undefined;
  return (
    (holdout > 0 || replace === 'better' || !service.findsCopies) &&
    (isApart || columns.some(({ type }) => type === 'date'))
  );
}

export async function openInput(input: SetInput, signal: AbortSignal | undefined): Promise<TableSource> {
  if ('source' in input) {
    return input.source;
  }
  return 'path' in input ? openTableFile(input.path, { signal }) : openTable(input.value, { signal });
}

function assertWithinLimits(
  limits: ModelLimits,
  profile: TableProfile,
  columns: number,
  task: Task,
  options: Record<string, unknown>,
): void {
  const set = limitSetOf(limits, versionOf(limits, options));
  const excess = trainExcess(set, {
    rows: profile.rows - (profile.target?.missing ?? 0),
    columns,
    ...(task === 'classification' && { classes: profile.target?.distinct ?? 0 }),
  });
  if (excess.length > 0) {
    const tooMany = excess.some(({ limit }) => limit === 'max_classes');
    const why = profile.target?.oddWords ?? profile.target?.hint?.problem;
    const hint = tooMany && why !== undefined ? ` ${why}` : '';
    throw new ServiceError(
      'limit.exceeded',
      `The train set is beyond the limits of the service: ${describeExcess(excess)}. Nothing was sent.${hint}`,
    );
  }
}
