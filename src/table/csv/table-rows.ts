import { isAbsent } from '../cells/classify';
import { parseNumber } from '../cells/parse-number';
import { invalidTable, show } from '../cells/types';
import { showEscapes } from './escapes';

/** What a field with delimiters or line ends stands in. */
export type Quote = '"' | "'";

/** What a text file shows of itself before it is read, beside what parts its fields. */
export interface CsvForm {
  delimiter: string;
  /** What fields with delimiters stand in: a double quote where it is left out. */
  quote?: Quote;
  /** Each row begins with a field more than the header has names, as R writes row names. */
  hasRowNames?: boolean;
  /** The first field of each line is for the annotations of InfluxDB: `#datatype` and its like begin lines that are no rows. */
  isAnnotated?: boolean;
  /** Lines are drawn around the fields, as databases and SAP print tables: `isRule` tells which are no rows. */
  isDrawn?: boolean;
  /** Lines that name the columns together; one where it is left out. */
  headerLines?: number;
  /** Lines under the header that name the units of the columns. */
  unitLines?: number;
  /** Spaces stand before fields in quotes. */
  isPadded?: boolean;
  /** Quotes and delimiters within text have a backslash before them, and are hidden by `hideEscapes`. */
  isEscaped?: boolean;
  /** A row of fewer fields than the header is an error, rather than one whose last cells are missing. */
  isStrict?: boolean;
}

/** Of a drawn table, a line of nothing but dashes and what they cross. */
function isRule(line: string): boolean {
  return /^[\s|+:=-]*$/.test(line) && /---|===/.test(line);
}

/** Takes the lines of a text file for the header and the rows of a table, and leaves out what is neither. */
export class TableRows {
  /** Lines that were the header again, as in files that were joined. */
  repeated = 0;
  /** Lines that were cut off before NUL bytes, which a computer without power leaves in a log. */
  torn = 0;
  /** The first line came behind NUL bytes. */
  nulsAbove = false;
  /** Rows of fewer fields than the header, and the first of them, from 1. */
  short = 0;
  firstShort = 0;
  /** Lines above, between and below the rows of a drawn table that are none of them, and the first of these. */
  aside = 0;
  firstAside = '';
  /** Lines that a tool wrote to end or to count the rows, and the first of them. */
  footers = 0;
  firstFooter = '';
  /** The first text that stood in the shell of a formula: `="001"`. */
  shell = '';
  /** The line that names the units. */
  units: readonly string[] | undefined;
  private header: readonly string[] | undefined;
  /** The first of several lines of the header. */
  private readonly above: string[][] = [];
  private isDashed = false;
  /** Lines under the header that were looked at. */
  private below = 0;
  /** Lines of a drawn table begin and end with a line. */
  private isFramed = false;
  /** Names that are all numbers may be those of a row as well. */
  private isOfNumbers = false;

  constructor(private readonly form: CsvForm) {}

  get isPadded(): boolean {
    return this.form.isPadded === true;
  }

  /** Fields of the header. */
  get width(): number | undefined {
    return this.header?.length;
  }

  /** The fields of a line as the table has them, the header first; undefined for a line that is none of its rows. */
  take(line: string[], mayHaveNuls: boolean, mayHaveShells = false): string[] | undefined {
    if (this.form.isEscaped === true || mayHaveShells) {
      for (const [i, field] of line.entries()) {
        line[i] = this.bare(field);
      }
    }
    const own = mayHaveNuls ? this.afterNuls(line) : line;
    const row = this.form.isDrawn === true ? this.drawnRow(own) : this.withoutAnnotation(own);
    if (row === undefined) {
      return undefined;
    }
    if (this.header === undefined) {
      const { headerLines = 1, hasRowNames } = this.form;
      this.above.push(row);
      if (this.above.length < headerLines) {
        return undefined;
      }
      const own = headerLines > 1 ? joinedNames(this.above) : row;
      const names = hasRowNames === true ? ['', ...own] : own;
      this.header = names;
      this.isOfNumbers = names.every((name) => Number.isFinite(parseNumber(name, true)));
      return names.slice();
    }
    if (this.isOfTool(row)) {
      return undefined;
    }
    if (
      !this.isOfNumbers &&
      row.length > 1 &&
      row.length === this.header.length &&
      row.every((field, i) => field === this.header![i])
    ) {
      this.repeated++;
      return undefined;
    }
    return row;
  }

  /**
   * Fills a row up that has too few fields, with empty ones; false where that is an error.
   * @param number of the row, from 1
   */
  complete(row: string[], width: number, number: number): boolean {
    if (row.length >= width || this.form.isStrict === true) {
      return row.length === width;
    }
    this.firstShort ||= number;
    this.short++;
    while (row.length < width) {
      row.push('');
    }
    return true;
  }

