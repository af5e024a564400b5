import { dateOfDigits, isSerial } from '../cells/date-numbers';
import type { CellReading } from '../cells/types';

const NUMBER = /^\s*\d{1,15}(?:\.\d+)?\s*$/;

/** What the numbers of a column that is given as dates are, over all of its cells. */
export class DateNumbers {
  private areDays = true;
  private areDigits = true;
  private count = 0;

  add(cells: ArrayLike<unknown>): void {
    for (let i = 0; i < cells.length && (this.areDays || this.areDigits); i++) {
      const cell = cells[i];
      if (typeof cell === 'number' || typeof cell === 'bigint') {
        this.see(String(cell));
      } else if (typeof cell === 'string' && NUMBER.test(cell)) {
        this.see(cell.trim());
      }
    }
  }

  private see(number: string): void {
    this.count++;
    this.areDays &&= isSerial(Number(number));
    this.areDigits &&= !Number.isNaN(dateOfDigits(number));
  }

  /** Undefined where they are seconds or milliseconds since 1970, or there are none. */
  settle(): CellReading['numbers'] {
    return this.count === 0 ? undefined : this.areDays ? 'days' : this.areDigits ? 'digits' : undefined;
  }
}

const NAMES =
  /(?:^|[^a-z])(?:date|datetime|time|timestamp|ts|datum|zeit|zeitpunkt|zeitstempel|heure|fecha|created|updated|changed)(?:[^a-z]|$)|日付|日時|時刻/i;
/** Seconds since 1970 of 2001 to 2036. */
const SECONDS = [1e9, 2.1e9] as const;
/** Serials of 1982 to 2064. */
const LIKELY_SERIALS = [30_000, 60_000] as const;

/** Says of a column of numbers that they may be dates, where its name and its first number let one think so. */
export function dateNumbersWarning(name: string, first: number): string | undefined {
  const seconds =
    [1, 1e3, 1e6, 1e9].map((unit) => first / unit).findLast((value) => value >= SECONDS[0]) ?? 0;
  const isTime = seconds >= SECONDS[0] && seconds <= SECONDS[1];
  const isDay =
    (first >= LIKELY_SERIALS[0] && first <= LIKELY_SERIALS[1]) || !Number.isNaN(dateOfDigits(String(first)));
  // 45,000 of a time may be milliseconds of anything.
  if (
    !NAMES.test(name.replace(/([a-z])([A-Z])/g, '$1 $2')) ||
    !(isTime || (isDay && !/time|ts$|zeit/i.test(name)))
  ) {
    return undefined;
  }
  const types = (type: string): string => JSON.stringify({ [name]: type });
  return `Column "${name}" holds numbers such as ${first} that may be dates: set Column types ${types('date')} if they are; ${types('number')} keeps them as they are without this warning.`;
}
