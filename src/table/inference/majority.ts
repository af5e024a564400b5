import {
  ABSENT,
  BOOLEAN,
  COMMA_NUMBER,
  DATE,
  DATES,
  FRACTION,
  LOOKS,
  NUMERIC,
  orderOf,
  PLAIN,
  POINT_NUMBER,
  TYPES,
  WHOLE,
} from '../cells/classify';
import { decimalOf } from '../cells/parse-number';
import type { DateOrder, Decimal } from '../cells/types';
import type { OddWords } from './findings';
import { NUMBERS } from './value-kinds';

/** Of nearly all: at most one cell in ten is a word that reads as nothing else. */
const CELLS_PER_WORD = 9;
/** In a table of so many cells, words are named as long as they are not more than the others. */
const MIN_CELLS = 20;
/** A column with more such words than these is text. */
const MAX_WORDS = 20;
/** So many words may come before the numbers do. */
const MAX_LEADING = 1000;

/** A column that is of one kind but for a few words. */
export interface Majority {
  kinds: number;
  decimal: Decimal | undefined;
  order: DateOrder | undefined;
  words: OddWords;
}

/** What the cells can be read as but for a few words, once not all of them have anything in common. */
export class MajorityReadings {
  alive = true;
  private started = false;
  private all = TYPES | LOOKS;
  private any = 0;
  private count = 0;
  private odd = 0;
  private readonly words = new Map<string, { count: number; row: number }>();

  /** @param all what the `count` cells so far can be read as, and `any` of them */
  start(all: number, any: number, count: number): void {
    this.started = true;
    this.count = count;
    this.any = any;
    this.all = count === 0 ? this.all : all;
  }

  add(kinds: number, cell: string, row: number): void {
    if ((kinds & ABSENT) !== 0 || !this.alive) {
      return;
    }
    const left = this.all & kinds & ~BOOLEAN;
    if ((left & (TYPES | LOOKS)) !== 0) {
      this.all = left;
      this.any |= kinds;
      this.count++;
      return;
    }
    this.odd++;
    const known = this.words.get(cell);
    if (known !== undefined) {
      known.count++;
    } else {
      this.words.set(cell, { count: 1, row });
    }
    this.alive = this.words.size <= MAX_WORDS && (this.odd <= MAX_LEADING || this.odd <= this.count);
  }

  settle(numbers: number, dates: number): Majority | undefined {
    const { all, any, odd } = this;
    const asNumbers = this.count === 0 ? numbers > 0 : (all & NUMERIC) !== 0;
    const asDates = this.count === 0 ? dates > 0 : (all & DATES) !== 0;
    const count = this.count + (asNumbers ? numbers : dates);
    const mixed = (asNumbers ? dates : numbers) > 0;
    if (
      !this.started ||
      !this.alive ||
      odd === 0 ||
      mixed ||
      !(asNumbers || asDates) ||
      (count < CELLS_PER_WORD * odd && (count < odd || count < MIN_CELLS))
    ) {
      return undefined;
    }
    const unsure = asNumbers
      ? this.count > 0 && (all & (PLAIN | POINT_NUMBER)) === 0 && decimalOf(all) === undefined
      : this.count > 0 && (all & DATE) === 0 && orderOf(all) === undefined;
    if (unsure) {
      return undefined;
    }
    const list = [...this.words].map(([word, seen]) => ({ word, ...seen }));
    const plain = (all & (WHOLE | POINT_NUMBER | COMMA_NUMBER)) !== 0;
    return {
      kinds: asDates && !asNumbers ? DATE : this.count === 0 ? 0 : plain ? any & NUMBERS : FRACTION,
      decimal: asNumbers && this.count > 0 ? decimalOf(all) : undefined,
      order: asNumbers || this.count === 0 ? undefined : orderOf(all),
      words: {
        like: asNumbers ? 'numbers' : 'dates',
        cells: count + odd,
        odd,
        areFew: count >= CELLS_PER_WORD * odd,
        list,
      },
    };
  }
}
