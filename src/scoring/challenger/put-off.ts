import type { Context } from '../context/context';
import type { Reference, SeenRows } from '../reference/types';
import { UNREAD } from '../train/report/keep-reference';
import type { ModelCard } from '../types';
import { type Decision, LEAST_LATER, type RowsInTime } from './decision';
import { keepDigests, UNSEEN, whichSeen } from './seen-rows';

/**
 * Per compared row, 1 if it came after a challenger that was put off.
 *
 * @param putOff the rows that there were then
 * @param digests of all rows of the table @param numbers those that are compared on
 */
export async function laterRows(
  putOff: SeenRows | undefined,
  digests: Float64Array,
  numbers: Int32Array,
): Promise<Uint8Array | undefined> {
  const before = putOff && (await whichSeen(putOff, digests));
  return before && Uint8Array.from(numbers, (row) => (before[row] === UNSEEN ? 1 : 0));
}

/**
 * Remembers beside the champion, over restarts, that a challenger did not take over while rows were unusual: what came later
 * decides next time. It holds for one comparison, of which at least LEAST_LATER rows came later.
 *
 * @param rows left out where all rows are usual @param digests of all rows of the table
 */
export async function notePutOff(
  { cards }: Context,
  { fitted_train_set_id: id }: Pick<ModelCard, 'fitted_train_set_id'>,
  reference: Reference | undefined,
  { why }: Pick<Decision, 'why'>,
  rows: (RowsInTime & { digests: Float64Array }) | undefined,
): Promise<void> {
  const later = rows?.later?.reduce((count, one) => count + one, 0) ?? LEAST_LATER;
  if (why === 'better' || why === 'decayed' || later < LEAST_LATER) {
    return;
  }
  // Better or not: of a new scale that began a moment ago the first challenger knows too little.
  if (rows !== undefined) {
    await cards.putReference(id, { ...(reference ?? UNREAD), putOff: await keepDigests(rows.digests) });
  } else if (reference?.putOff !== undefined) {
    const rest = { ...reference };
    delete rest.putOff;
    await cards.putReference(id, rest);
  }
}
