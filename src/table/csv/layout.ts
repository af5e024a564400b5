import { invalidTable, show } from '../cells/types';
import {
  DELIMITERS,
  findDelimiter,
  hasRowNames,
  headerMark,
  paddedQuotes,
  quotedCells,
  quotedHeader,
  SINGLE,
  takeSample,
  tryDelimiter,
} from './delimiter';
import { hideEscapes, mayBeEscaped } from './escapes';
import { ALIKE, areMeasurements, filledFields, isName, noHeaderError, preambleError } from './no-header';
import { CsvParser } from './parser';
import {
  type CsvForm,
  DRAWN,
  fileLine,
  FirstLines,
  headerLines,
  isBlank,
  isDrawnTable,
  isNumberText,
  isUnits,
  linesOfUnits,
  MAX_ABOVE,
  startOfLine,
  TableRows,
  type Title,
} from './table-rows';

const LINE_END = /[\r\n]/;
const WHOLE_LINE_END = /\r\n|\n|\r/;

/** How a text is laid out: where its table begins, in characters, what parts its fields, and what people are told of it. */
export interface Layout {
  begin: number;
  /** The line of the header, from 1. */
  line: number;
  form: CsvForm;
  /** The fields of the header; undefined where its line does not end. */
  names: readonly string[] | undefined;
  warnings: string[];
}

/**
 * Finds the delimiter, what stands above the header, and what the lines are.
 *
 * @param head the first lines of a text
 * @param isAll whether they are all of it
 * @param isEscaped the signs behind backslashes are hidden in it, and all of its rows must be whole
 * @throws ServiceError `table.invalid` where the header stands further down, or the first lines are no rows
 */
export function findLayout(head: string, isAll: boolean, delimiter?: string, isEscaped = false): Layout {
  const separator = SEPARATOR_LINE.exec(head);
  const above = (separator?.[0] ?? '') + commentsIn(head.slice(separator?.[0].length));
  const ofFile = fileLine(head.slice(above.length));
  const front = above + ofFile + (ofFile === '' ? headerMark(head.slice(above.length), isAll) : '');
  const skipped = front.split(WHOLE_LINE_END).length - 1;
  const given = separator?.[1] ?? delimiter;
  const whole = head.slice(front.length);
  const first = new FirstLines(whole, isAll);
  const isDrawn = isDrawnTable(first);
  const quoted = isDrawn ? undefined : quotedHeader(whole, given);
  const padded = isDrawn || quoted !== undefined ? undefined : paddedQuotes(whole, isAll, given);
  const known = isDrawn ? DRAWN : (quoted ?? padded);
  const several =
    known === undefined && ofFile === '' && !ANNOTATION.test(front)
      ? headerLines(first, given === undefined ? DELIMITERS : [given])
      : undefined;
  const title =
    known === undefined
      ? (several ?? belowSettings(first, given) ?? titleAbove(first, given) ?? belowPlace(first, given))
      : undefined;
  const text = whole.slice(title?.length ?? 0);
  const below = title === undefined ? first : new FirstLines(text, isAll);
  const form: CsvForm = {
    delimiter: known ?? title?.delimiter ?? given ?? findDelimiter(text, isAll),
    isPadded: padded !== undefined,
    isAnnotated: ANNOTATION.test(front),
    isDrawn,
    quote: quoted === undefined ? undefined : SINGLE,
    headerLines: several?.count,
    ...(isEscaped && { isEscaped }),
  };
  const isPlain = !isDrawn && several === undefined;
  form.unitLines = isPlain ? unitLines(text, form, isAll, ofFile) : 0;
  form.hasRowNames = isPlain && form.unitLines === 0 && hasRowNames(text, form, isAll);
  const line = skipped + (title?.lines ?? 0) + 1;
  let parser = new CsvParser(form.delimiter, new TableRows({ ...form, isStrict: true }), form.quote);
  try {
    parser.push(text, isAll);
  } catch (error) {
    if (isEscaped) {
      throw error;
    }
    const escaped = mayBeEscaped(head) ? escapedLayout(head, isAll, delimiter) : undefined;
    if (escaped !== undefined) {
      return escaped;
    }
    const single = form.quote === undefined ? quotedCells(text, isAll, given) : undefined;
    if (single !== undefined) {
      Object.assign(form, { delimiter: single, quote: SINGLE, hasRowNames: false });
    }
    const width = form.delimiter === ' ' ? 1 : (parser.names?.length ?? 1);
    const problem =
      form.quote === SINGLE
        ? undefined
        : (preambleError(text, form.delimiter, line - 1) ?? noHeaderError(below, width, line - 1, true));
    if (problem !== undefined) {
      throw problem;
    }
    parser = new CsvParser(form.delimiter, new TableRows(form), form.quote);
    parser.push(text, isAll);
  }
  const width = parser.names?.length ?? 0;
  const isApart = isDrawn || (width > 1 && form.delimiter !== ' ');
  const unreadable = isApart ? undefined : noHeaderError(below, width, line - 1, width === 1);
  if (unreadable !== undefined) {
    throw unreadable;
  }
  return {
    begin: front.length + (title?.length ?? 0),
    line,
    form,
    names: parser.names,
    warnings: [
      ...(isEscaped
        ? [
            'Quotes or delimiters within text have a backslash before them: it is left off, and they are part of the text.',
          ]
        : []),
      ...(form.quote === SINGLE
        ? [`Single quotes (') around names and cells are taken for quotation marks, and left off.`]
        : []),
      ...(ofFile === ''
        ? []
        : [
            `The first line (${show(ofFile.trim())}) tells of the file: line ${skipped + 1} names the columns.`,
          ]),
      ...(several === undefined
        ? []
        : [
            `${several.count} lines name the columns together: ${show(parser.names?.at(-1))} is the last of them.`,
          ]),
      ...(title === undefined || title.lines === 0
        ? []
        : [
            `${title.lines === 1 ? `The first line (${show(title.first)}) is` : `The first ${title.lines} lines (${show(title.first)}, …) are`} left out as no part of the table: line ${line} names its columns.`,
          ]),
    ],
  };
}

