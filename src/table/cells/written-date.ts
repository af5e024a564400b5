/** Months by their names and short names, lower case, from 1. */
export const MONTHS: ReadonlyMap<string, number> = new Map(
  [
    'january jan januar jän jänner janvier janv enero ene gennaio gen janeiro januari января',
    'february feb februar février févr fév febrero febbraio fevereiro februari февраля',
    'march mar märz mär mrz mars marzo março maart марта',
    'april apr avril avr abril abr aprile апреля',
    'may mai mayo maggio mag maio mei maj мая',
    'june jun juni juin junio giugno giu junho июня',
    'july jul juli juillet juil julio luglio lug julho июля',
    'august aug août aoû agosto ago augustus augusti августа',
    'september sep sept septembre septiembre settembre set setembro сентября',
    'october oct oktober okt octobre octubre ottobre ott outubro out октября',
    'november nov novembre noviembre novembro ноября',
    'december dec dezember dez décembre déc diciembre dic dicembre dezembro декабря',
  ].flatMap((names, month) => names.split(' ').map((name) => [name, month + 1] as const)),
);

/** 1970-01-01 as spreadsheets count days. */
const SERIAL_OF_1970 = 25_569;
/** Serials of 1954 to 2119. */
const SERIALS = [20_000, 80_000] as const;

/** True for a number that can be a date of a spreadsheet: days since 1900, the time of day as a fraction. */
export function isSerial(value: number): boolean {
  return value >= SERIALS[0] && value <= SERIALS[1];
}

/** Serials of 1982 to 2064. */
const LIKELY_SERIALS = [30_000, 60_000] as const;

/** True for a number that is likely a date of a spreadsheet, where a date is looked for. */
export function isLikelySerial(value: unknown): value is number {
  return typeof value === 'number' && value >= LIKELY_SERIALS[0] && value <= LIKELY_SERIALS[1];
}

/** The date of a spreadsheet's number, in milliseconds since 1970, to the second. */
export function dateOfSerial(value: number): number {
  return Math.round((value - SERIAL_OF_1970) * 86_400) * 1000;
}

const DIGITS =
  /^(19\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:([01]\d|2[0-3])(?:([0-5]\d)([0-5]\d)?)?)?$/;

/**
 * A date written in digits alone, such as 20241121, 2024112109 (DWD) or 20241121090500, in milliseconds; NaN where it is none.
 * Seconds since 1970 have as many digits as the second, and are no such date before the year 2030.
 */
export function dateOfDigits(text: string): number {
  const match = DIGITS.exec(text);
  if (match === null) {
    return NaN;
  }
  const [, year, month, day, hour = '0', minute = '0', second = '0'] = match;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day));
  return new Date(midnight).getUTCDate() === Number(day)
    ? midnight + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000
    : NaN;
}

/** How far ahead a time in seconds may lie, such as that of a plan, to be believed before a date in the same digits. */
const YEAR = 366 * 86_400_000;

/**
 * The date of a reading whose time is written in digits alone, in milliseconds; NaN where it is none. Ten digits may be
 * seconds since 1970 as well, and are such unless these lie more than a year ahead: from 2029 on some do not.
 */
export function timeOfDigits(cell: unknown): number {
  if (typeof cell !== 'string' && typeof cell !== 'number' && typeof cell !== 'bigint') {
    return NaN;
  }
  const text = String(cell).trim();
  const time = dateOfDigits(text);
  const isEpoch = text.length === 10 && Number(text) * 1000 <= Date.now() + YEAR;
  return isEpoch ? NaN : time;
}

/** Whether a whole number of so many digits may be a date in digits. */
export function mayBeDigits(digits: number): boolean {
  return digits === 8 || digits === 10 || digits === 12 || digits === 14;
}

/*
 * Dates as people and programs write them, beyond what parse-date.ts reads at a glance. As with numbers, this slow way
 * is taken only by text that the fast way does not read.
 */

const MAX_LENGTH = 80;

const WEEKDAYS = new Set(
  (
    'mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday ' +
    'mo montag di dienstag mi mittwoch do donnerstag fr freitag sa samstag sonnabend so sonntag ' +
    'lun lundi mar mardi mer mercredi jeu jeudi ven vendredi sam samedi dim dimanche'
  ).split(' '),
);

/** Minutes ahead of UTC. Of names that several zones have, the one that mail and HTTP mean. */
const ZONES: Readonly<Record<string, string>> = {
  UTC: 'Z',
  GMT: 'Z',
  CET: '+01:00',
  MEZ: '+01:00',
  CEST: '+02:00',
  MESZ: '+02:00',
  EST: '-05:00',
  EDT: '-04:00',
  CST: '-06:00',
  CDT: '-05:00',
  MST: '-07:00',
  MDT: '-06:00',
  PST: '-08:00',
  PDT: '-07:00',
  JST: '+09:00',
};

