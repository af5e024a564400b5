import { dateOfSerial, DateReader, isLikelySerial, timeOfDigits } from '../table';
import { isNamed, plainValue } from './paths';

/** Names of the time of a reading, in the order in which they are believed, without case and marks. */
const NAMES = [
  'time',
  'timestamp',
  'ts',
  'date',
  '_time',
  'datetimeepoch',
  'datetime',
  'timestampms',
  'sourcetimestamp',
  'createdat',
  'lastchanged',
  'lastupdatedepoch',
  'lastupdated',
  'lastseen',
  'publishedat',
  'reportedat',
  'measuredat',
  'observedat',
  'dateobserved',
  'enqueuedtime',
  'timeutc',
  'receivedat',
  '@timestamp',
  'lastupdate',
  'lastreportdate',
  'unixtime',
  'timestamputc',
  'eventtime',
  'collectiontime',
  'readingtime',
  'hourutc',
  'clock',
  'tst',
  'epoch',
  'dt',
  't',
  // As exports of German and Japanese portals have them; a time of day before its date, to which it belongs.
  ...[
    'zeitstempel',
    'zeitpunkt',
    'datumuhrzeit',
    'datumzeit',
    'messzeit',
    'messdatum',
    'zeit',
    'uhrzeit',
    'datum',
  ],
  ...['タイムスタンプ', '日時', '測定日時', '計測日時', '測定時刻', '計測時刻', '時刻', '日付'],
];
const RANKS = new Map(NAMES.map((name, rank) => [name, rank]));
/** Those that have always been times: what they hold is one, or an error. */
const ALWAYS = 4;

/** A zone behind the name of a time, as loggers have it: `Date Time, GMT-05:00`, `Datetime (UTC)`. */
const ZONE = /,? *\(?(?:gmt|utc)(?: ?[+-]\d\d?(?::?\d\d)?)?\)?$/;
/** The format of the times in place of a name, as inverters of SMA write it, and files of KNMI. */
const DATE_FORMAT =
  /^(?:dd[-/.]mm[-/.]yy(?:yy)?|mm[-/.]dd[-/.]yy(?:yy)?|yyyy[-/.]mm[-/.]dd|yyyymmdd)(?:[ t]hh:mm(?::ss)?)?$/;

/** What is known of names of columns: a table has the same in each row. */
const known = new Map<string, number | undefined>();
const MAX_KNOWN = 10_000;

/** How well a column is named as a time, 0 the best; undefined where it is not. */
function rankOfTime(column: string): number | undefined {
  if (known.has(column)) {
    return known.get(column);
  }
  const name = column.slice(column.lastIndexOf('.') + 1).toLowerCase();
  const rank =
    RANKS.get(name) ??
    RANKS.get(name.replace(ZONE, '').replaceAll(/[_ /-]/g, '')) ??
    (DATE_FORMAT.test(name) ? 0 : undefined);
  if (known.size < MAX_KNOWN) {
    known.set(column, rank);
  }
  return rank;
}

/** The name of the time among columns of a table, if there is one. */
export function timeAmong(names: readonly string[]): string | undefined {
  let best: { name: string; rank: number } | undefined;
  for (const name of names) {
    const rank = rankOfTime(name);
    if (rank !== undefined && (best === undefined || rank < best.rank)) {
      best = { name, rank };
    }
  }
  return best?.name;
}

/** Names of a date, behind which a time of day may stand in another column. */
const DATE_NAMES = new Set(['date', 'datum', '日付']);

/** The columns of a table whose cells stay text, as they are read in a zone: its time, and a date beside it. */
export function timeTexts(names: readonly string[], time: string | undefined): string[] {
  return names.filter((name) => name === time || DATE_NAMES.has(name.toLowerCase()) || OF_DAY.test(name));
}

