import { MISSING_WORD, RowDigests } from '../../../metrics/row-digests';
import { type Column, type ColumnData, readBatches, type TableSource } from '../../../table';
import { Yielder } from '../../../util/event-loop';
import type { RowFacts } from '../holdout/row-facts';

/**
 * A digest of each row of a train set that has a target: equal for rows with equal features and an equal target.
 *
 * @param features read as these types, in this order
 * @param target as the table's profile has it: rows without one are left out where it is required
 */
export async function digestRows(
  source: TableSource,
  features: readonly Column[],
  target: Column,
  facts: Pick<RowFacts, 'rows' | 'task' | 'codes' | 'classes' | 'values'>,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  const all = new Float64Array(facts.rows);
  const yielder = new Yielder();
  let first = 0;
  for await (const batch of readBatches(source, [...features, target], { signal })) {
    const digests = await digestsOf(batch.rows, batch.columns.slice(0, features.length), yielder);
    addTarget(facts, first, digests);
    for (let row = 0; row < batch.rows; row++) {
      all[first + row] = digests.of(row);
    }
    first += batch.rows;
  }
  return all;
}

/** Digests of some cells of each row of a batch. */
export async function digestsOf(
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
      column.values.forEach((value, row) => digests.addNumber(row, value));
      return;
    case 'boolean':
      column.values.forEach((value, row) => digests.add(row, value));
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
