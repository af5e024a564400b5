import { BoundedMap } from '../../util/collections';
import { isDate } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import type { CellReading, DateOrder } from './types';
import { dateOfDigits, dateOfSerial, MONTHS, tidyDate, timeOfDigits } from './written-date';

const DAY = 86_400_000;
/** Rules of a zone are asked for between these years: before, clocks followed the sun; after, nobody knows. */
const FIRST = Date.UTC(1900, 0, 1);
const LAST = Date.UTC(2200, 0, 1);
/** Days whose offset is remembered: more than a century. */
const MAX_DAYS = 50_000;

const zones = new Map<string, TimeZone>();

/** The rules of a time zone. */
export class TimeZone {
  /** The offset of a day, in milliseconds; undefined for a day on which it changes. */
  private readonly days = new Map<number, number | undefined>();
  private readonly format: Intl.DateTimeFormat;

  private constructor(name: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /**
   * @param name an IANA name, such as Europe/Berlin
   * @throws RangeError for a name that is not known
   */
  static of(name: string): TimeZone {
    const known = zones.get(name);
    if (known !== undefined) {
      return known;
    }
    const zone = new TimeZone(name);
    zones.set(name, zone);
    return zone;
  }

  /** The local time of an instant, both in milliseconds since 1970: what a clock shows there, as if it were UTC. */
  toLocal(instant: number): number {
    return instant + this.offset(Math.min(Math.max(instant, FIRST), LAST));
  }

  /** The instant of a local time; of the two that an hour set back has, one of them. */
  toInstant(local: number): number {
    const near = local - (this.toLocal(local) - local);
    return local - (this.toLocal(near) - near);
  }

  private offset(instant: number): number {
    const day = Math.floor(instant / DAY);
    if (!this.days.has(day)) {
      if (this.days.size >= MAX_DAYS) {
        this.days.clear();
      }
      const start = this.offsetAt(day * DAY);
      this.days.set(day, start === this.offsetAt((day + 1) * DAY - 1000) ? start : undefined);
    }
    return this.days.get(day) ?? this.offsetAt(instant);
  }

  private offsetAt(instant: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.format.formatToParts(instant)) {
      parts[type] = Number(value);
    }
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const whole = Math.floor(instant / 1000) * 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  }
}

/** Names that were asked for, which takes the engine 0.07 ms each: a card that comes with each message has them by column. */
const zoneNames = new BoundedMap<string, string | undefined>(1000);

/** The canonical name of a zone, undefined where there is no such zone. */
export function knownZone(name: string): string | undefined {
  if (!zoneNames.has(name)) {
    zoneNames.set(name, canonicalName(name));
  }
  return zoneNames.get(name);
}

/** As `knownZone`. @throws ServiceError `config.invalid` where there is no such zone */
export function assertZone(name: string): string {
  const zone = knownZone(name);
  if (zone === undefined) {
    throw new ServiceError(
      'config.invalid',
      `"${name}" is not a time zone. Give a name such as Europe/Berlin, America/New_York or UTC.`,
    );
  }
  return zone;
}

function canonicalName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The zone of this computer. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

const ISO_DATE =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** A date in text: as its clock shows it, in milliseconds since 1970, and that clock's offset, where it is written. */
interface WrittenDate {
  local: number;
  /** Milliseconds ahead of UTC. */
  offset?: number;
}

/**
 * An ISO 8601 date or date with time, in milliseconds since 1970; NaN when it is not one. Without a zone it is UTC.
 * What is finer than a millisecond is dropped.
 */
export function parseDate(text: string): number {
  const written = parseIso(text);
  return written === undefined ? NaN : written.local - (written.offset ?? 0);
}

function parseIso(text: string): WrittenDate | undefined {
  const match = ISO_DATE.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, year, month, day, hour, minute, second, fraction, zone] = match;
  const local =
    computeDay(Number(year), Number(month), Number(day)) + computeTime(hour, minute, second, fraction);
  return Number.isNaN(local) ? undefined : { local, offset: parseOffset(zone) };
}

/** Milliseconds since midnight, NaN for a time that does not exist. 24:00 is the end of the day. */
function computeTime(hour = '0', minute = '0', second = '0', fraction = ''): number {
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) {
    return Number(hour) === 24 && Number(minute) === 0 && Number(second) === 0 ? DAY : NaN;
  }
  const milliseconds = fraction === '' ? 0 : Number(fraction.slice(0, 3).padEnd(3, '0'));
  return ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + milliseconds;
}

const DAYS_OF_400_YEARS = 146_097;

/** The beginning of a day, NaN where the month (from 1) has no such day. */
function computeDay(year: number, month: number, day: number): number {
  const time = Date.UTC(year < 100 ? year + 400 : year, month - 1, day);
  const date = new Date(time);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
    return NaN;
  }
  // Date.UTC takes years below 100 for those of the 20th century; 400 years are always as long.
  return year < 100 ? time - DAYS_OF_400_YEARS * DAY : time;
}