/** The time among the columns of a reading, by its name: the best named of the least nested, and all that are times. */
export function timesIn(
  values: Record<string, unknown>,
): { column: string; value: unknown; columns: string[] } | undefined {
  let best: { score: number; column: string } | undefined;
  let ofDay: string | undefined;
  const columns: string[] = [];
  for (const column in values) {
    const rank = rankOfTime(column);
    if (rank === undefined) {
      continue;
    }
    const value = values[column];
    const isEmpty = value === null || value === '';
    const depth = column.includes('.') ? column.split('.').length - 1 : 0;
    // Nested ones must look like a time: a duration may have such a name.
    if (!isEmpty && !isTime(ofSpreadsheet(column, value), depth > 0 ? ALWAYS : rank)) {
      ofDay ??= OF_DAY.test(column) && isTimeOfDay(value) ? column : undefined;
      continue;
    }
    columns.push(column);
    const score = depth * 100 + rank + (isEmpty ? 10_000 : 0);
    if (best === undefined || score < best.score) {
      best = { score, column };
    }
  }
  if (best === undefined) {
    return timeOfParts(values);
  }
  const { column } = best;
  const told = ofSpreadsheet(column, values[column]);
  const midnight = DATE_NAMES.has(column.toLowerCase()) ? MIDNIGHT.exec(String(told)) : null;
  if (midnight !== null) {
    const beside = Object.keys(values).find((name) => isHour(name, values[name]));
    if (beside !== undefined) {
      const start = Date.parse(`${midnight[1]}T00:00:00Z`);
      const value = new Date(start + Number(values[beside]) * HOUR_MS).toISOString();
      return { column: beside, value, columns: [...columns, beside] };
    }
  }
  if (isDay(told)) {
    const beside = ofDay ?? Object.keys(values).find((name) => isHour(name, values[name]));
    if (beside !== undefined) {
      columns.push(beside);
      const time = beside === ofDay ? values[beside] : `${String(values[beside]).trim()}:00`;
      const value = String(withDate(time, columns, values));
      const isUtc = column === 'YYYYMMDD' && beside === 'HH';
      return { column: beside, value: isUtc ? `${value}Z` : value, columns };
    }
  }
  return { column, value: withDate(told, columns, values), columns };
}

/** Names of nothing but dates: a number in them is no count of seconds since a start. */
const OF_DATE =
  /^(?:date|date_?time|datum|mess_?datum|datum ?\/? ?(?:uhr)?zeit|zeitpunkt|zeitstempel|(?:測定|計測)?日時|日付)$/i;

/** The date of a spreadsheet, whose rows have it as a number of days, as text without a zone; any other value as it is. */
export function ofSpreadsheet(column: string, value: unknown): unknown {
  return isLikelySerial(value) && OF_DATE.test(column)
    ? new Date(dateOfSerial(value)).toISOString().slice(0, -1)
    : value;
}

/** Names of a time of day that is no time without its date. */
const OF_DAY = /^(?:uhr|mess)?zeit$|時刻$/i;
const TIME_OF_DAY = /^\s*\d\d?([:.])\d\d(?:\1\d\d(?:[.,]\d+)?)?\s*$/;
const DIGITS = /^((?:19|20)\d\d)(\d\d)(\d\d)$/;
const DAY = /^\s*(?:(?:19|20)\d{6}|\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})\s*$/;

function isTimeOfDay(value: unknown): boolean {
  return typeof value === 'string' && TIME_OF_DAY.test(value);
}

function isDay(value: unknown): value is string | number {
  return typeof value === 'string' ? DAY.test(value) : typeof value === 'number' && DIGITS.test(`${value}`);
}

/**
 * Names of the hour of a day: 0 to 23, or 1 to 24 where it is told by its end. KNMI, whose files have YYYYMMDD and HH, tells
 * it in UTC. https://www.knmi.nl/nederland-nu/klimatologie/uurgegevens
 */
const OF_HOUR = /^(?:hh|hour|stunde|uur|時)$/i;

function isHour(column: string, value: unknown): boolean {
  return OF_HOUR.test(column) && /^\s*(?:[01]?\d|2[0-4])\s*$/.test(String(value));
}

/** A day as KNMI answers it in JSON, with the hour in another column, and as a date of a database is written. */
const MIDNIGHT = /^(\d{4}-\d\d-\d\d)T00:00(?::00(?:\.0+)?)?Z$/;
const HOUR_MS = 3_600_000;

/**
 * The parts of a time in columns of their own, each with the numbers that it may have: the stations of Beijing (UCI), NSRDB,
 * NASA POWER (`YEAR, MO, DY, HR`), the flights of New York.
 */
const PARTS = [
  { part: 'year', name: /^(?:year|yyyy|jahr|年)$/i, low: 1900, high: 2100 },
  { part: 'month', name: /^(?:month|mo|monat|月)$/i, low: 1, high: 12 },
  { part: 'day', name: /^(?:day|dy|tag|日)$/i, low: 1, high: 31 },
  { part: 'hour', name: /^(?:hour|hr|stunde|時)$/i, low: 0, high: 24 },
  { part: 'minute', name: /^(?:minute|分)$/i, low: 0, high: 59 },
] as const;
const partsKnown = new Map<string, (typeof PARTS)[number] | undefined>();

