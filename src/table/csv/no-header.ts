/* Texts whose first line does not name the columns: the header stands further down, or nowhere. */

import { invalidTable, show } from '../cells/types';
import { DELIMITERS } from './delimiter';
import { type FirstLines, isBlank, isNumberText, isUnits, MAX_ABOVE } from './table-rows';

const WHOLE_LINE_END = /\r\n|\n|\r/;

/** Lines alike that must follow a header. */
export const ALIKE = 3;

export const isName = (field: string): boolean => !isBlank(field) && !isNumberText(field);

/** The fields of a line but for the empty ones at its end. */
export function filledFields(fields: readonly string[]): readonly string[] {
  return fields.slice(0, fields.findLastIndex((field) => !isBlank(field)) + 1);
}

/** Whether all lines are rows of so many fields at most, and whether a third of the columns that are filled are numbers. */
export function areMeasurements(lines: readonly (readonly string[])[], width: number): boolean {
  const rows = lines.filter((row) => row.length > 0);
  const filled = Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? '')).filter(
    (cells) => !cells.every(isBlank),
  );
  const numbers = filled.filter((cells) => cells.every((cell) => isBlank(cell) || isNumberText(cell)));
  return (
    rows.length >= ALIKE &&
    rows.every((row) => row.length > 1 && row.length <= width) &&
    numbers.length > 0 &&
    numbers.length * 3 >= filled.length
  );
}

function beginsLater(width: number, lines: readonly string[], at: number, skipped: number): Error {
  return invalidTable(
    `The first line names ${width === 1 ? 'one column' : `${width} columns`}, but the table seems to begin in line ${at + skipped + 1} (${show(lines[at])}). Remove the lines before it: the first line must hold the names of the columns.`,
  );
}

/** `table.invalid` that names the line of the header, where other text stands before it; undefined where none does. */
export function preambleError(head: string, found: string, skipped: number): Error | undefined {
  const lines = head.split(WHOLE_LINE_END, MAX_ABOVE + ALIKE);
  const own = lines.map((line) => line.split(found).length);
  const headers = DELIMITERS.map((delimiter) => headerLine(lines, delimiter));
  const [header] = headers.sort(
    (a, b) => Number(b.isFollowedByNumbers) - Number(a.isFollowedByNumbers) || b.width - a.width,
  );
  const fits = own.filter((width) => width === own[0]).length * 2 > own.length;
  if (header!.at <= 0 || (fits && !header!.isFollowedByNumbers)) {
    // Where the first line fits the others, some row further down does not.
    return undefined;
  }
  return beginsLater(own[0]!, lines, header!.at, skipped);
}

/**
 * The first line that can be a header with this delimiter, from 0, one above numbers where there is any, and its columns;
 * -1 where none can.
 */
function headerLine(
  lines: readonly string[],
  delimiter: string,
): { at: number; width: number; isFollowedByNumbers: boolean } {
  const rows = lines.map((line) => line.split(delimiter));
  const rowsBelow = (at: number): string[][] =>
    rows.slice(at + (isUnits(rows[at + 1] ?? []) ? 2 : 1)).slice(0, ALIKE);
  const isHeader = (at: number, isRow: (row: string[], header: string[]) => boolean): boolean =>
    rows[at]!.length > 1 &&
    rows[at]!.every(isName) &&
    rowsBelow(at).filter((row) => isRow(row, rows[at]!)).length === ALIKE;
  // The last of the columns may be for remarks, and be left out of the rows.
  const found = rows.flatMap((_, at) =>
    isHeader(
      at,
      (row, header) =>
        row.length === rowsBelow(at)[0]!.length &&
        row.length > 1 &&
        row.length <= header.length &&
        row.some(isNumberText),
    )
      ? [at]
      : [],
  );
  // Of several, as of a table of months above one of hours, the one with most rows.
  const above = found.sort((a, b) => rowsAlike(rows, b) - rowsAlike(rows, a) || a - b)[0] ?? -1;
  const at =
    above >= 0
      ? above
      : rows.findIndex((_, line) => isHeader(line, (row, header) => row.length === header.length));
  return { at, width: rows[at]?.length ?? 0, isFollowedByNumbers: above >= 0 };
}

/** How many lines below a header have as many fields as the first of them. */
function rowsAlike(rows: readonly (readonly string[])[], header: number): number {
  const below = rows.slice(header + 1);
  const end = below.findIndex((row) => row.length !== below[0]!.length);
  return end < 0 ? below.length : end;
}

/** Lines that are looked at. */
const SAMPLE_ROWS = 50;
/** Fields of a line that show that it is a row, where no line names them. */
const MANY_FIELDS = 5;
/** Lines that must be alike, and characters at their beginning, so many of them digits, that show a row in the first line. */
const ALIKE_LINES = 5;
const ALIKE_CHARACTERS = 20;
const ALIKE_DIGITS = 8;
/** Blanks that stand at the same place in all lines. */
const GUTTER = 2;

/** Lines of dashes under names, as `sqlcmd` draws them. */
const DASHES = /^ *-{2,}(?: +-{2,})+ *$/;

/**
 * Files of weather services without a sign between their fields, and where the same data are with one.
 * https://www.ncei.noaa.gov/pub/data/ghcn/daily/readme.txt (section III),
 * https://www.ncei.noaa.gov/data/global-hourly/doc/isd-format-document.pdf (control data section)
 */
