/*
 * Times of day and durations as people and programs write them, in seconds. What has years or months in it is none of
 * them: these are of no certain length.
 */

const TIME =
  /^([+-]?)(\d{1,4}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3}))?)?(?: ?([AaPp])\.?[Mm]\.?)?(?: Uhr)?$/;
/** `2 PM`. */
const HALF_DAY = /^(\d{1,2}) ?([AaPp])\.?[Mm]\.?$/;
/** `10.05 Uhr`, `10h05`. */
const OTHER_MARK = /^(\d{1,2})(?:\.([0-5]\d) ?Uhr|h([0-5]\d))$/;
/** `午後3時05分`, `15時05分30秒`. */
const JAPANESE = /^(午前|午後)?(\d{1,2})時([0-5]?\d)分(?:([0-5]?\d)秒)?$/;
const TIME_PART = '(\\d+(?:[.,]\\d+)?)';
/** ISO 8601: `PT1H30M`, `P1DT12H`. */
const ISO = new RegExp(
  `^(-)?P(?!$)(?:${TIME_PART}W)?(?:${TIME_PART}D)?(?:T(?!$)(?:${TIME_PART}H)?(?:${TIME_PART}M)?(?:${TIME_PART}S)?)?$`,
);
/** `1h 30m`, `2 days 3 hours`: two parts at least. */
const PARTS =
  /^(?:(\d+) ?d(?:ays?)?,? ?)?(?:(\d+) ?h(?:ours?|rs?)?,? ?)?(?:(\d+) ?m(?:in|ins|inutes?)?,? ?)?(?:(\d+) ?s(?:ec|ecs|econds?)?)?$/;