function findPart(column: string): (typeof PARTS)[number] | undefined {
  if (partsKnown.has(column)) {
    return partsKnown.get(column);
  }
  const found = PARTS.find(({ name }) => name.test(column));
  if (partsKnown.size < MAX_KNOWN) {
    partsKnown.set(column, found);
  }
  return found;
}

/** The time of a reading without a column of it: its year, month and day, and from the hour on what there is. */
function timeOfParts(
  values: Record<string, unknown>,
): { column: string; value: unknown; columns: string[] } | undefined {
  const told = new Map<string, { column: string; digits: string }>();
  for (const column in values) {
    const found = findPart(column);
    if (found === undefined) {
      continue;
    }
    const { part, low, high } = found;
    const cell = values[column];
    const number = typeof cell === 'string' && cell.trim() !== '' ? Number(cell) : cell;
    if (typeof number !== 'number' || !Number.isInteger(number) || number < low || number > high) {
      return undefined;
    }
    told.set(part, { column, digits: String(number).padStart(2, '0') });
  }
  const [year, month, day, hour, minute] = PARTS.map(({ part }) => told.get(part));
  if (year === undefined || month === undefined || day === undefined) {
    return undefined;
  }
  const date = `${year.digits}-${month.digits}-${day.digits}`;
  const used = [year, month, day, ...(hour === undefined ? [] : [hour, ...(minute ? [minute] : [])])];
  return {
    column: (hour ?? day).column,
    value: hour === undefined ? date : `${date} ${hour.digits}:${minute?.digits ?? '00'}`,
    columns: used.map(({ column }) => column),
  };
}

/** A time of day, as `18:00:00` or `18.00.00`, behind the date that stands in a column of its own. */
function withDate(time: unknown, columns: readonly string[], values: Record<string, unknown>): unknown {
  const mark = typeof time === 'string' ? TIME_OF_DAY.exec(time)?.[1] : undefined;
  const dates = columns.map((column) => values[column]);
  const date = dates.find(isDay);
  return mark === undefined || date === undefined
    ? time
    : `${String(date).trim().replace(DIGITS, '$1-$2-$3')} ${(time as string).trim().replaceAll(mark, ':')}`;
}

const DATE = /^\s*(?:\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4}|\d{8}T\d{4})/;
/** A time of a smart meter (P1): winter or summer time of Central Europe behind it. https://github.com/mrWheel/DSMRloggerAPI */
const DSMR = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)([WS])$/;
const EPOCH = /^\s*\d{9,19}(?:\.\d+)?\s*$/;

/** Numbers between 2000 and 2100 are times, and so are dates in digits (`202103141122`); others may be a counter. */
const EARLIEST = Date.UTC(2000, 0);
const LATEST = Date.UTC(2100, 0);

/** Whether a value of a column that is named as a time is one. */
function isTime(value: unknown, rank: number): boolean {
  if (value instanceof Date || rank < ALWAYS) {
    return true;
  }
  if (typeof value === 'number' || typeof value === 'bigint') {
    const digits = timeOfDigits(value);
    const time = Number.isNaN(digits) ? (instant(value) as number) : digits;
    return time >= EARLIEST && time < LATEST;
  }
  return (
    typeof value === 'string' &&
    (DATE.test(value) || EPOCH.test(value) || DSMR.test(value) || !Number.isNaN(timeOfDigits(value)))
  );
}

/** The name of a time that is none of the reading, but of something that it tells of: `last_updated_ts`, `bootAt`, `sunrise`. */
const OF_TIME =
  /(?:(?:^|[_.-])(?:ts|timestamp|at|epoch|lc|sunrise|sunset|moonrise|moonset|(?:last_?)?(?:updated?|modified|changed?|seen)|created|expires|since|until)|[a-z](?:Ts|Timestamp|At|Epoch))$|(?:^|\.)Epoch(?:[A-Z]|$)/;
/** The same with the word in it: `frame_time`, `timeOfSample`. */
const TIME_WORD = /(?:^|[_.-])time(?:$|[A-Z_])|[a-z]Time(?:$|[A-Z_])/;
/** The name of nothing but a time, in whatever digits: `gas_timestamp: 210606140010`. */
const STAMP = /(?:(?:^|[_.-])time_?stamp|[a-z]Time[Ss]tamp)$/;

/** Whether a column with such a name holds a time in a number, which only ever rises. */
export function isEpochIn(column: string, value: unknown): boolean {
  return (
    typeof value === 'number' &&
    (STAMP.test(column) || ((OF_TIME.test(column) || TIME_WORD.test(column)) && looksLikeTime(value)))
  );
}