function parseOffset(zone: string | undefined): number | undefined {
  if (zone === undefined) {
    return undefined;
  }
  const minutes =
    zone === 'Z' ? 0 : Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || '0');
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

const LOCAL_DATE =
  /^(?:(\d\d?)([./-])(\d\d?)\2(\d{4}|\d\d)|(\d{4})([./])(\d\d?)\6(\d\d?))(?:,? (\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?([AaPp])[Mm])?)?$/;

const TIME = '(?:,? (\\d\\d?):(\\d\\d)(?::(\\d\\d)(?:[.,](\\d+))?)?(?: ?([AaPp])[Mm])?)?';
/** `2024年11月21日`, also with a time: `9:05`, `9時5分`, `9時05分07秒`. */
const KANJI_DATE =
  /^(\d{4})年(\d\d?)月(\d\d?)日(?: ?(\d\d?)(?::(\d\d)(?::(\d\d))?|時(?:(\d\d?)分(?:(\d\d?)秒)?)?))?$/;
/** `21-Nov-2024`, `21. November 2024`, `21 nov. 2024 9:05`. */
const NAMED_MONTH = new RegExp(`^(\\d\\d?)(?:\\.? |[-.])(\\p{L}{3,9})\\.?[ -](\\d{4}|\\d\\d)${TIME}$`, 'u');

/**
 * A date as people write it, in local time, by every order that it can have.
 * @param years the last of the hundred years that two digits can mean
 */
export function parseLocalDate(text: string, years?: number): Partial<Record<DateOrder, number>> {
  const match = LOCAL_DATE.exec(text);
  if (match === null) {
    return parseWords(text, years);
  }
  if (isVersion(text)) {
    return {};
  }
  const [, first, mark, second, last, year, , month, day, hour, minute, seconds, fraction, half] = match;
  const time = computeTime(parseHour(hour, half), minute, seconds, fraction);
  if (year !== undefined) {
    return orders({ ymd: computeDay(Number(year), Number(month), Number(day)) + time });
  }
  const full = last!.length === 4 ? Number(last) : fullYear(Number(last), years);
  const dmy = computeDay(full, Number(second), Number(first)) + time;
  if (mark === '.') {
    // The day comes first everywhere.
    return orders({ dmy });
  }
  const mdy = computeDay(full, Number(first), Number(second)) + time;
  // 24-03-11 may be of 2024 as well as of 2011.
  const isYear = mark === '-' && last!.length === 2 && first!.length === 2;
  return orders(
    isYear
      ? { dmy, mdy, ymd: computeDay(fullYear(Number(first), years), Number(second), Number(last)) + time }
      : { dmy, mdy },
  );
}

/** A date with signs or names for its parts. */
function parseWords(text: string, years: number | undefined): Partial<Record<DateOrder, number>> {
  const kanji = KANJI_DATE.exec(text);
  if (kanji !== null) {
    const [, year, month, day, hour, colon, seconds, minutes, spoken] = kanji;
    const time = computeTime(hour, colon ?? minutes, seconds ?? spoken);
    return orders({ ymd: computeDay(Number(year), Number(month), Number(day)) + time });
  }
  const named = NAMED_MONTH.exec(text);
  const month = named === null ? undefined : MONTHS.get(named[2]!.toLowerCase());
  if (named === null || month === undefined) {
    return {};
  }
  const [, day, , year, hour, minute, seconds, fraction, half] = named;
  const time = computeTime(parseHour(hour, half), minute, seconds, fraction);
  const full = year!.length === 4 ? Number(year) : fullYear(Number(year), years);
  return orders({ dmy: computeDay(full, month, Number(day)) + time });
}

function orders(read: Partial<Record<DateOrder, number>>): Partial<Record<DateOrder, number>> {
  return Object.fromEntries(Object.entries(read).filter(([, time]) => !Number.isNaN(time)));
}

/** 1.2.10 is a version, unless a time follows. */
function isVersion(text: string): boolean {
  return !text.includes(':') && /^\d\.|^\d\d?\.\d\./.test(text) && !/^[\d.]+\d{4}(?!\d)/.test(text);
}

/** What POSIX has two digits of a year mean: 1969 to 2068. */
const POSIX_YEARS = 2068;

/**
 * The year that two digits mean.
 * @param last the last of the hundred years that it can be
 */
export function fullYear(digits: number, last = POSIX_YEARS): number {
  const year = last - (last % 100) + digits;
  return year > last ? year - 100 : year;
}

const NO_HOUR = '99';

function parseHour(hour: string | undefined, half: string | undefined): string | undefined {
  if (half === undefined || hour === undefined) {
    return hour;
  }
  const twelve = Number(hour);
  const pm = half.toLowerCase() === 'p' ? 12 : 0;
  return twelve < 1 || twelve > 12 ? NO_HOUR : String((twelve % 12) + pm);
}

/**
 * Numbers below the first are seconds since 1970 (until the year 5138), those up to the next milliseconds, microseconds
 * and nanoseconds (from March 1973 on).
 */
