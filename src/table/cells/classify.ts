import { parseDate, parseLocalDate } from './parse-date';
import type { DateOrder } from './types';
import { dateOfDigits, mayBeDigits, MONTHS, tidyDate } from './written-date';
import { writtenNumber } from './written-number';

/*
 * The one rule of what a cell says where it has no value. It holds where the other cells are numbers, dates, or true and
 * false: in a column of words all of it stays text.
 */

/** NA, NaN, NaT and null, as programs write them, and the \\N of MySQL and PostgreSQL; in lower case. */
const NULLS = new Set(['na', 'n/a', 'nan', '-nan', 'nat', 'null', '<na>', '#n/a n/a', '\\n']);

/** What devices, forms and reports write in place of a value; a column of words may have any of them as a word. */
const WORDS = new Set(
  'unavailable unknown none err error offline missing n.a. k.a. ol - -- --- ---- ----- – — ? . .. ... …'.split(
    ' ',
  ),
);

/**
 * What spreadsheets show where a formula has no value, in any language: `#DIV/0!`, `#BEZUG!`, `#¿NOMBRE?`, a cell that is
 * too narrow, an error of LibreOffice; and their N/A, which has no mark at its end.
 */
const CELL_ERROR =
  /^(?:#(?:[¡¿]?[\p{Lu}_]+(?:\/0)?[!?]|N\/[ABDV]!?|NA|NV|I\/T|Н\/Д|YOK|HIÁNYZIK|NENÍ_K_DISPOZICI|GETTING_DATA|#+)|Err:5\d\d)$/u;

const LONGEST_MISSING_WORD = 20;
const SPACE = 32;
const NO_BREAK_SPACE = 160;

/** What can begin such a text, beside white space: of other text nothing more is looked at. */
const FIRST = 'nNuUeEoOmMkK-–—?.…<#\\';

/** White space alone, NA and its like, a word for "missing" or an error of a spreadsheet; case does not matter. */
export function isAbsent(text: string): boolean {
  const first = text.charCodeAt(0);
  if (isDigit(first)) {
    return false;
  }
  const own = first <= SPACE || first === NO_BREAK_SPACE ? text.trim() : text;
  if (own === '') {
    return text !== '';
  }
  if (own.length > LONGEST_MISSING_WORD || !FIRST.includes(own[0]!) || isDigit(own.charCodeAt(1))) {
    return false;
  }
  const lower = own.trimEnd().toLowerCase();
  return NULLS.has(lower) || WORDS.has(lower) || CELL_ERROR.test(own.trimEnd());
}

/** Whether a text for "missing" is one that a column of words can have as a word, such as the state "offline". */
export function isMissingWord(text: string): boolean {
  return text.length <= LONGEST_MISSING_WORD && WORDS.has(text.trim().toLowerCase());
}

function isDigit(code: number): boolean {
  return code > 47 && code < 58;
}

const LONGEST_UNCERTAIN = 64;

/** Numbers and dates whose meaning is not certain enough to read them. */
const UNCERTAIN: readonly RegExp[] = [
  // About, below, above; with a tolerance; with a power of ten; with a mark of a footnote.
  /^[~≈<>≤≥±] ?[\d.,]+\D{0,6}$/,
  /^[+-]?[\d.,]+ ?± ?[\d.,]+/,
  /^[+-]?[\d.,]+ ?[x×*] ?10\^?[-+\d]/,
  /^[+-]?\d+(?:[.,]\d+)? ?[*†‡]$/,
  // With a comma, in a file where it parts fields; in thousands, millions or billions.
  /^[+-]?\d+,\d+[eE][+-]?\d+$/,
  /^[+-]?\d[\d.,]* ?(?:Mio|Mrd|mln|bn)\.?$/,
  /^[+-]?\d[\d.,]*[.,]\d+[kMGT]$/,
  // In single quotes, which are part of the cell; behind one, as a spreadsheet is told that a number is text.
  /^'[+-]?\d[\d.,]*'?$/,
  // Degrees, minutes and seconds.
  /^[+-]?\d+° ?\d+(?:[.,]\d+)? ?['′]/,
  // Durations with years or months.
  /^P(?=\d)(?:\d+[YMWD])*(?:T(?:\d+[HM])*(?:\d+(?:[.,]\d+)?S)?)?$/,
  // Dates without a year, of a month without its day, and what programs write.
  /^\d\d?\.\d\d?\.$/,
  /^(?:0[1-9]|1[0-2])\.(?:19|20)\d\d$/,
  /^\/?Date\(-?\d+/,
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  // Intervals of ISO 8601.
  /^\d{4}-\d\d(?:-\d\d)?[^/\s]*\/(?:\d|P)/,
  /^P[\dTYMWDHS.,]+\/\d{4}-/,
  // From a date to another; with a time of day that is not read, a zone by its name.
  /^\d\d?([./])\d\d?\1\d{4}(?: \d\d?:\d\d)? ?[-–] ?\d/,
  /^\d\d?-\p{L}{3}-(?:\d\d){1,2} \d/u,
  /^\p{L}{3,9}\.? \d\d?,? \d{4}[ ,]+\d/u,
];
/** `Feb-24`, `2. März`, `2 Mar`. */
const WITH_MONTH = /^(?:(\p{L}{3,9})\.?[-/ ]\d\d?|\d\d?\.?[-/ ](\p{L}{3,9}))\.?$/u;

/** Whether a text that reads as nothing is a number or a date to a person. */
function isUncertain(cell: string): boolean {
  if (cell.length > LONGEST_UNCERTAIN || !/\d/.test(cell)) {
    return false;
  }
  const text = cell.trim();
  const named = WITH_MONTH.exec(text);
  const month = named?.[1] ?? named?.[2];
  return month === undefined ? UNCERTAIN.some((form) => form.test(text)) : MONTHS.has(month.toLowerCase());
}

/*
 * What the text of a cell can be read as: a set of bits, since one text can be read as several things. 0 is text that
 * is nothing else.
 */

/** A 64-bit integer. */
export const WHOLE = 1;
/** A number as JavaScript writes it: a decimal point, an exponent, infinity. */
export const POINT_NUMBER = 2;
/** The same with a decimal comma, in a file where that is possible. */
export const COMMA_NUMBER = 4;
/** Either of these, exact as a JavaScript number, where the file leaves no doubt about its comma. */
export const PLAIN = 8;
/** A number in a column with a decimal point; commas may group its thousands. */
export const READS_POINT = 16;
/** A number in a column with a decimal comma; points may group its thousands. */
export const READS_COMMA = 32;
export const BOOLEAN = 64;
/** An ISO 8601 date. */
export const DATE = 128;
/** A date as people write it: by the order of its parts, which can be several. */
const DAY_FIRST = 32768;
const MONTH_FIRST = 65536;
const YEAR_FIRST = 131072;
/** A number with a unit beside it: `45 %`, `1,20 €`, `21.5 °C`. The other bits tell how the number reads. */
export const WITH_UNIT = 262144;
/** A whole number whose digits are those of a date: 20241121. */
export const DATE_DIGITS = 524288;
/** What a person reads as a number or a date, and nothing here does: `~5`, `P1Y`, `Feb-24`. */
export const HUMAN_ONLY = 1048576;

/** White space, NA and its like (`isAbsent`): missing where the column is not text. */
export const ABSENT = 512;
/** A number that is not whole. */
export const FRACTION = 1024;
/** Whole, but not exact as a JavaScript number. */
export const BEYOND_SAFE = 2048;
/** Whole, but beyond 64 bits. */
export const BEYOND_INT64 = 4096;

/** A date as people write it. */
export const LOCAL_DATES = DAY_FIRST | MONTH_FIRST | YEAR_FIRST;
export const DATES = DATE | LOCAL_DATES;
/** What a column of text can settle as. */
export const TYPES = WHOLE | POINT_NUMBER | COMMA_NUMBER | BOOLEAN | DATES;
/** What a column that stays text can look like. */
export const LOOKS =
  PLAIN | READS_POINT | READS_COMMA | DATE | LOCAL_DATES | WITH_UNIT | DATE_DIGITS | HUMAN_ONLY;
export const NUMERIC = WHOLE | POINT_NUMBER | COMMA_NUMBER | PLAIN | READS_POINT | READS_COMMA;

/** What a missing cell can be, of all that is not text. */
const ANYTHING = ABSENT | NUMERIC | BOOLEAN | DATES | WITH_UNIT | DATE_DIGITS | HUMAN_ONLY;

const EXACT = POINT_NUMBER | COMMA_NUMBER | PLAIN | READS_POINT | READS_COMMA;
const INEXACT = POINT_NUMBER | COMMA_NUMBER;

/** What a comma in a number can be: nothing, the decimal mark, or that or one that groups thousands. */
export type CommaUse = 'none' | 'decimal' | 'either';

const CHAR_0 = 48;
const CHAR_9 = 57;

/** Texts of a column that are remembered, and how long they are at most: those of classes, not of remarks. */
const REMEMBERED = 1000;
const MAX_REMEMBERED = 64;

/**
 * Reads the cells of one column. What takes long to read is remembered: a column of classes has the same few words in
 * every row.
 */
export class CellClassifier {
  private readonly known = new Map<string, number>();
  private knownComma: CommaUse = 'none';

  /**
   * Everything that a text can be read as, as a set of the bits above. Numbers may have spaces around them and no
   * leading zeros (an article number 007 is text).
   */
  classify(text: string, comma: CommaUse): number {
    const plain = classifyPlain(text, comma);
    if (plain !== 0 || text.length > MAX_REMEMBERED) {
      return plain || classifyWritten(text, comma);
    }
    if (comma !== this.knownComma) {
      this.known.clear();
      this.knownComma = comma;
    }
    let kinds = this.known.get(text);
    if (kinds === undefined) {
      kinds = classifyWritten(text, comma);
      if (this.known.size < REMEMBERED) {
        this.known.set(text, kinds);
      }
    }
    return kinds;
  }
}

/** As `CellClassifier`, without what takes longer to read: see written-number.ts and written-date.ts. */
export function classifyPlain(text: string, comma: CommaUse = 'none'): number {
  if (isAbsent(text)) {
    return ANYTHING;
  }
  const first = text.charCodeAt(0);
  if (first > 64 && first < 128) {
    return classifyWord(text, first | 32);
  }
  if (first > 127) {
    return 0;
  }
  return classifyNumber(text, comma) || classifyLocal(text.trim(), comma);
}

function classifyWord(text: string, first: number): number {
  if (first === 116 || first === 102) {
    const lower = text.length <= 5 ? text.toLowerCase() : '';
    return lower === 'true' || lower === 'false' ? BOOLEAN : 0;
  }
  return first === 105 && isInfinity(text) ? EXACT | FRACTION : 0;
}

function isInfinity(text: string): boolean {
  const lower = text.length <= 8 ? text.toLowerCase() : '';
  return lower === 'inf' || lower === 'infinity';
}

function classifyNumber(text: string, comma: CommaUse): number {
  let at = 0;
  let end = text.length;
  while (at < end && text.charCodeAt(at) === 32) {
    at++;
  }
  while (end > at && text.charCodeAt(end - 1) === 32) {
    end--;
  }
  const start = at;
  const sign = text.charCodeAt(at);
  if (sign === 45 || sign === 43) {
    at++;
    if ((text.charCodeAt(at) | 32) === 105) {
      return isInfinity(text.slice(at, end)) ? EXACT | FRACTION : 0;
    }
  }
  const digits = at;
  at = skipDigits(text, at, end);
  const wholeDigits = at - digits;
  if (wholeDigits > 1 && text.charCodeAt(digits) === CHAR_0) {
    return 0;
  }
  if (at === end) {
    return wholeDigits === 0 ? 0 : classifyWhole(text, start, end, wholeDigits);
  }
  if (wholeDigits === 4 && at === start + 4 && text.charCodeAt(at) === 45) {
    return Number.isNaN(parseDate(text)) ? 0 : DATE;
  }
  const mark = text.charCodeAt(at);
  const marked = mark === 46 || mark === 44;
  let fractionDigits = 0;
  if (marked) {
    const from = ++at;
    at = skipDigits(text, at, end);
    fractionDigits = at - from;
  }
  if (wholeDigits + fractionDigits === 0) {
    return 0;
  }
  const exponent = at < end;
  if (exponent && skipExponent(text, at, end) !== end) {
    return 0;
  }
  const grouping =
    !exponent &&
    fractionDigits === 3 &&
    wholeDigits > 0 &&
    wholeDigits < 4 &&
    text.charCodeAt(digits) !== CHAR_0;
  if (mark !== 44) {
    const kinds = POINT_NUMBER | PLAIN | READS_POINT | FRACTION;
    return marked ? (grouping ? kinds | READS_COMMA : kinds) : kinds | COMMA_NUMBER;
  }
  return comma === 'none' ? 0 : classifyComma(comma, grouping, wholeDigits > 0 && !exponent);
}

function classifyComma(comma: CommaUse, grouping: boolean, strict: boolean): number {
  const reads = strict ? READS_COMMA | (grouping ? READS_POINT : 0) : 0;
  return COMMA_NUMBER | FRACTION | reads | (comma === 'decimal' ? PLAIN : 0);
}

function skipDigits(text: string, at: number, end: number): number {
  while (at < end) {
    const code = text.charCodeAt(at);
    if (code < CHAR_0 || code > CHAR_9) {
      break;
    }
    at++;
  }
  return at;
}

/** The end of an exponent, or -1. */
function skipExponent(text: string, at: number, end: number): number {
  if ((text.charCodeAt(at) | 32) !== 101) {
    return -1;
  }
  const sign = text.charCodeAt(at + 1);
  const from = sign === 45 || sign === 43 ? at + 2 : at + 1;
  const to = skipDigits(text, from, end);
  return to === from ? -1 : to;
}

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

function classifyWhole(text: string, start: number, end: number, digits: number): number {
  if (digits <= 15) {
    const isDate = mayBeDigits(digits) && !Number.isNaN(dateOfDigits(text.slice(start, end)));
    return isDate ? WHOLE | EXACT | DATE_DIGITS : WHOLE | EXACT;
  }
  if (digits > 19) {
    return INEXACT | BEYOND_INT64;
  }
  const value = BigInt(text.slice(text.charCodeAt(start) === 43 ? start + 1 : start, end));
  if (value > MAX_INT64 || value < MIN_INT64) {
    return INEXACT | BEYOND_INT64;
  }
  // A number that is not exact as such is one that nobody calculates with: an id.
  return Number.isSafeInteger(Number(value)) ? WHOLE | INEXACT | PLAIN : WHOLE | INEXACT | BEYOND_SAFE;
}

/** Numbers with grouped thousands, and dates as people write them. */
function classifyLocal(text: string, comma: CommaUse): number {
  return classifyGrouped(text, comma) || localDateKinds(text);
}

function classifyGrouped(text: string, comma: CommaUse): number {
  // With both marks there is no doubt which of them is the decimal one.
  if (GROUPED_COMMA.test(text)) {
    return READS_COMMA | (comma === 'none' ? 0 : COMMA_NUMBER | FRACTION);
  }
  if (GROUPED_POINT.test(text)) {
    return READS_POINT | POINT_NUMBER | FRACTION;
  }
  return (WITH_POINT.test(text) ? READS_POINT : 0) | (WITH_COMMA.test(text) ? READS_COMMA : 0);
}

/** What is written in a way that takes longer to read: numbers with a unit, a date with its weekday, and more. */
function classifyWritten(text: string, comma: CommaUse): number {
  const number = writtenNumber(text);
  if (number !== undefined) {
    const all = classifyNumber(number.text, comma) || classifyGrouped(number.text, comma);
    // Digits that a number does not hold are those of an id.
    const kinds = (all & (BEYOND_SAFE | BEYOND_INT64)) === 0 ? all & ~DATE_DIGITS : 0;
    if (kinds === 0) {
      return isUncertain(text) ? HUMAN_ONLY : 0;
    }
    return number.unit === '' ? kinds : kinds | WITH_UNIT;
  }
  const date = tidyDate(text);
  const kinds = date === undefined ? 0 : Number.isNaN(parseDate(date)) ? localDateKinds(date) : DATE;
  return kinds === 0 && isUncertain(text) ? HUMAN_ONLY : kinds;
}

/** A number with grouped thousands and a decimal mark: by points or spaces and a comma, or the other way round. */
const GROUPED_COMMA = /^[+-]?[1-9]\d{0,2}([. \u00a0\u202f])\d{3}(?:\1\d{3}){0,3},\d+$/;
const GROUPED_POINT = /^[+-]?[1-9]\d{0,2}([,'’ \u00a0\u202f])\d{3}(?:\1\d{3}){0,3}\.\d+$/;
/** What groups thousands, beside a comma or a point. */
export const GROUP_SPACES = /[ \u00a0\u202f'’]/g;

/** A number with a decimal comma, whose points may group thousands; and the other way round. More groups are a list. */
export const WITH_COMMA = /^[+-]?(?!\d{16})(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3}){1,4})(?:,\d+)?$/;
export const WITH_POINT = /^[+-]?(?!\d{16})(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3}){1,4})(?:\.\d+)?$/;

function localDateKinds(text: string): number {
  const { dmy, mdy, ymd } = parseLocalDate(text);
  return (
    (dmy === undefined ? 0 : DAY_FIRST) |
    (mdy === undefined ? 0 : MONTH_FIRST) |
    (ymd === undefined ? 0 : YEAR_FIRST)
  );
}

/** Whether the text of a name in a header reads as a value instead: a number or a date. */
export function looksLikeValue(name: string): boolean {
  const kinds = classifyPlain(name);
  return (kinds & ABSENT) === 0 && (kinds & (NUMERIC | DATES)) !== 0;
}

/** The order that local dates of these kinds must have; undefined where they could have several. */
export function findOrder(kinds: number): DateOrder | undefined {
  switch (kinds & LOCAL_DATES) {
    case DAY_FIRST:
      return 'dmy';
    case MONTH_FIRST:
      return 'mdy';
    case YEAR_FIRST:
      return 'ymd';
    default:
      return undefined;
  }
}
