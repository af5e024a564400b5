import { LEVELS, quantileOf } from '../../metrics/regression';
import type { Label, TableSample } from '../../table';
import { sortedCopy } from '../../util/sort';
import type { Task } from '../../wire/types';
import type { UsualNumbers, UsualTarget } from '../reference/types';

/** The mean and the quantiles of a target. @param values none of them NaN, at least one */
export async function usualNumbers(values: Float64Array): Promise<UsualNumbers> {
  const sorted = await sortedCopy(values);
  return {
    kind: 'numbers',
    mean: values.reduce((sum, value) => sum + value / values.length, 0),
    quantiles: LEVELS.map((level) => quantileOf(sorted, level)),
  };
}

/**
 * The same of a sample of a target: counts of text are of all rows, those of numbers and their quantiles of at most
 * 10,000. Undefined where it has more classes than are counted.
 */
export async function usualOfSample(
  target: TableSample['columns'][number],
  task: Task,
): Promise<UsualTarget | undefined> {
  if (target.kind === 'category') {
    const { categories: labels, counts, complete } = target;
    return task === 'classification' && complete ? { kind: 'classes', labels, counts } : undefined;
  }
  const values = target.values.filter((value) => Number.isFinite(value));
  if (values.length === 0) {
    return undefined;
  }
  if (task === 'regression') {
    return usualNumbers(values);
  }
  const counts = new Map<Label, number>();
  // Whole numbers beyond 2^53 are labels with all of their digits, which only the cells have.
  const isLong = target.cells.some((cell) => typeof cell === 'string');
  for (const label of isLong ? target.cells : values) {
    if (label !== null) {
      counts.set(label, (counts.get(label) ?? 0) + 1);
    }
  }
  return { kind: 'classes', labels: [...counts.keys()], counts: [...counts.values()] };
}
