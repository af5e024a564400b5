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
const NUMBER = '(\\d+(?:[.,]\\d+)?)';
/** ISO 8601: `PT1H30M`, `P1DT12H`. */
const ISO = new RegExp(
  `^(-)?P(?!$)(?:${NUMBER}W)?(?:${NUMBER}D)?(?:T(?!$)(?:${NUMBER}H)?(?:${NUMBER}M)?(?:${NUMBER}S)?)?$`,
);
/** `1h 30m`, `2 days 3 hours`: two parts at least. */
const PARTS =
  /^(?:(\d+) ?d(?:ays?)?,? ?)?(?:(\d+) ?h(?:ours?|rs?)?,? ?)?(?:(\d+) ?m(?:in|ins|inutes?)?,? ?)?(?:(\d+) ?s(?:ec|ecs|econds?)?)?$/;
/** `1 day, 0:30:00`, `1d 03:00:00`, `1.00:30:00`. */
const DAYS_AND_TIME = /^(\d+)(?: ?d(?:ays?)?,? ?|\.)(\d{1,2}):([0-5]\d)(?::([0-5]\d)(?:[.,](\d{1,9}))?)?$/;

const SECONDS = [604_800, 86_400, 3600, 60, 1];

/** The seconds of a time of day or a duration, as a number with a decimal point is written; undefined for other text. */
export function secondsOfText(text: string): string | undefined {
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
  string | undefined {
  const hour = hourOf(Number(hours), half);
  if (hour === undefined) {
    return undefined;
  }
  const whole = (hour * 60 + Number(minutes)) * 60 + Number(seconds);
  return `${sign === '-' && whole > 0 ? '-' : ''}${whole}${fraction === undefined ? '' : `.${fraction}`}`;
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) {
    return hour;
  }
  return hour < 1 || hour > 12 ? undefined : (hour % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
}

function secondsOfHour(text: string): string | undefined {
  const half = HALF_DAY.exec(text);
  if (half !== null) {
    const hour = hourOf(Number(half[1]), half[2]);
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
export function exactDecimal(value: number): string {
  const text = String(value);
  const at = text.indexOf('.');
  if (at < 0 || text.includes('e')) {
    return text;
  }
  const digits = `${text.slice(0, at)}${text.slice(at + 1)}`.replace(/^(-?)0+(?=\d)/, '$1');
  return `${digits}e-${text.length - at - 1}`;
}
