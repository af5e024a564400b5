import { FEWEST_COLUMNS, PrivateValues, RowKinds } from '../../../metrics/repeated-rows';
import { type Column, isMissing, readBatches, type TableSource } from '../../../table';
import { Yielder } from '../../../util/event-loop';
import { digestsOf } from './row-digests';

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
  for await (const batch of readBatches(source, columns, { signal })) {
    const digests = await digestsOf(batch.rows, batch.columns, yielder);
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
  if (columns.length < FEWEST_COLUMNS) {
    return false;
  }
  const values = columns.map(() => new PrivateValues(kinds));
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of readBatches(source, columns, { signal })) {
    for (const [at, column] of batch.columns.entries()) {
      const digests = await digestsOf(batch.rows, [column], yielder);
      for (let row = 0; row < batch.rows; row++) {
        if (!isMissing(column, row)) {
          values[at]!.add(digests.of(row) | 0, first + row);
        }
      }
      await yielder.due();
    }
    first += batch.rows;
  }
  return values.some((one) => one.tellOfCopies());
}
