import { parseNumber } from '../cells/parse-number';

/** Lines that name the columns together, maybe below a title. */
export interface HeaderLines {
  delimiter: string;
  /** Lines of the header. */
  count: number;
  /** Lines above it, and their characters. */
  lines: number;
  length: number;
  first: string;
}

const LINE_END = /\r\n|\n|\r/;
/** Lines in which the first row is looked for, and rows that are looked at. */
const MAX_ABOVE = 60;
const ROWS = 50;
const MIN_ROWS = 2;
const MAX_LINES = 8;

const isNumber = (field: string): boolean => Number.isFinite(parseNumber(field, true));
const isBlank = (field: string): boolean => field.trim() === '';

/**
 * The lines of a header of several, as pivot tables and loggers with several devices write them: names above names, of
 * which no line alone tells the columns apart. Undefined where a table has no such header.
 * https://github.com/pandas-dev/pandas/blob/main/pandas/tests/io/parser/test_header.py (multi_index),
 * https://github.com/SBFspot/SBFspot/blob/master/SBFspot/CSVexport.cpp (SMA)
 */
export function headerLines(
  text: string,
  isAll: boolean,
  delimiters: readonly string[],
): HeaderLines | undefined {
  const lines = text.split(LINE_END, MAX_ABOVE + ROWS);
  if (!isAll && lines.length < MAX_ABOVE + ROWS) {
    lines.pop();
  }
  for (const delimiter of delimiters) {
    const rows = lines.map((line) => lineFields(line, delimiter));
    const at = rows.findIndex((row) => row.length > 1 && !isBlank(row[0]!) && row.some(isNumber));
    const width = rows[at]?.length;
    const below = at < 2 ? [] : rows.slice(at).filter((row) => row.length > 1 || !isBlank(row[0]!));
    if (below.length < MIN_ROWS || below.some((row) => row.length !== width)) {
      continue;
    }
    let top = at;
    while (top > 0 && rows[top - 1]!.length === width) {
      top--;
    }
    const header = rows.slice(top, at);
    const isTitled = rows.slice(0, top).every((row) => row.length === 1);
    if (header.length < 2 || header.length > MAX_LINES || !isTitled || !areNames(header, below)) {
      continue;
    }
    return {
      delimiter,
      count: header.length,
      lines: top,
      length: startOfLine(text, top),
      first: lines.find((line) => !isBlank(line))!,
    };
  }
  return undefined;
}

/** Whether lines name the columns together: the first alone does not, and none has the values of a row. */
function areNames(header: readonly (readonly string[])[], rows: readonly (readonly string[])[]): boolean {
  const columns = rows[0]!.flatMap((_, i) => (rows.every((row) => isBlank(row[i]!)) ? [] : i));
  const alone = columns.map((i) => header[0]![i]!.trim());
  const numbers = columns.filter((i) => rows.every((row) => isBlank(row[i]!) || isNumber(row[i]!)));
  const names = joinedNames(header);
  const own = columns.map((i) => names[i]!);
  return (
    new Set(alone).size < alone.length &&
    // A title beside empty fields names no columns.
    alone.filter((name) => name !== '').length > 1 &&
    new Set(own).size === own.length &&
    own.slice(1).every((name) => name !== '') &&
    numbers.length > 0 &&
    numbers.every((i) => header.some((line) => !isBlank(line[i]!) && !isNumber(line[i]!)))
  );
}

/**
 * The names of columns that stand in several lines, such as `Sensor A Temp`: a cell that is empty goes on with the one at
 * its left, and what is the same for all columns, or a number, is left out.
 */
export function joinedNames(header: readonly (readonly string[])[]): string[] {
  const lines = header.map((line) => line.map((field) => field.trim()));
  const last = lines.at(-1)!;
  const filled = lines.map((line, at) =>
    at === lines.length - 1 ? line : line.map((field, i) => (field === '' ? leftOf(line, i, lines) : field)),
  );
  const telling = filled.filter((line, at) => {
    const named = line.slice(1).filter((field) => field !== '');
    return at === filled.length - 1 || (new Set(named).size > 1 && !named.every(isNumber));
  });
  return last.map((_, i) => {
    const parts = telling.map((line) => line[i]!).filter((part) => part !== '');
    const own = i === 0 && parts.length === 0 ? lines.map((line) => line[0]!) : parts;
    return [...new Set(own)].join(' ').trim();
  });
}

/** The nearest cell at the left of an empty one, as cells that were merged have it; none of a column that is named by itself. */
function leftOf(line: readonly string[], i: number, lines: readonly (readonly string[])[]): string {
  const isEmpty = lines.every((other) => other[i] === '');
  const from = line.findLastIndex((field, at) => at < i && field !== '');
  const below = lines[lines.indexOf(line) + 1];
  return isEmpty || from < 1 || below?.[from] === '' || below?.[i] === '' ? '' : line[from]!;
}

const QUOTED = /^\s*"((?:[^"]|"")*)"\s*$/;

/** The fields of a line, where a field in quotes may hold the delimiter. */
export function lineFields(line: string, delimiter: string): string[] {
  if (!line.includes('"')) {
    return line.split(delimiter);
  }
  const fields: string[] = [];
  let field: string | undefined;
  for (const part of line.split(delimiter)) {
    field = field === undefined ? part : `${field}${delimiter}${part}`;
    if (field.split('"').length % 2 === 1) {
      fields.push(field.replace(QUOTED, '$1').replaceAll('""', '"'));
      field = undefined;
    }
  }
  return field === undefined ? fields : [...fields, field];
}

/** Where a line begins in a text. */
export function startOfLine(text: string, line: number): number {
  const ends = /\r\n|\n|\r/g;
  for (let left = line; left > 0; left--) {
    ends.exec(text);
  }
  return ends.lastIndex;
}
