import { exactDecimal, secondsOfText } from './written-time';

/*
 * Numbers as people write them, beyond what classify.ts reads at a glance. This is the slow way: it is taken only by
 * text that the fast way does not read.
 */

/** A number as people write it. */
export interface WrittenNumber {
  /** The same as programs write it: a sign, digits, a decimal mark; a comma or point may still group thousands. */
  text: string;
  /** What stands beside it, such as `%`, `€` or `kWh`; empty where nothing does. */
  unit: string;
}

/** The unit of times of day and of durations, whose number is their seconds. */
const CLOCK = 'h:mm';

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
  ...{ '½': 1 / 2, '¼': 1 / 4, '¾': 3 / 4, '⅓': 1 / 3, '⅔': 2 / 3 },
  ...{ '⅛': 1 / 8, '⅜': 3 / 8, '⅝': 5 / 8, '⅞': 7 / 8 },
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