const KNOWN = [
  {
    line: /^[A-Z]{2}[A-Z0-9-]{9}\d{6}[A-Z]{3}[A-Z0-9][ \d-]{5}/,
    name: 'GHCN daily (.dly)',
    instead: 'NCEI has the same data as CSV, in the folder "access" of GHCN daily, a file for each station.',
  },
  {
    line: /^\d{4}[A-Z0-9]{6}\d{17}[0-9A-Z][+-]\d{5}[+-]\d{6}/,
    name: 'the Integrated Surface Database (ISD)',
    instead: 'NCEI has the same data as CSV, under "global-hourly", a file for each station and year.',
  },
];

/**
 * `table.invalid` for lines that no line names the columns of: what would else be one column of text, or names that are
 * values. Undefined for any other text.
 *
 * @param names how many the first line gives, read with the delimiter that was found; 1 where the lines are not even so
 * @param skipped lines of the file before these
 * @param isUneven the lines have not as many fields as the first: rows may begin below it
 */
export function noHeaderError(
  head: FirstLines,
  names: number,
  skipped: number,
  isUneven: boolean,
): Error | undefined {
  const filled = head.lines.slice(0, SAMPLE_ROWS).filter((line) => line.trim() !== '');
  const [first = '', second = ''] = filled;
  const known = KNOWN.find(({ line }) => filled.length > 0 && filled.every((one) => line.test(one)));
  if (known !== undefined) {
    return fixedWidth(first, `of ${known.name}, `, known.instead);
  }
  const areMany = filled.length >= ALIKE_LINES;
  if (areMany && beginAlike(filled)) {
    return namelessRows(head, 0, skipped, names > 1);
  }
  if (names === 1 && (DASHES.test(second) || (areMany && haveGutter(filled)))) {
    return fixedWidth(first);
  }
  const rows = isUneven ? rowsBelow(head) : undefined;
  return rows && namelessRows(head, rows.at, skipped, rows.delimiter !== ' ');
}

function fixedWidth(
  first: string,
  known = '',
  instead = 'Save it as CSV, or cut each line at these places and write commas between, below a line with the names of the columns.',
): Error {
  return invalidTable(
    `The lines of the text (${show(first)}) seem to be ${known}of fixed width: their fields are told by their places alone, with no sign between them. ${instead}`,
  );
}

/** @param at the first row, from 0 */
function namelessRows(head: FirstLines, at: number, skipped: number, areParted: boolean): Error {
  const above = at + (at === 0 ? 0 : skipped);
  const place =
    above === 0 ? 'above it' : `in place of the ${above === 1 ? 'line' : `${above} lines`} above it`;
  return invalidTable(
    `Line ${at + skipped + 1} (${show(head.lines[at]?.trim())}) is a row, and no line names the columns. Write a line with a name for each field ${place}${areParted ? '' : ', and a sign such as a comma between the fields of each line'}.`,
  );
}

/** Where rows of numbers begin below other lines, from 0, as in files of weather services (EPW, SURFRAD); undefined for no such text. */
function rowsBelow(head: FirstLines): { at: number; delimiter: string } | undefined {
  const lines = head.lines.slice(0, MAX_ABOVE);
  const last = lines.findLastIndex((line) => !isBlank(line));
  for (const delimiter of [...DELIMITERS, ' ']) {
    const rows =
      delimiter === ' '
        ? lines.slice(0, last + 1).map((line) => line.trim().split(/\s+/))
        : head.rows(delimiter, last + 1).map(filledFields);
    const width = rows.at(-1)?.length ?? 0;
    const at = rows.findLastIndex((row) => row.length !== width) + 1;
    // A line of several names right above the rows is a header that lacks some.
    const isShort = at === 1 && rows[0]!.length > 1 && !rows[0]!.some(isNumberText);
    if (at > 0 && !isShort && width >= MANY_FIELDS && areMeasurements(rows.slice(at), width)) {
      return { at, delimiter };
    }
  }
  return undefined;
}

/** Whether the first line begins as all others do, with letters, digits and signs at the same places, many of them digits. */
function beginAlike(lines: readonly string[]): boolean {
  const [first, ...rest] = lines.map((line) =>
    line.slice(0, ALIKE_CHARACTERS).replace(/\d/g, '0').replace(/\p{L}/gu, 'a').replace(/[+-]/g, '-'),
  );
  return (
    first!.length === ALIKE_CHARACTERS &&
    first!.split('0').length > ALIKE_DIGITS &&
    rest.every((line) => line === first)
  );
}

/** Whether all lines have blanks at the same place, with something on both sides. */
function haveGutter(lines: readonly string[]): boolean {
  const width = Math.max(...lines.map((line) => line.trimEnd().length));
  let blanks = 0;
  for (let at = lines[0]!.search(/\S/) + 1; at < width; at++) {
    const isBlankIn = lines.every((line) => (line[at] ?? ' ') === ' ');
    const isBetween = (): boolean =>
      lines.every((line) => line.slice(0, at).trim() !== '' && line.slice(at).trim() !== '');
    if (!isBlankIn && blanks >= GUTTER && isBetween()) {
      return true;
    }
    blanks = isBlankIn ? blanks + 1 : 0;
  }
  return false;
}
