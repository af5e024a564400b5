import { show } from '../cells/errors';
import { fullYear } from '../cells/parse-date';
import type { CellReading, DateOrder } from '../cells/types';
import { tidyDate } from '../cells/written-date';
import type { Sight } from './findings';

/** Dates as near to the present as this are those of a diary or a plan, and may lie ahead. */
const NEAR_YEARS = 20;

const IN_NUMBERS = /^(\d\d?)([./-])\d\d?\2(\d\d)(?!\d)/;
const WITH_NAME = /^\d\d?(?:\.? |[-.])\p{L}{3,9}\.?[ -](\d\d)(?!\d)/u;

/** The years of two digits among the dates of a column. */
export class ShortYears {
  private readonly first = new Map<number, Sight>();
  private readonly last = new Map<number, Sight>();

  add(cell: string, row: number): void {
    const text = cell.trim();
    const numbers = IN_NUMBERS.exec(text) ?? IN_NUMBERS.exec(tidyDate(text) ?? '');
    const sight = { row, value: cell };
    if (numbers !== null) {
      see(this.first, Number(numbers[1]), sight);
      see(this.last, Number(numbers[3]), sight);
      return;
    }
    const named = WITH_NAME.exec(text) ?? WITH_NAME.exec(tidyDate(text) ?? '');
    if (named !== null) {
      see(this.last, Number(named[1]), sight);
    }
  }

  /**
   * The last of the hundred years that two digits can mean: this year, so that nobody is born in the future; later where
   * all dates are near the present, some of them past. Undefined where no year has two digits.
   *
   * @param name that of the column, for the warning
   */
  settle(name: string, order: DateOrder | undefined): Pick<CellReading, 'years'> & { warning?: string } {
    const seen = order === 'ymd' ? this.first : this.last;
    if (seen.size === 0) {
      return {};
    }
    const now = new Date().getUTCFullYear();
    const ahead = now + NEAR_YEARS;
    const years = [...seen.keys()].map((digits) => fullYear(digits, ahead));
    if (years.every((year) => year >= now - NEAR_YEARS) && years.some((year) => year <= now)) {
      return { years: ahead };
    }
    const [digits, { row, value }] = [...seen].toSorted(
      ([a], [b]) => fullYear(a, now) - fullYear(b, now),
    )[0]!;
    return {
      years: now,
      warning: `Column "${name}" has dates whose year has two digits, which are read as ${now - 99} to ${now}: ${show(value)} (row ${row + 1}) is of ${fullYear(digits, now)}. Write years with four digits if others are meant.`,
    };
  }
}

function see(years: Map<number, Sight>, digits: number, sight: Sight): void {
  if (!years.has(digits)) {
    years.set(digits, sight);
  }
}
