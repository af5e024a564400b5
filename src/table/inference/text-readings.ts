import {
  ABSENT,
  BOOLEAN,
  classify,
  type CommaUse,
  DATE,
  DATE_DIGITS,
  DATES,
  FRACTION,
  HUMAN_ONLY,
  LOCAL_DATES,
  LOOKS,
  NUMERIC,
  orderOf,
  PLAIN,
  POINT_NUMBER,
  READS_COMMA,
  READS_POINT,
  TYPES,
  WHOLE,
  WITH_UNIT,
} from '../cells/classify';
import { decimalOf } from '../cells/parse-number';
import type { Decimal } from '../cells/types';
import { writtenNumber } from '../cells/written-number';
import type { Sight, TextLook } from './findings';
import { type Majority, MajorityReadings } from './majority';
import { ShortYears } from './short-years';
import { NUMBERS, TEXT } from './value-kinds';

const BOTH_MARKS = READS_POINT | READS_COMMA;

/** Fewer whole numbers than these may read as dates by chance. */
const MIN_IN_DIGITS = 3;

/** What text can be read as, over many cells. */
export class TextReadings {
  /** What all cells can be read as. */
  all = TYPES | LOOKS;
  /** Cells that hold a value. */
  count = 0;
  first: Sight | undefined;
  /** The first cell that settles no type that those before it left open. */
  odd: Sight | undefined;
  /** What the cells before the odd one could be read as. */
  private before = 0;
  /** What any cell can be read as. */
  private any = 0;
  /** The first cell that is not a plain number. */
  private telling: Sight | undefined;

  /** The text next to each of its numbers, such as a unit; undefined where there is none. */
  unit: string | undefined;

  /** The first cell whose mark may group thousands. */
  private marked: Sight | undefined;

  /** Whether a cell had grouped thousands, and only one reading. */
  isGrouped = false;

  readonly shortYears = new ShortYears();

  private readonly majority = new MajorityReadings();

  /** False once no more need be added: the cells have nothing in common, nor have nearly all of them. */
  get alive(): boolean {
    return this.all !== 0 || this.majority.alive;
  }

  /** True where all cells are dates, whose order is certain where they are local ones. */
  get datesOnly(): boolean {
    return (
      this.count > 0 && (this.all & TYPES & ~DATES) === 0 && (this.all & DATES) !== 0 && this.orderIsCertain
    );
  }

  private get orderIsCertain(): boolean {
    return (this.all & DATE) !== 0 || orderOf(this.all) !== undefined;
  }

  /** Fields of a text file, where empty means missing. */
  addFields(cells: readonly string[], first: number, comma: CommaUse): void {
    for (let i = 0; i < cells.length && this.alive; i++) {
      const cell = cells[i]!;
      if (cell !== '') {
        this.add(classify(cell, comma), cell, first + i);
      }
    }
  }

  /** @param seen what the cell can be read as */
  add(seen: number, cell: string, row: number): void {
    if ((seen & LOCAL_DATES) !== 0 && (seen & ABSENT) === 0) {
      this.shortYears.add(cell, row);
    }
    const isPlain = (seen & WITH_UNIT) === 0 && this.unit === undefined;
    const kinds = isPlain ? seen : this.ofOneUnit(seen, cell);
    if (this.all === 0) {
      this.majority.add(kinds, cell, row);
      return;
    }
    const left = this.all & kinds;
    if (left === 0) {
      this.majority.start(this.all, this.any, this.count);
      this.majority.add(kinds, cell, row);
    }
    if ((kinds & ABSENT) === 0) {
      if (this.first === undefined || (this.telling === undefined && (kinds & PLAIN) === 0)) {
        this.see(kinds, { row, value: cell });
      }
      if (this.marked === undefined && (kinds & (WHOLE | READS_POINT | READS_COMMA)) === BOTH_MARKS) {
        this.marked = { row, value: cell };
      }
      const marks = kinds & BOTH_MARKS;
      this.isGrouped ||= (kinds & PLAIN) === 0 && marks !== 0 && marks !== BOTH_MARKS;
      this.count++;
      this.any |= kinds;
    }
    if ((left & TYPES) === 0 && (this.all & TYPES) !== 0) {
      this.before = this.all;
      // Where no cell came before, this one is text like those that follow.
      this.odd = this.first?.row === row || this.first === undefined ? undefined : { row, value: cell };
    }
    this.all = left;
  }

  /** As `add`, but a cell that does not fit those before changes nothing: it will be refused with its row. */
  addFitting(kinds: number, cell: string, row: number): void {
    if ((this.all & this.ofOneUnit(kinds, cell) & ~WITH_UNIT) !== 0) {
      this.add(kinds, cell, row);
    }
  }