  /** A field without what only marks it as text: backslashes before quotes, and the shell of a formula. */
  private bare(field: string): string {
    const text = this.form.isEscaped === true ? showEscapes(field, this.form.delimiter) : field;
    const inner = text.startsWith('="') ? SHELL.exec(text)?.[1]?.replaceAll('""', '"') : undefined;
    if (inner !== undefined && !NUMBER.test(inner)) {
      this.shell ||= text;
    }
    return inner ?? text;
  }

  /** Whether a line below the header is no row, but one of the tool that wrote the table. */
  private isOfTool(row: readonly string[]): boolean {
    const { unitLines = 0 } = this.form;
    const below = this.below++;
    if (below < unitLines) {
      this.units ??= row;
      return true;
    }
    if (below === 0 && isDashes(row)) {
      this.isDashed = true;
      return true;
    }
    if (!isFooter(row, this.isDashed)) {
      return false;
    }
    this.footers++;
    this.firstFooter ||= row.join(this.form.delimiter).trim();
    return true;
  }

  /** The fields of a line of a drawn table, without what is drawn; undefined where it is no row. */
  private drawnRow(line: string[] | undefined): string[] | undefined {
    if (line === undefined || line.every((field) => field.trim() === '' || isRule(field))) {
      return undefined;
    }
    if (line.length === 1) {
      this.aside++;
      this.firstAside ||= line[0]!.trim();
      return undefined;
    }
    const fields = line.map((field) => field.trim());
    if (this.header === undefined) {
      this.isFramed = fields[0] === '' && fields.at(-1) === '';
    }
    return this.isFramed ? fields.slice(1, fields.at(-1) === '' ? -1 : undefined) : fields;
  }

  private withoutAnnotation(row: string[] | undefined): string[] | undefined {
    const [mark = ''] = row ?? [];
    if (row === undefined || this.form.isAnnotated !== true || (mark !== '' && !mark.startsWith('#'))) {
      return row;
    }
    return mark === '' && row.length > 1 ? row.slice(1) : undefined;
  }

  /**
   * What follows the last NUL of a line; undefined where that is no row of the table. NULs behind a field are padding, as
   * programs with fields of fixed width leave it.
   */
  private afterNuls(line: string[]): string[] | undefined {
    const last = line.findLastIndex((field) => field.includes('\0'));
    if (last < 0) {
      return line;
    }
    if (line.slice(0, -1).some((field) => PADDED.test(field)) && this.fits(line)) {
      const fields = line.map((field) => field.replace(PADDED, '$1'));
      if (!fields.some((field) => field.includes('\0'))) {
        return fields;
      }
    }
    const field = line[last]!;
    const row = [field.slice(field.lastIndexOf('\0') + 1), ...line.slice(last + 1)];
    const before = [...line.slice(0, last), field.slice(0, field.indexOf('\0'))];
    const isTorn = before.some((part) => part.trim() !== '');
    const isFilled = row.some((part) => part.trim() !== '');
    if (this.header === undefined) {
      if (isTorn) {
        throw invalidTable(
          `The text has NUL bytes behind ${show(before.join(this.form.delimiter))}, as a computer without power leaves them: the names of the columns are torn. Remove what stands before the line with the names.`,
        );
      }
      this.nulsAbove ||= isFilled;
      return isFilled ? row : undefined;
    }
    this.torn += isTorn ? 1 : 0;
    return isFilled && this.fits(row) ? row : undefined;
  }

  private fits(row: readonly string[]): boolean {
    return row.length === this.header?.length;
  }
}

/** What spreadsheets read as the text within, so that it keeps its zeros: `="001"`. */
const SHELL = /^="((?:[^"]|"")*)"$/;
/** What is the same number with or without a shell. */
const NUMBER = /^[+-]?(?!0\d)[\d.,]+$/;

/** A field with NULs behind it. */
const PADDED = /^([^\0]+)\0+$/;

/** Lines that name the columns together, maybe below a title. */
interface HeaderLines extends Title {
  /** Lines of the header. */
  count: number;
}

const LINE_END = /\r\n|\n|\r/;
/** Lines in which the first row is looked for, and rows that are looked at. */
export const MAX_ABOVE = 60;
const ROWS = 50;
const MIN_ROWS = 2;
const MAX_LINES = 8;

export const isNumberText = (field: string): boolean => Number.isFinite(parseNumber(field, true));
export const isBlank = (field: string): boolean => field.trim() === '';

/** What stands between the fields of a drawn table. */
export const DRAWN = '|';

/**
 * Whether a table is drawn with lines and dashes, as databases, SAP and Markdown show them: a line of dashes stands beside
 * the header, and all lines with upright lines have as many.
 */