/** `1 day, 0:30:00`, `1d 03:00:00`, `1.00:30:00`. */
const DAYS_AND_TIME = /^(\d+)(?: ?d(?:ays?)?,? ?|\.)(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?$/;

const SECONDS = [604_800, 86_400, 3600, 60, 1];

/** The seconds of a time of day or a duration, as a number with a decimal point is written; undefined for other text. */
function secondsOfText(text: string): string | undefined {
  const first = text.charCodeAt(0);
  if (first === NOON) {
    return secondsOfJapanese(text);
  }
  // A digit, a sign or a P.
  if (first > 57 && first !== 80) {
    return undefined;
  }
  const clock = TIME.exec(text);
  return clock !== null ? secondsOfClock(clock) : (secondsOfHour(text) ?? secondsOfDuration(text));
}

function secondsOfClock([, sign, hours, minutes, seconds = '0', fraction, half]: RegExpExecArray):
  | string
  | undefined {
  const hour = parseHour(Number(hours), half);
  if (hour === undefined) {
    return undefined;
  }
  const whole = (hour * 60 + Number(minutes)) * 60 + Number(seconds);
  return `${sign === '-' && whole > 0 ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`;
}

function parseHour(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) {
    return hour;
  }
  return hour < 1 || hour > 12 ? undefined : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function secondsOfHour(text: string): string | undefined {
  const half = HALF_DAY.exec(text);
  if (half !== null) {
    const hour = parseHour(Number(half[1]), half[2]);
    return hour === undefined ? undefined : String(hour * 3600);
  }
  const other = OTHER_MARK.exec(text);
  if (other === null) {
    return secondsOfJapanese(text);
  }
  return Number(other[1]) > 24
    ? undefined
    : String(Number(other[1]) * 3600 + Number(other[2] ?? other[3]) * 60);
}

/** `午前`, `午後` begin with it. */
const NOON = '午'.charCodeAt(0);

/** Both halves of the day have an hour 0, and 12. */
function secondsOfJapanese(text: string): string | undefined {
  const time = JAPANESE.exec(text);
  if (time === null) {
    return undefined;
  }
  const [, half, hours, minutes, seconds = '0'] = time;
  const hour = half === undefined ? Number(hours) : (Number(hours) % 12) + (half === '午後' ? 12 : 0);
  return hour > 24 || (half !== undefined && Number(hours) > 12)
    ? undefined
    : String((hour * 60 + Number(minutes)) * 60 + Number(seconds));
}

function secondsOfDuration(text: string): string | undefined {
  const iso = ISO.exec(text);
  if (iso !== null) {
    return sum(iso.slice(2), iso[1] === '-');
  }
  const days = DAYS_AND_TIME.exec(text);
  if (days !== null) {
    const [, day, hour, minute, second = '0', fraction = '0'] = days;
    return sum([undefined, day, hour, minute, `${second}.${fraction}`], false);
  }
  const parts = PARTS.exec(text)?.slice(1);
  return parts === undefined || parts.filter((part) => part !== undefined).length < 2
    ? undefined
    : sum([undefined, ...parts], false);
}

/** @param parts weeks, days, hours, minutes and seconds, as far as they are written */
function sum(parts: readonly (string | undefined)[], isNegative: boolean): string {
  const seconds = parts.reduce(
    (all, part, at) => all + Number((part ?? '0').replace(',', '.')) * SECONDS[at]!,
    0,
  );
  return exactDecimal(isNegative ? -seconds : seconds);
}

/** A number in digits and an exponent, which read alike whatever mark the numbers of a file have. */
function exactDecimal(value: number): string {
  const text = String(value);
  const at = text.indexOf('.');
  if (at < 0 || text.includes('e')) {
    return text;
  }
  const digits = `${text.slice(0, at)}${text.slice(at + 1)}`.replace(/^(-?)0+(?=\d)/, '$1');
  return `${digits}e-${text.length - at - 1}`;
}

/*
 * Numbers as people write them, beyond what classify.ts reads at a glance. This is the slow way: it is taken only by
 * text that the fast way does not read.
 */

/** A number as people write it. */
interface WrittenNumber {
  /** The same as programs write it: a sign, digits, a decimal mark; a comma or point may still group thousands. */
  text: string;
  /** What stands beside it, such as `%`, `€` or `kWh`; empty where nothing does. */
  unit: string;
}

/** The unit of times of day and of durations, whose number is their seconds. */
export const CLOCK = 'h:mm';

const MAX_LENGTH = 40;

/** Units that need no space before them, and are no word. */
const UNITS = new Set(
  (
    '% ‰ ° °C °F K € $ £ ¥ ₹ ₩ 円 元 Wh kWh MWh GWh W kW MW VA kVA var kvar V mV kV mA Ah mAh Hz kHz MHz Pa hPa kPa MPa bar mbar ' +
    'psi ml cl dl l L m3 m2 km cm mm μm ft km/h kmh mph m/s kg mg lb oz ms μs min kB KB MB GB TB ppm ppb lx lm dB dBm ' +
    'rpm Nm kN kJ MJ J/s l/h l/min m3/h kWh/m2 W/m2 g/m3 μg/m3 mg/l'
  ).split(' '),
);
const CODES = 'EUR|USD|GBP|CHF|JPY|CNY|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|KRW|MXN|ZAR|TRY';
const SIGNS = '[€$£¥₹₩]|(?:US|A|C|R|HK)\\$|Rp|kr';
const DIGITS = "[.,]?\\d(?:[\\d.,'’ ]*\\d)?(?:[eE][+-]?\\d{1,3})?";
const NUMBER = new RegExp(
  `^([+-]?) ?(${CODES}|${SIGNS})? ?([+-]?) ?(${DIGITS})(?:( ?)([%‰°€$£¥₹₩円元]|°[A-Z]|[A-Za-zμΩ][A-Za-z0-9μΩ/]{0,5}))?(?: ?(-))?$`,
);
const PARENTHESES = /^([^()]*)\(([^()]+)\)([^()]*)$/;
const GROUPED_BY_SPACE = /^[1-9]\d{0,2}([ '’])\d{3}(?:\1\d{3})*(?:[.,]\d+)?$/;
/** Money without cents, so that three digits after a mark are thousands in any file. */
const WITHOUT_CENTS = new Set(['¥', '円', '₩', 'Rp', 'JPY', 'KRW']);
const GROUPED_BY_MARK = /^[1-9]\d{0,2}([.,])\d{3}(?:\1\d{3})*$/;
const CURRENCY = new RegExp(`^(?:${CODES}|${SIGNS}|[円元])$`);
/** A number in thousands or millions: `1.5k`, `2M`. */
const IN_THOUSANDS = /^([+-]?\d+(?:[.,]\d+)?)([kM])$/;
/** `1 1/2`, `1-1/2`: parts as a ruler has them. */
const WITH_PARTS = /^([+-]?)(\d{1,6})[ -](\d{1,2})\/(2|3|4|8|16|32|64)$/;
const ONE_SIGN = /^([+-]?)(\d{0,6}) ?([½¼¾⅓⅔⅛⅜⅝⅞])$/;
const SIGN_PARTS: Readonly<Record<string, number>> = {
  '½': 1 / 2,
  '¼': 1 / 4,
  '¾': 3 / 4,
  '⅓': 1 / 3,
  '⅔': 2 / 3,
  '⅛': 1 / 8,
  '⅜': 3 / 8,
  '⅝': 5 / 8,
  '⅞': 7 / 8,
};

/** As in India: 12,34,567. */
const GROUPED_BY_TWO = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;

/**
 * The number that a text is: with spaces or apostrophes between its thousands, another sign for minus, in parentheses
 * or with its minus behind (as accounts have it), in the digits of other scripts, as `="1.5"`, with a unit, in thousands
 * (`1.5k`), with parts (`1 1/2`), or a time of day or a duration.
 * Undefined where it is none of these.
 */
export function writtenNumber(cell: string): WrittenNumber | undefined {
  if (cell.length > MAX_LENGTH || !/[\p{Nd}½¼¾⅓⅔⅛⅜⅝⅞]/u.test(cell)) {
    return undefined;
  }
  const parts = withParts(cell.trim());
  if (parts !== undefined) {
    return parts;
  }
  const { text, isNegative } = withoutParentheses(plainSigns(cell));
  const seconds = isNegative ? undefined : secondsOfText(text);
  if (seconds !== undefined) {
    return { text: seconds, unit: CLOCK };
  }
  const thousands = IN_THOUSANDS.exec(text);
  if (thousands !== null) {
    return { text: `${isNegative ? '-' : ''}${thousands[1]}e${thousands[2] === 'k' ? 3 : 6}`, unit: '' };
  }
  const match = NUMBER.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, sign = '', before = '', sign2 = '', body, space, after = '', behind] = match;
  const minus = [isNegative, sign === '-', sign2 === '-', behind === '-'].filter(Boolean).length;
  const isUnit = after === '' || space === ' ' || UNITS.has(after);
  const unit = before || after;
  const digits = withoutGroups(body!, unit);
  if (minus > 1 || sign + sign2 === '++' || !isUnit || digits === undefined || (before && after)) {
    return undefined;
  }
  return { text: `${minus === 1 ? '-' : ''}${digits}`, unit };
}

/** In ASCII where that means the same: full-width digits, all kinds of spaces, signs for minus; `="1.5"` without its shell. */
function plainSigns(cell: string): string {
  const text = cell
    .normalize('NFKC')
    .replace(/[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/g, (digit) => String(valueOfDigit(digit)))
    .replace(/\u066b/g, '.')
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replace(/[\u2212\u2013\ufe63]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
  const shell = /^(?:="(.*)"|'(.+))$/.exec(text);
  return shell === null ? text : (shell[1] ?? shell[2]!);
}

/** Of digits of Arabic, Persian and Devanagari, which come in rows of ten that begin at 0 or 6. */
function valueOfDigit(digit: string): number {
  const code = digit.charCodeAt(0);
  return code < 0x06f0 ? code - 0x0660 : code < 0x0966 ? code - 0x06f0 : code - 0x0966;
}

/** Whether a unit is money. */
export function isCurrency(unit: string | undefined): boolean {
  return unit !== undefined && CURRENCY.test(unit);
}

/** `(2.50)`, `$(2.50)` and `(2.50) €` are -2.50. */
function withoutParentheses(text: string): { text: string; isNegative: boolean } {
  const match = PARENTHESES.exec(text);
  return match === null
    ? { text, isNegative: false }
    : { text: `${match[1]}${match[2]}${match[3]}`.trim(), isNegative: true };
}

function withParts(text: string): WrittenNumber | undefined {
  const written = WITH_PARTS.exec(text);
  const one = written === null ? ONE_SIGN.exec(text) : null;
  const [, sign = '', whole = ''] = written ?? one ?? [];
  const part = written === null ? SIGN_PARTS[one?.[3] ?? ''] : Number(written[3]) / Number(written[4]);
  return part === undefined || part >= 1
    ? undefined
    : { text: exactDecimal((Number(whole) + part) * (sign === '-' ? -1 : 1)), unit: '' };
}

function withoutGroups(body: string, unit: string): string | undefined {
  if (WITHOUT_CENTS.has(unit) && GROUPED_BY_MARK.test(body)) {
    return body.replace(/[.,]/g, '');
  }
  if (GROUPED_BY_TWO.test(body)) {
    return body.replaceAll(',', '');
  }
  if (GROUPED_BY_SPACE.test(body)) {
    return body.replace(/[ '’]/g, '');
  }
  return /[ '’]/.test(body) ? undefined : body;
}