  /** The readings of a cell, less those as a number where the numbers before it had another unit, or none. */
  private ofOneUnit(kinds: number, cell: string): number {
    if ((kinds & ABSENT) !== 0 || (kinds & NUMERIC) === 0) {
      return kinds;
    }
    const unit = (kinds & WITH_UNIT) === 0 ? undefined : writtenNumber(cell)?.unit;
    if ((this.any & NUMERIC) === 0) {
      this.unit = unit;
    }
    return unit === this.unit ? kinds : kinds & ~NUMERIC & ~FRACTION;
  }

  /** True where all cells are dates in digits, of which there are enough to tell. */
  get inDigits(): boolean {
    return this.count >= MIN_IN_DIGITS && (this.all & DATE_DIGITS) !== 0;
  }

  /** The kinds of values that the fields are. */
  kinds(tabbed: boolean): number {
    const { all, any, odd } = this;
    if ((all & TYPES) === 0) {
      return TEXT | (odd === undefined ? 0 : familyOf(this.before));
    }
    if ((all & BOOLEAN) !== 0) {
      return BOOLEAN;
    }
    if ((all & DATES) !== 0) {
      return this.orderIsCertain ? DATE : TEXT;
    }
    const unsure = tabbed && (all & (WHOLE | POINT_NUMBER)) === 0 && this.tabbedDecimal === undefined;
    return unsure ? TEXT : any & NUMBERS;
  }

  /** The decimal mark of cells copied from a spreadsheet: undefined where it is a point, or could be either. */
  get tabbedDecimal(): Decimal | undefined {
    return (this.all & POINT_NUMBER) === 0 ? decimalOf(this.all) : undefined;
  }

  /** The decimal mark of these cells, where at least one of them leaves no doubt. */
  get certainMark(): Decimal | undefined {
    const marks = this.all & BOTH_MARKS;
    const isCertain = (this.any & FRACTION) !== 0;
    return !isCertain ? undefined : marks === READS_POINT ? '.' : marks === READS_COMMA ? ',' : undefined;
  }

  /** The only decimal mark that all cells can have; undefined where there is none, or could be either. */
  get ownMark(): Decimal | undefined {
    const marks = this.all & BOTH_MARKS;
    return this.count === 0 || marks === BOTH_MARKS || marks === 0
      ? undefined
      : marks === READS_POINT
        ? '.'
        : ',';
  }

  /** False where any cell may have decimals. */
  get isWhole(): boolean {
    return (this.any & FRACTION) === 0;
  }

  /** The one mark of all cells, such as 1.234, where it may be a decimal one or group thousands. */
  get doubtfulMark(): { mark: Decimal; example: Sight } | undefined {
    const { all, first } = this;
    const isDoubtful = (all & READS_POINT) !== 0 && (all & READS_COMMA) !== 0 && (all & WHOLE) === 0;
    const example = this.marked ?? first;
    return isDoubtful && example !== undefined
      ? { mark: String(example.value).includes(',') ? ',' : '.', example }
      : undefined;
  }

  /**
   * What nearly all cells are, where a few others are words.
   *
   * @param numbers how many numbers the column has besides its text, and how many dates
   */
  most(numbers: number, dates: number): Majority | undefined {
    return this.majority.settle(numbers, dates);
  }

  get look(): TextLook | undefined {
    const { all, telling, first } = this;
    const example = telling ?? first;
    if (example === undefined || (all & LOOKS) === 0) {
      return undefined;
    }
    return { like: likeOf(all), whole: (all & WHOLE) !== 0, example };
  }

  private see(kinds: number, sight: Sight): void {
    this.first ??= sight;
    if ((kinds & PLAIN) === 0) {
      this.telling ??= sight;
    }
  }
}

function familyOf(readings: number): number {
  return (readings & NUMERIC) !== 0 ? WHOLE : (readings & DATES) !== 0 ? DATE : readings & BOOLEAN;
}

function likeOf(readings: number): TextLook['like'] {
  if ((readings & PLAIN) !== 0) {
    return 'number';
  }
  switch (readings & (READS_POINT | READS_COMMA)) {
    case 0:
      return (readings & DATE) !== 0
        ? 'date'
        : (readings & DATES) !== 0
          ? 'local date'
          : (readings & HUMAN_ONLY) !== 0
            ? 'uncertain'
            : 'unit';
    case READS_POINT | READS_COMMA:
      return 'either number';
    default:
      return 'number';
  }
}
