/** `2025-01-01`, also with a time of day; `2025-01`; `21.11.2025`, `11/21/2025`. */
const DATE = /^(?:\d{4}-\d\d(?:-\d\d(?:[T ]\d\d:\d\d.*)?)?|\d\d?([./])\d\d?\1\d{4}(?: \d\d?:\d\d.*)?)$/;
const FEWEST = 3;

/** The names of a table that are dates, where they are three or more and most of its names; undefined where they are not. */
export function datesAmong(names: readonly string[]): string[] | undefined {
  const dates = names.filter((name) => DATE.test(name.trim()));
  return dates.length >= FEWEST && dates.length * 2 > names.length ? dates : undefined;
}

/** Says of the names of columns that they are dates. */
export function datesInHeader(dates: readonly string[]): string {
  return `The names of ${dates.length} columns are dates ("${dates[0]}", "${dates[1]}", …).`;
}