export function isDrawnTable(head: FirstLines): boolean {
  const lines = head.lines.slice(0, MAX_ABOVE);
  const rows = lines.filter((line) => line.includes(DRAWN) && !isRule(line));
  const header = lines.indexOf(rows[0] ?? '');
  const width = rows[0]?.split(DRAWN).length;
  return (
    rows.length > 1 &&
    isRule(lines[header + 1] ?? '') &&
    // Such a table may be text in a cell of another.
    !lines.slice(0, header + 1).some((line) => line.includes('"')) &&
    rows.every((line) => line.split(DRAWN).length === width)
  );
}

/**
 * The lines of a header of several, as pivot tables and loggers with several devices write them: names above names, of
 * which no line alone tells the columns apart. Undefined where a table has no such header.
 * https://github.com/pandas-dev/pandas/blob/main/pandas/tests/io/parser/test_header.py (multi_index),
 * https://github.com/SBFspot/SBFspot/blob/master/SBFspot/CSVexport.cpp (SMA)
 */
export function headerLines(head: FirstLines, delimiters: readonly string[]): HeaderLines | undefined {
  for (const delimiter of delimiters) {
    const rows = head.rows(delimiter);
    const at = rows.findIndex((row) => row.length > 1 && !isBlank(row[0]!) && row.some(isNumberText));
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
    return { count: header.length, ...head.above(top, delimiter) };
  }
  return undefined;
}

/** Whether lines name the columns together: the first alone does not, and none has the values of a row. */
function areNames(header: readonly (readonly string[])[], rows: readonly (readonly string[])[]): boolean {
  const columns = rows[0]!.flatMap((_, i) => (rows.every((row) => isBlank(row[i]!)) ? [] : i));
  const alone = columns.map((i) => header[0]![i]!.trim());
  const numbers = columns.filter((i) => rows.every((row) => isBlank(row[i]!) || isNumberText(row[i]!)));
  const names = joinedNames(header);
  const own = columns.map((i) => names[i]!);
  return (
    new Set(alone).size < alone.length &&
    // A title beside empty fields names no columns.
    alone.filter((name) => name !== '').length > 1 &&
    new Set(own).size === own.length &&
    own.slice(1).every((name) => name !== '') &&
    numbers.length > 0 &&
    numbers.every((i) => header.some((line) => !isBlank(line[i]!) && !isNumberText(line[i]!)))
  );
}

/**
 * The names of columns that stand in several lines, such as `Sensor A Temp`: a cell that is empty goes on with the one at
 * its left, and what is the same for all columns, or a number, is left out.
 */
function joinedNames(header: readonly (readonly string[])[]): string[] {
  const lines = header.map((line) => line.map((field) => field.trim()));
  const last = lines.at(-1)!;
  const filled = lines.map((line, at) =>
    at === lines.length - 1
      ? line
      : line.map((field, i) => (field === '' ? joinRest(line, i, lines) : field)),
  );
  const telling = filled.filter((line, at) => {
    const named = line.slice(1).filter((field) => field !== '');
    return at === filled.length - 1 || (new Set(named).size > 1 && !named.every(isNumberText));
  });
  return last.map((_, i) => {
    const parts = telling.map((line) => line[i]!).filter((part) => part !== '');
    const own = i === 0 && parts.length === 0 ? lines.map((line) => line[0]!) : parts;
    return [...new Set(own)].join(' ').trim();
  });
}

/** The nearest cell at the left of an empty one, as cells that were merged have it; none of a column that is named by itself. */
function joinRest(line: readonly string[], i: number, lines: readonly (readonly string[])[]): string {
  const isEmpty = lines.every((other) => other[i] === '');
  const from = line.findLastIndex((field, at) => at < i && field !== '');
  const below = lines[lines.indexOf(line) + 1];
  return isEmpty || from < 1 || below?.[from] === '' || below?.[i] === '' ? '' : line[from]!;
}

const QUOTED = /^\s*"((?:[^"]|"")*)"\s*$/;