/** The layout of a text whose first rows are only whole where signs behind backslashes part no fields. */
function escapedLayout(head: string, isAll: boolean, delimiter?: string): Layout | undefined {
  try {
    return findLayout(hideEscapes(head), isAll, delimiter, true);
  } catch {
    return undefined;
  }
}

/** How many lines under the header name units. */
function unitLines(text: string, form: CsvForm, isAll: boolean, ofFile: string): number {
  const parser = new CsvParser(form.delimiter, new TableRows(form), form.quote);
  try {
    parser.push(...takeSample(text, isAll));
  } catch {
    return 0;
  }
  return linesOfUnits(parser.take().columns, ofFile);
}

/** A first line `sep=;` names the delimiter, as spreadsheets write it; it is not a row. */
const SEPARATOR_LINE = /^"?sep=([^\r\n"])"?(?:\r\n|\n|\r)/i;

/** What InfluxDB writes above the header of an annotated table. */
const ANNOTATION = /^#(?:group|datatype|default)\b/m;
const COMMENTS = /^(?:#[^\r\n]*(?:\r\n|\n|\r))+/;
/** A name in a comment: with a letter, no link, and nothing that it announces. */
const NAME = /^(?!.*:\/\/)(?!.*:\s*$).*\p{L}/u;

/**
 * The lines that begin with # above the table, but for the last of them where that is the header itself: it parts into as many
 * fields as the row below it, or is the only one above rows of one field.
 */
function commentsIn(head: string): string {
  const comments = COMMENTS.exec(head)?.[0] ?? '';
  const [next = ''] = head.slice(comments.length).split(LINE_END, 1);
  const delimiter = DELIMITERS.find((sign) => next.includes(sign));
  const fields = delimiter === undefined ? spacedNumbers(next) : next.split(delimiter);
  if (fields.length > 1 && !fields.some(isNumberText)) {
    return comments;
  }
  const above = comments.split(WHOLE_LINE_END).slice(0, -1);
  const areNames = (line: string): boolean => {
    const names = line
      .replace(/^#+\s*/, '')
      .trim()
      .split(delimiter ?? /\s+/);
    return names.length === fields.length && names.every((name) => NAME.test(name));
  };
  const isHeader = areNames(above.at(-1) ?? '');
  // As KNMI has it.
  const last = above.findLastIndex((line) => !/^#\s*$/.test(line));
  if (fields.length > 1 && last >= 0 && last < above.length - 1 && areNames(above[last]!)) {
    throw invalidTable(
      `Line ${last + 1} (${show(above[last])}) seems to name the columns, but a line with nothing but # stands between it and the rows. Remove that line.`,
    );
  }
  const isAlone = above.length === 1 && fields.length === 1;
  return isHeader || isAlone ? comments.slice(0, startOfLine(comments, above.length - 1)) : comments;
}

/** The fields of a line of numbers with spaces between them; of any other line one. */
function spacedNumbers(line: string): string[] {
  const fields = line.trim().split(/\s+/);
  return fields.every(isNumberText) ? fields : [line];
}

/** Lines of a title. */
const MAX_TITLE = 10;

/** What stands above a header, where that is beyond doubt; undefined where nothing does. */
function titleAbove(head: FirstLines, given: string | undefined): Title | undefined {
  const { text, isAll } = head;
  let best: (Title & { fields: number }) | undefined;
  for (const delimiter of given === undefined ? DELIMITERS : [given]) {
    const at = headerBelowTitle(head.rows(delimiter, MAX_ABOVE));
    const above = head.above(at, delimiter);
    // An end of line within quotes is part of a name.
    const isWhole = at > 0 && text.slice(0, above.length).split('"').length % 2 === 1;
    const { even, fields } = isWhole
      ? tryDelimiter(text.slice(above.length), delimiter, isAll)
      : { even: false, fields: 0 };
    if (even && fields > (best?.fields ?? 1)) {
      best = { ...above, fields };
    }
  }
  if (best === undefined) {
    return undefined;
  }
  const own = given ?? findDelimiter(text, isAll);
  const { even, fields } = tryDelimiter(text, own, isAll);
  const isHeader = even && fields > 1 && !best.first.split(own).some(isBlank);
  const isOfR =
    best.first.split(best.delimiter).length > 1 && hasRowNames(text, { delimiter: best.delimiter }, isAll);
  return isHeader || isOfR ? undefined : best;
}

/**
 * Where a header stands below lines of a name and its value each, as oscilloscopes write them: all of the rows below it are
 * numbers, and none above.
 */
function belowSettings(head: FirstLines, given: string | undefined): Title | undefined {
  for (const delimiter of given === undefined ? DELIMITERS : [given]) {
    const rows = head.rows(delimiter);
    const isRow = (row: readonly string[]): boolean => row.length > 1 && row.every(isNumberText);
    const first = rows.findIndex(isRow);
    const at = first - 1;
    const width = rows[first]?.length;
    const below = rows.slice(first).filter((row) => row.length > 1 || !isBlank(row[0]!));
    if (
      at >= MIN_SETTINGS &&
      at <= MAX_ABOVE &&
      rows[at]!.length === width &&
      rows[at]!.every(isName) &&
      below.length >= ALIKE &&
      below.every((row) => row.length === width && isRow(row)) &&
      rows.slice(0, at).every((row) => row.length > 1 && isName(row[0]!))
    ) {
      return head.above(at, delimiter);
    }
  }
  return undefined;
}

/**
 * Where a header stands below values that are told of the place, as TMY3 and SolarAnywhere have them in the first line,
 * NSRDB and Open-Meteo in the second, below their names: a latitude or a time zone shows that they name no columns.
 */
function belowPlace(head: FirstLines, given: string | undefined): Title | undefined {
  for (const delimiter of given === undefined ? DELIMITERS : [given]) {
    const rows = head.rows(delimiter, MAX_ABOVE).map(filledFields);
    const [first = [], second = [], third = []] = rows.filter((row) => row.length > 0);
    const at = rows.findIndex((names, line) => {
      const isThird = names === third && first.every(isName) && isOfPlace(second);
      return (
        (isThird || (names === second && isOfPlace(first))) &&
        names.length > 1 &&
        names.every(isName) &&
        new Set(names).size === names.length &&
        areMeasurements(rows.slice(line + 1), names.length)
      );
    });
    if (at > 0) {
      return head.above(at, delimiter);
    }
  }
  return undefined;
}

const isOfPlace = (row: readonly string[]): boolean =>
  row.length > 2 && row.some((field) => isNumberText(field) && /[-.]/.test(field));

/** Lines of settings above a header. */
const MIN_SETTINGS = 3;

/** The line of the header, from 0, where those above it cannot be one and those below it have numbers; -1 where none is. */
function headerBelowTitle(rows: readonly (readonly string[])[]): number {
  let [written, widest] = [0, 0];
  let isTitle = false;
  let isApart = false;
  for (const [at, row] of rows.entries()) {
    const names = filledFields(row);
    const width = names.length;
    if (width === 0) {
      isApart = true;
      continue;
    }
    if (
      (isTitle || isApart) &&
      width > 1 &&
      (width > widest || isApart) &&
      names.every((name) => isName(name) && !name.startsWith(' ')) &&
      hasNumbers(rows.slice(at + 1), width)
    ) {
      return at;
    }
    written++;
    if (written > MAX_TITLE || isBlank(names[0]!)) {
      return -1;
    }
    widest = Math.max(widest, width);
    isApart = false;
    // Names above a blank line would be those of the columns; a number is none.
    isTitle ||= width === 1;
    if (!isTitle && !names.some(isNumberText)) {
      return -1;
    }
  }
  return -1;
}

/** Whether a column has numbers in all of these rows but those where it is empty, and one of units above them. */
function hasNumbers(all: readonly (readonly string[])[], width: number): boolean {
  const rows = all.filter((row) => !row.every(isBlank));
  if (rows.length > 1 && isUnits(rows[0]!)) {
    rows.shift();
  }
  return (
    rows.length > 0 &&
    Array.from({ length: width }, (_, column) => rows.map((row) => row[column] ?? '')).some(
      (cells) => cells.some(isNumberText) && cells.every((cell) => isBlank(cell) || isNumberText(cell)),
    )
  );
}
