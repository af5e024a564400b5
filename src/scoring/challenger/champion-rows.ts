import type { TableSource } from '../../table';
import type { Context } from '../context/context';
import { columnTime } from '../evaluation/time-column';
import type { SeenRows } from '../reference/types';
import { KEPT } from '../train/holdout/holdout-plan';
import type { RowFacts } from '../train/holdout/row-facts';
import { digestRows } from '../train/train-set/row-digests';
import type { TrainTable } from '../train/train-set/train-table';
import type { FittedModel, ModelCard } from '../types';
import { keepDigests, SEEN, UNSEEN, whichSeen } from './seen-rows';

/**
 * Per row of a table, whether the champion was fitted on it: by time if a column has it, else by the digests kept of its
 * rows. Undefined if neither is known.
 *
 * @throws ServiceError `table.invalid` where its columns cannot be read as the champion's
 */
export async function championRows(
  context: Context,
  champion: ModelCard,
  table: TrainTable,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  const facts = table.facts!;
  const { times, timeColumn } = facts;
  const until = Date.parse(champion.trained_until ?? '');
  if (times !== undefined && timeColumn !== undefined && !Number.isNaN(until)) {
    const newest = times.reduce((max, time) => (time > max ? time : max), -Infinity);
    const own = await untilOfGroups(context, champion, facts);
    const last = columnTime(timeColumn, until, newest);
    const lastOfGroup = own?.map((time) => columnTime(timeColumn, time, newest));
    // Rows without a time count as seen.
    return Uint8Array.from(times, (time, row) =>
      time > (lastOfGroup?.[facts.groups![row]!] ?? last) ? UNSEEN : SEEN,
    );
  }
  const reference = await context.cards.reference(champion.fitted_train_set_id);
  return reference?.seen && whichSeen(reference.seen, await digestsFor(champion, table, signal));
}

/**
 * Until when the champion was fitted on the rows of each group, by its number; a group that it does not know is new to it.
 * Undefined where that is not known.
 */
async function untilOfGroups(
  { cards }: Context,
  champion: ModelCard,
  { groups, groupLabels }: RowFacts,
): Promise<number[] | undefined> {
  if (groups === undefined || groupLabels === undefined || champion.group === undefined) {
    return undefined;
  }
  const reference = await cards.reference(champion.fitted_train_set_id);
  const until = reference?.until && new Map(reference.until.map(({ key, to }) => [key, to]));
  return until && groupLabels.map((label) => until.get(String(label)) ?? -Infinity);
}

/** What identifies the rows that a model of this table is fitted on. @param plan how each row is used, if some are held back */
export async function seenRowsOf(
  table: TrainTable,
  plan: Uint8Array | undefined,
  signal: AbortSignal | undefined,
): Promise<SeenRows> {
  const digests = await digestsFor({ columns: table.features }, table, signal);
  return keepDigests(plan === undefined ? digests : digests.filter((_, row) => plan[row] === KEPT));
}

/** Whether a table has all columns of a model. */
export function hasColumnsOf({ columns }: Pick<ModelCard, 'columns'>, { names }: TableSource): boolean {
  const known = new Set(names);
  return columns.length > 0 && columns.every(({ name }) => known.has(name));
}

/** Digests of the rows of a table, as a model of these columns knows them. */
export function digestsFor(
  { columns }: Pick<FittedModel, 'columns'>,
  { source, profile, request, facts }: TrainTable,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const target = profile.columns.find(({ name }) => name === request.target)!;
  return digestRows(source, columns, target, facts!, signal);
}