/** The fields of a line, where a field in quotes may hold the delimiter. */
function lineFields(line: string, delimiter: string): string[] {
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

/** Lines above the table that are no part of it. */
export interface Title {
  delimiter: string;
  lines: number;
  /** Their characters. */
  length: number;
  first: string;
}

/** The first lines of a text, which each delimiter parts once for all that is looked for in them. */
export class FirstLines {
  readonly lines: readonly string[];
  private readonly parted = new Map<string, readonly string[][]>();

  /** @param isAll whether the text is all of it: otherwise its last line may go on */
  constructor(
    readonly text: string,
    readonly isAll: boolean,
  ) {
    const lines = text.split(LINE_END, MAX_ABOVE + ROWS);
    this.lines = isAll || lines.length === MAX_ABOVE + ROWS ? lines : lines.slice(0, -1);
  }

  /** The fields of the first `count` lines. */
  rows(delimiter: string, count = MAX_ABOVE + ROWS): readonly string[][] {
    const rows = this.parted.get(delimiter) ?? this.lines.map((line) => lineFields(line, delimiter));
    this.parted.set(delimiter, rows);
    return rows.slice(0, count);
  }

  /** All above the line `at`, from 0, as no part of the table. */
  above(at: number, delimiter: string): Title {
    const first = this.lines.find((line) => !isBlank(line))!;
    return { delimiter, lines: at, length: startOfLine(this.text, at), first };
  }
}

/** Where a line begins in a text. */
export function startOfLine(text: string, line: number): number {
  const ends = /\r\n|\n|\r/g;
  for (let left = line; left > 0; left--) {
    ends.exec(text);
  }
  return ends.lastIndex;
}

/*
 * Lines that measuring devices and tools write into their tables beside the header and the rows.
 */

/** A first line that tells of the file: DATEV (its header format), and Campbell Scientific (TOA5). */
const FILE_LINE = /^"?(?:(?:EXTF|DTVF)"?;\d|TOA5",)[^\r\n]*(?:\r\n|\n|\r)/;

/** Rows that Campbell Scientific writes under the header: the units, and how the values were taken. */
const ROWS_OF_TOA5 = 2;

/** The line above the header that tells of the file; empty where there is none. */
export function fileLine(text: string): string {
  return FILE_LINE.exec(text)?.[0] ?? '';
}

/**
 * How many lines under the header name the units of the columns, as oscilloscopes and loggers write them.
 *
 * @param columns the first rows, those lines among them
 * @param line what `fileLine` has found
 */
export function linesOfUnits(columns: readonly (readonly string[])[], line: string): number {
  if (line.startsWith('"TOA5')) {
    return ROWS_OF_TOA5;
  }
  const first = columns.map(([cell = '']) => cell);
  if (first.length > 1 && first.every((cell) => RDB_FORMAT.test(cell))) {
    return 1;
  }
  const numbers = columns.filter(
    ([, ...cells]) =>
      cells.some(isNumberText) && cells.every((cell) => isNothing(cell) || isNumberText(cell)),
  );
  const units = numbers.filter(([unit]) => UNIT.test(unit!.trim()));
  // The first column may count the rows: `Sequence`.
  const isAll = numbers.every(([unit], i) => UNIT.test(unit!.trim()) || (i === 0 && !isNumberText(unit!)));
  return units.length > 0 && isAll ? 1 : 0;
}

/** Width and kind of a column, as the water data of the USGS have it under their header (RDB). https://github.com/duckdb/duckdb/issues/7896 */
const RDB_FORMAT = /^\d+[sdn]$/;

const UNIT =
  /^[([]?(?:[µumkMG]?(?:V|A|W|Wh|VA|var|Hz|s|g|m|N|J|Pa|bar|l|L|Ω|Ohm)|volts?|amp(?:ere)?s?|watts?|sec(?:ond)?s?|min(?:ute)?s?|h|hours?|[°º]\s?[CF]|deg(?:\s?[CF])?|degrees?|[CFK]|%|%RH|rpm|1\/min|rad|ppm|lx|lux|dB|psi|hPa|mm|cm|km|m\/s|m\/s[2²]|km\/h|l\/min|m[3³]|m[3³]\/h|W\/m[2²])[)\]]?$/i;

/** Whether a line under a header names units. The first column may have none: what it holds is told in words. */
export function isUnits(row: readonly string[]): boolean {
  const isUnit = (field: string): boolean => UNIT.test(field.trim());
  return (
    row.some(isUnit) &&
    row.every((field, i) => isNothing(field) || isUnit(field) || (i === 0 && !isNumberText(field)))
  );
}

const isNothing = (field: string): boolean => field.trim() === '' || isAbsent(field);

/** Whether a row is a line of dashes under the header, as the tools of a database draw it. */
function isDashes(row: readonly string[]): boolean {
  return (
    row.length > 1 &&
    row.every((field) => /^\s*-+\s*$/.test(field)) &&
    row.some((field) => field.includes('--'))
  );
}

/** Whether a row ends or counts the rows of a table: of SIMATIC HMI and WinCC, and of databases under a line of dashes. */
function isFooter(row: readonly string[], isDashed: boolean): boolean {
  const [first = '', ...rest] = row;
  if (first.startsWith('//END') || first.startsWith('$RT_')) {
    return first.startsWith('$') || rest.every((field) => field.trim() === '');
  }
  return isDashed && /^\(\d+ [^()]+\)$/.test(row.join(' ').trim());
}