/** First years of Japanese eras, less one. */
const ERAS: Readonly<Record<string, number>> = { 令和: 2018, 平成: 1988, 昭和: 1925 };

const CLOCK = String.raw`(\d\d?):(\d\d)(?::(\d\d)([.,]\d+)?)?`;
const ZONE = String.raw` ?(Z|[A-Z]{3,4}|(?:GMT|UTC)?[+-]\d\d:?\d\d)?`;
/** `20241121T0905`, `20241121T090507Z`, and `20241121:0905`, as PVGIS has it. */
const BASIC = /^(\d{4})(\d\d)(\d\d)[T: ](\d\d)(\d\d)(\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?$/;
/** `2024-11-21 10:00:00 UTC`, `2024-1-5, 7:05`. */
const LOOSE = new RegExp(`^(\\d{4})-(\\d\\d?)-(\\d\\d?)(?:(?:,? |T)${CLOCK}${ZONE})?$`);
/** `2024/11/21T10:00:00z`, as PurpleAir has it. */
const SLASHED = /^\d{4}\/\d\d?\/\d\d?T\d.*/i;
/** `2 Jan 2024 10:00:00 GMT`. */
const MAIL = new RegExp(`^(\\d\\d?) (\\p{L}{3,9}) (\\d{4}) ${CLOCK}${ZONE}$`, 'u');
const YEAR_AND_MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;
/** `2024-W10`, `2024-W10-3`, `2024W10`: of ISO 8601, whose weeks begin on Monday. */
const WEEK = /^(\d{4})-?W(0[1-9]|[1-4]\d|5[0-3])(?:-?([1-7]))?$/;
/** `02/2024`, `Feb 2024`, `February-2024`. */
const MONTH_AND_YEAR = /^(?:(0?[1-9]|1[0-2])\/|(\p{L}{3,9})(?:\.? |-))((?:19|20)\d\d)$/u;
/** `2024M02`, as statistics offices and banks have it. */
const MONTH_OF_YEAR = /^((?:18|19|20)\d\d)-?M(0?[1-9]|1[0-2])$/;
/** What follows a month that is not the name of a day. */
const YEAR_FOLLOWS = /^(?:\d\d?(?:st|nd|rd|th)?,? )?(?:\d\d:\d\d:\d\d )?\d{4}(?!\d)/;
/** `25NOV2026`, `25NOV2026:10:00:00`: DATE9. and DATETIME. of SAS. */
const SAS = /^(\d\d?)(\p{L}{3})(\d{4})(?::(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?$/u;
/** `2024-Q2`, `Q2 2024`. */
const QUARTER = /^(?:(\d{4})[- ]?Q([1-4])|Q([1-4])[-/ ](\d{4}))$/;
const MONTH_FIRST = /^(\p{L}{3,9})\.? (\d\d?)(?:st|nd|rd|th)?,? (\d{4})(?!\d)(.*)$/u;

/**
 * A date in the way that parse-date.ts reads it, ISO 8601 where its zone or order is certain; undefined where the text
 * is not a date of another kind. Without weekdays, "Uhr" and the like; Japanese eras as years.
 */
export function tidyDate(cell: string): string | undefined {
  if (cell.length > MAX_LENGTH || !/[0-9０-９]/.test(cell)) {
    return undefined;
  }
  const text = withoutWords(cell.normalize('NFKC').replace(/\s+/g, ' ').trim());
  const basic = BASIC.exec(text);
  if (basic !== null) {
    const [, year, month, day, hour, minute, second = '00', fraction = '', zone = ''] = basic;
    return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}${zone}`;
  }
  const loose = LOOSE.exec(text.replace(SLASHED, (date) => date.replaceAll('/', '-').toUpperCase()));
  if (loose !== null) {
    const [, year, month, day, ...time] = loose;
    return iso(year!, month!, day!, time);
  }
  const mail = MAIL.exec(text);
  const named = mail === null ? undefined : MONTHS.get(mail[2]!.toLowerCase());
  if (mail?.[8] !== undefined && named !== undefined) {
    return iso(mail[3]!, String(named), mail[1]!, mail.slice(4));
  }
  const sas = SAS.exec(text);
  const ofSas = MONTHS.get(sas?.[2]!.toLowerCase() ?? '');
  if (ofSas !== undefined) {
    const [, day, , year, time] = sas!;
    const date = `${year}-${String(ofSas).padStart(2, '0')}-${day!.padStart(2, '0')}`;
    return time === undefined ? date : `${date}T${time}`;
  }
  const month = YEAR_AND_MONTH.exec(text);
  if (month !== null) {
    return `${text}-01`;
  }
  return findBeginning(text) ?? (text === cell ? undefined : text);
}

/** The first day of a week, a month or a quarter. */
function findBeginning(text: string): string | undefined {
  const week = WEEK.exec(text);
  if (week !== null) {
    // The 4th of January is always in the first week.
    const fourth = new Date(`${week[1]}-01-04`);
    const days = (Number(week[2]) - 1) * 7 + Number(week[3] ?? '1') - (fourth.getUTCDay() || 7);
    const day = new Date(fourth.getTime() + days * 86_400_000);
    return day.toISOString().slice(0, 10);
  }
  const counted = MONTH_OF_YEAR.exec(text);
  if (counted !== null) {
    return `${counted[1]}-${counted[2]!.padStart(2, '0')}-01`;
  }
  const month = MONTH_AND_YEAR.exec(text);
  const number = month === null ? undefined : (month[1] ?? MONTHS.get(month[2]!.toLowerCase()));
  if (number !== undefined) {
    return `${month![3]}-${String(number).padStart(2, '0')}-01`;
  }
  const quarter = QUARTER.exec(text);
  return quarter === null
    ? undefined
    : `${quarter[1] ?? quarter[4]}-${String(Number(quarter[2] ?? quarter[3]) * 3 - 2).padStart(2, '0')}-01`;
}

function withoutWords(text: string): string {
  const plain = text
    .replace(/ ?\((?:[月火水木金土日]|[^()]*\p{L}{2}[^()]*)\)/u, '')
    .replace(
      /^(令和|平成|昭和)(\d\d?|元)年/,
      (_, era: string, year: string) => `${(year === '元' ? 1 : Number(year)) + ERAS[era]!}年`,
    )
    .replace(/^(\d{4})年(\d\d?)月(\d\d?)日/, '$1/$2/$3')
    .replace(/^(\d{4})\. ?(\d\d?)\. ?(\d\d?)\.?(?= |$)/, '$1/$2/$3')
    .replace(
      /(午前|午後|上午|下午) ?(\d\d?)(?::|時)(\d\d?)分?(.*)$/,
      (_, ...[half, hour, minute = '', rest]: string[]) =>
        `${hour}:${minute.padStart(2, '0')}${rest} ${half === '午前' || half === '上午' ? 'AM' : 'PM'}`,
    )
    .replace(/ ?([ap])\. ?m\.$/i, ' $1m')
    .replace(/^(\d\d?)\/(\p{L}{3})\/(\d{4}):(?=\d)/u, '$1 $2 $3 ')
    .replace(/([+-]\d{4}) [A-Z]{3,4}$/, '$1')
    .replace(/(?<=Z|[+-]\d\d:\d\d)\[[A-Za-z_/]+\]$/, '')
    .replace(/ г\.$/, '')
    .replace(/ Uhr$/, '')
    .replace(/(\d) ?h ?(\d\d)$/, '$1:$2')
    .replace(/ (?:at|um|à) (?=\d)/, ' ')
    .replace(/ de /g, ' ')
    .replace(
      / (\d\d?)\.(\d\d)(?:\.(\d\d))?$/,
      (_, hour: string, minute: string, second?: string) =>
        ` ${hour}:${minute}${second === undefined ? '' : `:${second}`}`,
    );
  const [first = '', ...rest] = plain.split(' ');
  const word = first.replace(/[.,]+$/, '').toLowerCase();
  // In French, mar is a Tuesday too.
  const isMonth = MONTHS.has(word) && YEAR_FOLLOWS.test(rest.join(' '));
  const dated = WEEKDAYS.has(word) && !isMonth ? rest.join(' ') : plain;
  // As C programs write it: Mar 2 10:00:00 2024.
  const late = dated.replace(/^(\p{L}{3}) (\d\d?) (\d\d:\d\d:\d\d) (\d{4})$/u, '$1 $2 $4 $3');
  return late.replace(MONTH_FIRST, (whole, ...[name = '', day, year, time]: string[]) =>
    MONTHS.has(name.toLowerCase()) ? `${day} ${name} ${year}${time}` : whole,
  );
}

/** @param time hour, minute, second, fraction and zone, as far as they are written */
function iso(year: string, month: string, day: string, time: (string | undefined)[]): string | undefined {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  const [hour, minute, second = '00', fraction = '', zone = ''] = time;
  if (hour === undefined) {
    return date;
  }
  const offset = Object.hasOwn(ZONES, zone) ? ZONES[zone] : zone.replace(/^(?:GMT|UTC)/, '');
  return /^(?:|Z|[+-].*)$/.test(offset!)
    ? `${date}T${hour.padStart(2, '0')}:${minute}:${second}${fraction}${offset}`
    : undefined;
}
