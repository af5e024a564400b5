import type { ModelCard } from '../types';

/*
 * Columns of one sensor, as tabular-series names them: `vibration`, `vibration mean 1h`, `vibration a day before`
 * (docs/series.md). They count as one cause.
 */
const WINDOW = /^(.+) (?:change|mean|spread|lowest|highest|changes) \d+(?:ms|[smhdw])$/u;
const STATE = /^(.+?) (?:for|(?:change )?a (?:day|week) before|usual (?:now|change))$/u;

/** The causes of more than one column, by name: columns of a sensor whose own column is there too. */
export function causeGroups(columns: readonly { name: string }[]): Record<string, string[]> {
  const names = new Set(columns.map(({ name }) => name));
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const sensor = (WINDOW.exec(name) ?? STATE.exec(name))?.[1];
    if (sensor !== undefined && names.has(sensor)) {
      const group = groups.get(sensor) ?? [sensor];
      group.push(name);
      groups.set(sensor, group);
    }
  }
  return Object.fromEntries(groups);
}

/** How much each sensor matters, with all its columns: the most important first. What is below 0 is chance. */
export function importanceBySensor({
  columns,
  importance = [],
}: Pick<ModelCard, 'columns' | 'importance'>): [sensor: string, value: number][] {
  const groups = Object.entries(causeGroups(columns));
  const sensorOf = new Map(groups.flatMap(([sensor, names]) => names.map((name) => [name, sensor])));
  const sums = new Map<string, number>();
  for (const { column, permutation } of importance) {
    const sensor = sensorOf.get(column) ?? column;
    sums.set(sensor, (sums.get(sensor) ?? 0) + Math.max(0, permutation));
  }
  return [...sums].sort((a, b) => b[1] - a[1]);
}
