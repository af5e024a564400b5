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