const ZONED = /:\d\d.*(?:Z|[+-]\d\d(?::?\d\d)?|GMT|UTC)\s*$/i;
const ZONE_OF_NAME = /(?:gmt|utc)(?: ?([+-])(\d\d?):?(\d\d)?)?\)?$/i;
const DATES = new DateReader({});

/** How many seconds ahead of UTC the times of a column are, where its name says so: `dateutc`, `Date Time, GMT-05:00`. */
export function readOffset(column: string): number | undefined {
  const match = ZONE_OF_NAME.exec(column);
  if (match === null) {
    return undefined;
  }
  const [, sign, hours = '0', minutes = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
}

/** Whether a value is a date, or a number of the size of a time. */
export function looksLikeTime(value: unknown): boolean {
  return isTime(value, ALWAYS);
}

/** Whether a text is a date with a time of day: never a value of a sensor. */
export function isDateText(text: string): boolean {
  return /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/.test(text);
}

const DURATION = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** A time some steps later, each so many seconds or a duration of ISO 8601; undefined where that cannot be told. */
export function later(start: unknown, steps: number, step: unknown): number | undefined {
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    (typeof step === 'string' ? DURATION.exec(step) : null) ?? [];
  const length =
    typeof step === 'number'
      ? step
      : ((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds);
  const time = typeof start === 'string' ? DATES.instant(start) : Number(start);
  return Number.isFinite(time) && (steps === 0 || length > 0) ? time + steps * length * 1000 : undefined;
}

/** A period of ISO 8601, from one date to another one. */
const PERIOD = /^\d{4}-\d\d-\d\dT[^/\s]+\/(\d{4}-\d\d-\d\dT[^/\s]+)$/;

const MILLISECONDS_FROM = 1e11;
const MICROSECONDS_FROM = 1e14;
const NANOSECONDS_FROM = 1e17;

/**
 * A time in milliseconds since 1970, of a period its end: of a number in seconds, milliseconds, microseconds or nanoseconds, or of seconds and
 * nanoseconds apart. Text that is no such number, and a Date, are left as they are; a date in digits is text.
 *
 * @param offset seconds ahead of UTC of a text that names no zone
 */
export function instant(value: unknown, offset?: unknown): unknown {
  // As stations upload it to Weather Underground.
  if (value === 'now') {
    return undefined;
  }
  const digits = timeOfDigits(value);
  if (!Number.isNaN(digits)) {
    return typeof offset === 'number' ? digits - offset * 1000 : String(value);
  }
  if (typeof value === 'bigint' || (typeof value === 'string' && EPOCH.test(value))) {
    return instant(Number(value));
  }
  if (typeof value === 'number') {
    return value >= NANOSECONDS_FROM
      ? Math.round(value / 1e6)
      : value >= MICROSECONDS_FROM
        ? Math.round(value / 1000)
        : value >= MILLISECONDS_FROM
          ? Math.round(value)
          : Math.round(value * 1000);
  }
  if (isNamed(value)) {
    const long = plainValue(value);
    if (long !== undefined) {
      return instant(long);
    }
    const seconds = Number(value.timeInSeconds ?? value.seconds);
    return Number.isFinite(seconds)
      ? seconds * 1000 + Math.round(Number(value.offsetInNanos ?? value.nanos ?? 0) / 1e6)
      : undefined;
  }
  const meter = typeof value === 'string' ? DSMR.exec(value) : null;
  if (meter !== null) {
    const [year, month, day, hour, minute, second] = meter.slice(1, 7).map(Number);
    return Date.UTC(2000 + year!, month! - 1, day, hour! - (meter[7] === 'S' ? 2 : 1), minute, second);
  }
  const period = typeof value === 'string' ? PERIOD.exec(value) : null;
  if (period !== null) {
    return instant(period[1], offset);
  }
  if (typeof value === 'string' && typeof offset === 'number' && !ZONED.test(value)) {
    const utc = DATES.instant(value);
    return Number.isNaN(utc) ? value : utc - offset * 1000;
  }
  return value;
}

/** A time in milliseconds as what no one can take for seconds, or a date in digits: that of a simulation, which begins at 0. */
export function asInstant(time: unknown): unknown {
  return typeof time === 'number' && (Math.abs(time) < MILLISECONDS_FROM || !Number.isNaN(timeOfDigits(time)))
    ? new Date(time)
    : time;
}
