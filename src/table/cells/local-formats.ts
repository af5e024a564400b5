import * as text from './field-readings';
import type { Decimal } from './types';

/** What text can be taken for. One cell can look like several things at once. */
export const PLAIN = 1;
/** A number with a decimal comma; points may group its thousands. */
export const COMMA = 2;
/** A number with a decimal point; commas may group its thousands. */
export const POINT = 4;
export const ISO_DATE = 8;
/** A date as people write it, in an order of day and month that only they know. */
export const LOCAL_DATE = 16;

const ALL = PLAIN | COMMA | POINT | ISO_DATE | LOCAL_DATE;
const NUMERIC = PLAIN | COMMA | POINT;

const COMMA_NUMBER = /^[+-]?(?!\d{16})(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d+)?$/;
const POINT_NUMBER = /^[+-]?(?!\d{16})(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?$/;
const LOCAL =
  /^(?:(\d\d?)([./-])(\d\d?)\2(?:\d\d|\d{4})|\d{4}([./])(\d\d?)\4(\d\d?))(?:,? \d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?)?$/;

/** Which of `wanted` a cell looks like. `comma`: the file is one whose numbers have a decimal comma. */
export function looksOf(cell: string, wanted = ALL, comma = false): number {
  let looks = 0;
  if ((wanted & (PLAIN | ISO_DATE)) !== 0) {
    const reading = text.readings(cell, comma);
    // A number that is not exact as such is one that nobody counts with: an id.
    const exact = (reading & (text.BEYOND_SAFE | text.BEYOND_INT64)) === 0;
    looks |= (reading & (text.NUMBER | text.COMMA_NUMBER)) !== 0 && exact ? PLAIN : 0;
    looks |= (reading & text.DATE) !== 0 ? ISO_DATE : 0;
  }
  const trimmed = cell.trim();
  looks |= (wanted & COMMA) !== 0 && COMMA_NUMBER.test(trimmed) ? COMMA : 0;
  looks |= (wanted & POINT) !== 0 && POINT_NUMBER.test(trimmed) ? POINT : 0;
  looks |= (wanted & LOCAL_DATE) !== 0 && isLocalDate(trimmed) ? LOCAL_DATE : 0;
  return looks & wanted;
}

function isLocalDate(cell: string): boolean {
  const match = LOCAL.exec(cell);
  if (match === null) {
    return false;
  }
  const [first, second] = [Number(match[1] ?? match[5]), Number(match[3] ?? match[6])];
  // 1.2.10 is a version.
  const short = /^\d\.|^\d\d?\.\d\./.test(cell) && !/^[\d.]+\d{4}(?!\d)/.test(cell);
  return (
    Math.min(first, second) >= 1 && Math.min(first, second) <= 12 && Math.max(first, second) <= 31 && !short
  );
}

/** The number in text with this decimal mark, undefined where it is none. */
export function parseLocalNumber(cell: string, decimal: Decimal): number | undefined {
  const trimmed = cell.trim();
  if (decimal === ',') {
    return COMMA_NUMBER.test(trimmed) ? Number(trimmed.replaceAll('.', '').replace(',', '.')) : undefined;
  }
  return POINT_NUMBER.test(trimmed) ? Number(trimmed.replaceAll(',', '')) : undefined;
}

/** The number in a cell of a column with this decimal mark, NaN when it is missing there, undefined when it is none. */
export function numberWith(decimal: Decimal, cell: string): number | undefined {
  const value = parseLocalNumber(cell, decimal);
  if (value !== undefined) {
    return value;
  }
  const plain = text.parseNumber(cell, false);
  // 1.5 is no number with a decimal comma, so 1.500 beside it would be read as something else.
  return decimal === '.' || plain === undefined || !Number.isFinite(plain) ? plain : undefined;
}

/** The decimal mark that text must have to look so; undefined where it needs none, or could have both. */
export function decimalOf(looks: number): Decimal | undefined {
  const mark = looks & NUMERIC;
  return mark === COMMA ? ',' : mark === POINT ? '.' : undefined;
}

/** What all text of a column looks like. */
export type TextLook = 'number' | 'either number' | 'date' | 'local date';

/** Narrows down what all cells of a column look like. */
export class Looks {
  private possible = ALL;
  private seen: { row: number; value: string; telling: boolean } | undefined;
  /** True while all numbers are whole ones, without grouping. */
  whole = true;

  /** False once the cells look like nothing in common: no more need be added. */
  get alive(): boolean {
    return this.possible !== 0;
  }

  get decimal(): Decimal | undefined {
    return decimalOf(this.possible);
  }

  /** The first cell, or the first that is no plain number where there is one. */
  get example(): { row: number; value: string } | undefined {
    return this.seen;
  }

  add(cell: string, row: number): void {
    if ((this.possible & PLAIN) !== 0) {
      const reading = text.readings(cell, false);
      if ((reading & text.NUMBER) !== 0 && (reading & (text.BEYOND_SAFE | text.BEYOND_INT64)) === 0) {
        this.addPlain(cell, row, (reading & text.WHOLE) !== 0);
        return;
      }
    }
    this.narrow(looksOf(cell, this.possible), cell, row);
  }

  /** A number as JavaScript writes it; most text that holds numbers has only such. */
  private addPlain(cell: string, row: number, whole: boolean): void {
    this.possible &= NUMERIC;
    this.seen ??= { row, value: cell, telling: false };
    if (!whole) {
      this.whole = false;
      // A point may group thousands where three digits follow.
      this.possible &= cell.charCodeAt(cell.length - 4) === 46 ? NUMERIC : ~COMMA;
    }
  }

  /** As `add`, but a cell that does not fit those before changes nothing: it will be refused with its row. */
  addFitting(cell: string, row: number, comma: boolean): void {
    const looks = looksOf(cell, this.possible & NUMERIC, comma);
    if (looks !== 0) {
      this.narrow(looks, cell, row);
    }
  }

  /** A number with a fraction, of a column whose cells need not be added so far. */
  addFraction(cell: string, row: number, point: boolean): void {
    // Where three digits follow, the mark may group thousands.
    const grouping = cell.charCodeAt(cell.length - 4) === (point ? 46 : 44);
    this.possible &= grouping ? ALL : point ? ~COMMA : ~POINT;
    this.whole = false;
    if (!point) {
      this.possible &= COMMA | POINT;
      this.seen ??= { row, value: cell, telling: false };
    }
  }

  /** Leaves what numbers look like, or nothing: cells that were not added were numbers, or were something else. */
  others(numbers: boolean): void {
    this.possible &= numbers ? COMMA | POINT : 0;
  }

  settle(): TextLook | undefined {
    const { possible } = this;
    if (this.seen === undefined) {
      return undefined;
    }
    if ((possible & NUMERIC) !== 0) {
      return (possible & NUMERIC) === (COMMA | POINT) ? 'either number' : 'number';
    }
    return (possible & ISO_DATE) !== 0 ? 'date' : (possible & LOCAL_DATE) !== 0 ? 'local date' : undefined;
  }

  private narrow(looks: number, cell: string, row: number): void {
    this.possible = looks;
    const telling = (looks & PLAIN) === 0;
    if (this.seen === undefined || (telling && !this.seen.telling)) {
      this.seen = { row, value: cell, telling };
    }
    this.whole &&= /^[+-]?\d+$/.test(cell.trim());
  }
}
