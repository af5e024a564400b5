/** Each row of a series node has this column. */
export const SINCE_BEFORE = 'seconds since the reading before';

const LESS_NOW = /^(.+) (?:(?:mean|lowest|highest) \d+(?:ms|[smhdw])|a (?:day|week) before|usual now)$/u;

/** Whether a column of a series node's rows is told less the current value of its sensor. */
export function isLessNow(name: string, columns: readonly string[]): boolean {
  const sensor = LESS_NOW.exec(name)?.[1];
  return sensor !== undefined && columns.includes(sensor) && columns.includes(SINCE_BEFORE);
}