const SECONDS_BELOW = 1e11;
const MILLISECONDS_BELOW = 1e14;
const MICROSECONDS_BELOW = 1e17;
const NANOSECONDS_BELOW = 1e20;
const PLAIN_NUMBER = /^[+-]?\d{1,19}(?:\.\d+)?$/;

/** What a time as a number means, in milliseconds since 1970; NaN where that is not known. */
function computeEpoch(value: number): number {
  const size = Math.abs(value);
  if (size < MILLISECONDS_BELOW) {
    return size < SECONDS_BELOW ? value * 1000 : value;
  }
  return size < MICROSECONDS_BELOW
    ? Math.floor(value / 1e3)
    : size < NANOSECONDS_BELOW
      ? Math.floor(value / 1e6)
      : NaN;
}

/** Reads the cells of one date column. */
export class DateReader {
  private readonly zone: TimeZone | undefined;
  private readonly order: DateOrder | undefined;
  private readonly years: number | undefined;
  private readonly numbers: CellReading['numbers'];

  constructor({ zone, order, years, numbers }: CellReading) {
    this.zone = zone === undefined ? undefined : TimeZone.of(zone);
    this.order = order;
    this.years = years;
    this.numbers = numbers;
  }

  /** A date as the column holds it, in milliseconds; NaN when the cell is not one. */
  read(cell: unknown): number {
    if (typeof cell === 'string') {
      return this.readText(cell);
    }
    if (typeof cell === 'number' || typeof cell === 'bigint') {
      return this.fromNumber(Number(cell));
    }
    return isDate(cell) ? this.fromInstant(cell.getTime()) : NaN;
  }

  /** An instant as the column holds it. */
  fromInstant(instant: number): number {
    return this.zone === undefined || Number.isNaN(instant) ? instant : this.zone.toLocal(instant);
  }

  /**
   * The instant of a date, in milliseconds; NaN when the cell is not one. Text without a zone, and a date in digits alone, are
   * in the column's.
   */
  instant(cell: unknown): number {
    const digits = timeOfDigits(cell);
    if (!Number.isNaN(digits)) {
      return this.zone === undefined ? digits : this.zone.toInstant(digits);
    }
    const utc = new DateReader({ order: this.order, years: this.years });
    if (typeof cell !== 'string' || this.zone === undefined) {
      return utc.read(cell);
    }
    const trimmed = cell.trim();
    const written = parseIso(trimmed) ?? parseIso(tidyDate(trimmed) ?? '');
    const isLocal = written === undefined ? !PLAIN_NUMBER.test(trimmed) : written.offset === undefined;
    const read = utc.read(cell);
    return isLocal && !Number.isNaN(read) ? this.zone.toInstant(read) : read;
  }

  private fromNumber(value: number): number {
    if (this.numbers === undefined) {
      return this.fromInstant(computeEpoch(value));
    }
    return this.numbers === 'days' ? dateOfSerial(value) : dateOfDigits(String(value));
  }

  private readText(text: string): number {
    const trimmed = text.trim();
    const read = this.readPlain(trimmed);
    if (!Number.isNaN(read)) {
      return read;
    }
    const tidy = tidyDate(trimmed);
    return tidy === undefined ? NaN : this.readPlain(tidy);
  }

  private readPlain(text: string): number {
    const iso = parseIso(text);
    if (iso !== undefined) {
      return iso.offset === undefined ? iso.local : this.fromInstant(iso.local - iso.offset);
    }
    if (PLAIN_NUMBER.test(text)) {
      return this.fromNumber(Number(text));
    }
    const read = parseLocalDate(text, this.years);
    if (this.order !== undefined) {
      return read[this.order] ?? NaN;
    }
    const times = Object.values(read);
    return times.every((time) => time === times[0]) ? (times[0] ?? NaN) : NaN;
  }
}

const SET_TYPE = 'Set its type in Column types to date-dmy (day first) or date-mdy (month first).';

/**
 * Why a cell is not a date of a column, and what would be one.
 *
 * @param remedy what to do where it can mean two days
 */
export function whyNotDate(
  shown: string,
  cell: unknown,
  order: DateOrder | undefined,
  remedy = SET_TYPE,
): string {
  if (typeof cell === 'string' && order === undefined) {
    const { dmy, mdy } = parseLocalDate(cell.trim());
    if (dmy !== undefined && mdy !== undefined) {
      return `${shown} can mean ${dayText(dmy)} or ${dayText(mdy)}. ${remedy}`;
    }
  }
  const example = order === undefined ? '' : `, or one in the order of this column (${ORDER_NAMES[order]})`;
  return `${shown} is not a date. Give a Date, the time since 1970 in s, ms, µs or ns, or ISO 8601 text such as 2026-01-31T12:00:00Z${example}.`;
}

const ORDER_NAMES = { dmy: 'day, month, year', mdy: 'month, day, year', ymd: 'year, month, day' };

function dayText(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
