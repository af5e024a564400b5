/** What a field of a text file can be read as. One field can be several things at once. */
export const WHOLE = 1;
export const NUMBER = 2;
export const COMMA_NUMBER = 4;
export const BOOLEAN = 8;
export const DATE = 16;
/** Whole, but not exact as a JavaScript number. */
export const BEYOND_SAFE = 32;
/** Whole, but beyond 64 bits. */
export const BEYOND_INT64 = 64;
/** NA and its like: missing where the column is otherwise numeric. */
export const ABSENT = 128;
/** A number that is not whole. */
export const FRACTION = 256;

const NUMERIC = WHOLE | NUMBER | COMMA_NUMBER;
const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);

const CHAR_0 = 48;
const CHAR_9 = 57;

/** NA, N/A, NaN and null in any case. */
export function isAbsent(text: string): boolean {
  if (text.length < 2 || text.length > 4) {
    return false;
  }
  const first = text.charCodeAt(0) | 32;
  if (first !== 110) {
    return false;
  }
  const lower = text.toLowerCase();
  return lower === 'na' || lower === 'n/a' || lower === 'nan' || lower === 'null';
}

/**
 * What a field can be read as, as a set of the bits above; 0 is text. Numbers may have spaces around them
 * and no leading zeros (an article number 007 is text). `comma`: a decimal comma is possible.
 */
export function readings(text: string, comma: boolean): number {
  const first = text.charCodeAt(0);
  if (first > 64 && first < 128) {
    return readWord(text, first | 32);
  }
  if (first > 127) {
    return 0;
  }
  return readNumber(text, comma);
}

function readWord(text: string, first: number): number {
  if (first === 110) {
    return isAbsent(text) ? ABSENT | NUMERIC : 0;
  }
  if (first === 116 || first === 102) {
    const lower = text.length <= 5 ? text.toLowerCase() : '';
    return lower === 'true' || lower === 'false' ? BOOLEAN : 0;
  }
  return first === 105 && isInfinity(text) ? NUMBER | COMMA_NUMBER | FRACTION : 0;
}

function isInfinity(text: string): boolean {
  const lower = text.length <= 8 ? text.toLowerCase() : '';
  return lower === 'inf' || lower === 'infinity';
}

function readNumber(text: string, comma: boolean): number {
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
      return isInfinity(text.slice(at, end)) ? NUMBER | COMMA_NUMBER | FRACTION : 0;
    }
  }
  const digits = at;
  at = skipDigits(text, at, end);
  const wholeDigits = at - digits;
  if (wholeDigits > 1 && text.charCodeAt(digits) === CHAR_0) {
    return 0;
  }
  if (at === end) {
    return wholeDigits === 0 ? 0 : readWhole(text, start, end, wholeDigits);
  }
  if (wholeDigits === 4 && at === start + 4 && text.charCodeAt(at) === 45) {
    return Number.isNaN(parseDate(text)) ? 0 : DATE;
  }
  let reading = NUMBER | COMMA_NUMBER;
  let fractionDigits = 0;
  const mark = text.charCodeAt(at);
  if (mark === 46 || mark === 44) {
    reading = mark === 46 ? NUMBER : comma ? COMMA_NUMBER : 0;
    const from = ++at;
    at = skipDigits(text, at, end);
    fractionDigits = at - from;
  }
  if (wholeDigits + fractionDigits === 0) {
    return 0;
  }
  if (at < end && (text.charCodeAt(at) | 32) === 101) {
    at++;
    const exponentSign = text.charCodeAt(at);
    if (exponentSign === 45 || exponentSign === 43) {
      at++;
    }
    const from = at;
    at = skipDigits(text, at, end);
    if (at === from) {
      return 0;
    }
  }
  return at === end && reading !== 0 ? reading | FRACTION : 0;
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

function readWhole(text: string, start: number, end: number, digits: number): number {
  if (digits <= 15) {
    return NUMERIC;
  }
  if (digits > 19) {
    return NUMBER | COMMA_NUMBER | BEYOND_INT64;
  }
  const value = parseWhole(text.slice(start, end));
  if (value > MAX_INT64 || value < MIN_INT64) {
    return NUMBER | COMMA_NUMBER | BEYOND_INT64;
  }
  return Number.isSafeInteger(Number(value)) ? NUMERIC : NUMERIC | BEYOND_SAFE;
}

function parseWhole(text: string): bigint {
  return BigInt(text.startsWith('+') ? text.slice(1) : text);
}

/** The number in a field, NaN when it is missing there, undefined when it is no number. */
export function parseNumber(text: string, comma: boolean): number | undefined {
  if (text === '') {
    return NaN;
  }
  const reading = readings(text, comma);
  if ((reading & ABSENT) !== 0) {
    return NaN;
  }
  if ((reading & NUMBER) !== 0) {
    const value = Number(text);
    return Number.isNaN(value) ? infinity(text) : value;
  }
  return (reading & COMMA_NUMBER) !== 0 ? Number(text.replace(',', '.')) : undefined;
}

/** "inf" and its like, which JavaScript does not read. */
function infinity(text: string): number {
  return text.includes('-') ? -Infinity : Infinity;
}

/** The whole number in a field, null when it is missing there, undefined when it is none of 64 bits. */
export function parseBigint(text: string): bigint | null | undefined {
  if (text === '') {
    return null;
  }
  const reading = readings(text, false);
  if ((reading & ABSENT) !== 0) {
    return null;
  }
  return (reading & WHOLE) !== 0 ? parseWhole(text.trim()) : undefined;
}

const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/**
 * An ISO 8601 date or date with time, in milliseconds since 1970; NaN when it is none. Without a zone it is
 * UTC, so that a table means the same on every machine. What is finer than a millisecond is dropped.
 */
export function parseDate(text: string): number {
  const match = ISO_DATE.exec(text);
  if (match === null) {
    return NaN;
  }
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) {
    return NaN;
  }
  const midnight = dayOf(Number(year), Number(month) - 1, Number(day));
  const milliseconds = fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  const seconds = (Number(hour) * 60 + Number(minute) - zoneMinutes(zone)) * 60 + Number(second);
  return midnight + seconds * 1000 + milliseconds;
}

/** The beginning of a day, NaN where the month has no such day. */
function dayOf(year: number, month: number, day: number): number {
  const time = Date.UTC(year < 100 ? year + 400 : year, month, day);
  const date = new Date(time);
  if (date.getUTCMonth() !== month || date.getUTCDate() !== day) {
    return NaN;
  }
  // Date.UTC takes years below 100 for those of the 20th century; 400 years are always as long.
  return year < 100 ? time - DAYS_OF_400_YEARS * DAY : time;
}

const DAY = 86_400_000;
const DAYS_OF_400_YEARS = 146_097;

function zoneMinutes(zone: string | undefined): number {
  if (zone === undefined || zone === 'Z') {
    return 0;
  }
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || '0');
  return zone.startsWith('-') ? -minutes : minutes;
}
