/** 1970-01-01 as spreadsheets count days. */
const SERIAL_OF_1970 = 25_569;
/** Serials of 1954 to 2119. */
const SERIALS = [20_000, 80_000] as const;

/** True for a number that can be a date of a spreadsheet: days since 1900, the time of day as a fraction. */
export function isSerial(value: number): boolean {
  return value >= SERIALS[0] && value <= SERIALS[1];
}

/** The date of a spreadsheet's number, in milliseconds since 1970, to the second. */
export function dateOfSerial(value: number): number {
  return Math.round((value - SERIAL_OF_1970) * 86_400) * 1000;
}

const DIGITS = /^(19\d\d|20\d\d)(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?:([01]\d|2[0-3])([0-5]\d)([0-5]\d)?)?$/;

/** A date written in digits alone, such as 20241121 or 20241121090500, in milliseconds; NaN where it is none. */
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

/** Whether a whole number of so many digits may be a date in digits. */
export function mayBeDigits(digits: number): boolean {
  return digits === 8 || digits === 12 || digits === 14;
}
