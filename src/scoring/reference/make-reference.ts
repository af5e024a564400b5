import { quantileOf } from '../../metrics/regression';
import type { CategorySample, Column, NumberSample, TableSample } from '../../table';
import { Yielder } from '../../util/event-loop';
import { driftOfCategories, driftOfNumbers, type RowOrder } from './make-drift';
import type { DriftReference, Reference, Usual } from './types';

/** Characters of all category names of a column: more are no categories but texts. */
const MAX_NAMES = 50_000;
/** A column with more different values than this holds ids or texts where they are more than half as many as rows. */
const MAX_ID_VALUES = 20;

/**
 * What is kept of a train set.
 *
 * @param sample of these columns, as `sampleChoice` chose it
 * @param inTime the rows follow each other in time
 */
export async function referenceOf(
  columns: readonly Column[],
  sample: TableSample,
  inTime: boolean,
): Promise<Reference> {
  const yielder = new Yielder();
  const usual: Usual[] = [];
  const drift: DriftReference[] = [];
  const { rows: trained } = sample;
  const orderOf = (measured: number): RowOrder =>
    inTime ? (measured === trained ? 'whole' : 'windows') : 'none';
  for (const column of sample.columns) {
    if (column.kind === 'number') {
      const sorted = column.values.filter((value) => Number.isFinite(value)).sort();
      usual.push(usualNumber(column, sorted, trained));
      drift.push(driftOfNumbers(column.values, sorted, orderOf(column.values.length)));
    } else {
      usual.push(usualCategory(column, trained));
      drift.push(driftOfCategories(column, orderOf(column.codes.length)));
    }
    await yielder.due();
  }
  const rows = sample.columns[0]?.cells.map((_, row) => sample.columns.map(({ cells }) => cells[row]!)) ?? [];
  return { columns: [...columns], rows, usual, drift };
}

function usualNumber({ missing, min, max }: NumberSample, sorted: Float64Array, rows: number): Usual {
  const quantile = (level: number): number => (sorted.length > 0 ? quantileOf(sorted, level) : 0);
  return {
    kind: 'number',
    q05: quantile(0.05),
    q10: quantile(0.1),
    median: quantile(0.5),
    q90: quantile(0.9),
    q95: quantile(0.95),
    min: Number.isNaN(min) ? 0 : min,
    max: Number.isNaN(max) ? 0 : max,
    missing: missing / Math.max(1, rows),
  };
}

function usualCategory({ categories, counts, complete, missing }: CategorySample, rows: number): Usual {
  const order = categories.map((_, at) => at).sort((a, b) => counts[b]! - counts[a]! || a - b);
  const isId = !complete || (categories.length > MAX_ID_VALUES && categories.length * 2 > rows - missing);
  let room = MAX_NAMES;
  const kept = order.map((at) => categories[at]!).filter((label) => (room -= String(label).length) >= 0);
  return {
    kind: 'category',
    categories: isId ? kept.slice(0, MAX_ID_VALUES) : kept,
    complete: !isId && kept.length === categories.length,
    missing: missing / Math.max(1, rows),
  };
}
