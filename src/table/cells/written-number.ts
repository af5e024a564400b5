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

/** The unit of times of day and of durations: `9:05`, `9:05 PM`, `120:30:15`. The number is their seconds. */
export const CLOCK = 'h:mm';

const MAX_LENGTH = 40;

/** Units that need no space before them, and are no word. */
const UNITS = new Set(
  (
    '% ‰ ° °C °F K € $ £ ¥ ₹ 円 元 Wh kWh MWh GWh W kW MW VA kVA var kvar V mV kV mA Ah mAh Hz kHz MHz Pa hPa kPa MPa bar mbar ' +
    'psi ml cl dl l L m3 m2 km cm mm μm ft km/h kmh mph m/s kg mg lb oz ms μs min kB KB MB GB TB ppm ppb lx lm dB dBm ' +
    'rpm Nm kN kJ MJ J/s l/h l/min m3/h kWh/m2 W/m2 g/m3 μg/m3 mg/l'
  ).split(' '),
);
const CODES = 'EUR|USD|GBP|CHF|JPY|CNY|AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|INR|BRL|KRW|MXN|ZAR|TRY';
const SIGNS = '[€$£¥₹]|(?:US|A|C|R|HK)\\$';
const DIGITS = "[.,]?\\d(?:[\\d.,'’ ]*\\d)?(?:[eE][+-]?\\d{1,3})?";
const NUMBER = new RegExp(
  `^([+-]?) ?(${CODES}|${SIGNS})? ?([+-]?) ?(${DIGITS})(?:( ?)([%‰°€$£¥₹円元]|°[A-Z]|[A-Za-zμΩ][A-Za-z0-9μΩ/]{0,5}))?(-?)$`,
);
const PARENTHESES = /^([^()]*)\(([^()]+)\)([^()]*)$/;
const TIME = /^([+-]?)(\d{1,4}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,3}))?)?(?: ?([AaPp])\.?[Mm]\.?)?$/;
const GROUPED_BY_SPACE = /^[1-9]\d{0,2}([ '’])\d{3}(?:\1\d{3})*(?:[.,]\d+)?$/;
/** As in India: 12,34,567. */
const GROUPED_BY_TWO = /^\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?$/;

/**
 * The number that a text is: with spaces or apostrophes between its thousands, another sign for minus, in parentheses
 * or with its minus behind (as accounts have it), in full-width digits, as `="1.5"`, with a unit, or a time of day.
 * Undefined where it is none of these.
 */
export function writtenNumber(cell: string): WrittenNumber | undefined {
  if (cell.length > MAX_LENGTH || !/[0-9０-９]/.test(cell)) {
    return undefined;
  }
  const { text, isNegative } = withoutParentheses(plainSigns(cell));
  const clock = TIME.exec(text);
  if (clock !== null && !isNegative) {
    return secondsOf(clock);
  }
  const match = NUMBER.exec(text);
  if (match === null) {
    return undefined;
  }
  const [, sign = '', before = '', sign2 = '', body, space, after = '', behind] = match;
  const minus = [isNegative, sign === '-', sign2 === '-', behind === '-'].filter(Boolean).length;
  const isUnit = after === '' || space === ' ' || UNITS.has(after);
  // A minus behind is one of accounts, which write cents; 2- is a grade.
  const isMinus = behind !== '-' || /[.,]\d\d$/.test(body!);
  const digits = withoutGroups(body!);
  if (
    minus > 1 ||
    sign + sign2 === '++' ||
    !isUnit ||
    !isMinus ||
    digits === undefined ||
    (before && after)
  ) {
    return undefined;
  }
  return { text: `${minus === 1 ? '-' : ''}${digits}`, unit: before || after };
}

/** In ASCII where that means the same: full-width digits, all kinds of spaces, signs for minus; `="1.5"` without its shell. */
function plainSigns(cell: string): string {
  const text = cell
    .normalize('NFKC')
    .replace(/[\u2212\u2013\ufe63]/g, '-')
    .replace(/\s+/g, ' ')
    .trim();
  const shell = /^(?:="(.*)"|'(.+))$/.exec(text);
  return shell === null ? text : (shell[1] ?? shell[2]!);
}

/** `(2.50)`, `$(2.50)` and `(2.50) €` are -2.50. */
function withoutParentheses(text: string): { text: string; isNegative: boolean } {
  const match = PARENTHESES.exec(text);
  return match === null
    ? { text, isNegative: false }
    : { text: `${match[1]}${match[2]}${match[3]}`.trim(), isNegative: true };
}

function withoutGroups(body: string): string | undefined {
  if (GROUPED_BY_TWO.test(body)) {
    return body.replaceAll(',', '');
  }
  if (GROUPED_BY_SPACE.test(body)) {
    return body.replace(/[ '’]/g, '');
  }
  return /[ '’]/.test(body) ? undefined : body;
}

function secondsOf([, sign, hours, minutes, seconds = '0', fraction, half]: RegExpExecArray):
  WrittenNumber | undefined {
  let hour = Number(hours);
  if (half !== undefined) {
    if (hour < 1 || hour > 12) {
      return undefined;
    }
    hour = (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
  }
  const whole = (hour * 60 + Number(minutes)) * 60 + Number(seconds);
  return {
    text: `${sign === '-' && whole > 0 ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`,
    unit: CLOCK,
  };
}
