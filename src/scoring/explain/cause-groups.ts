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
