import {
  ABSENT,
  BOOLEAN,
  CellClassifier,
  COMMA_NUMBER,
  type CommaUse,
  DATE,
  DATE_DIGITS,
  DATES,
  findOrder,
  FRACTION,
  HUMAN_ONLY,
  LOCAL_DATES,
  LOOKS,
  NUMERIC,
  PLAIN,
  POINT_NUMBER,
  READS_COMMA,
  READS_POINT,
  TYPES,
  WHOLE,
  WITH_UNIT,
} from '../cells/classify';
import { fullYear } from '../cells/parse-date';
import { bothReadings, findDecimal } from '../cells/parse-number';
import { type CellReading, type DateOrder, type Decimal, show } from '../cells/types';
import { tidyDate } from '../cells/written-date';
import { isCurrency, writtenNumber } from '../cells/written-number';
import {
  MIN_IN_DIGITS,
  NUMBERS,
  type OddWords,
  type Settled,
  type Sight,
  TEXT,
  type TextLook,
} from './findings';

/** Of nearly all: at most one cell in ten is a word that reads as nothing else. */
const CELLS_PER_WORD = 9;
/** In a table of so many cells, words are named as long as they are not more than the others. */
const MIN_CELLS = 20;
/** A column with more such words than these is text. */
const MAX_WORDS = 20;
/** So many words may come before the numbers do. */
const MAX_LEADING = 1000;

/** A column that is of one kind but for a few words. */
interface Majority {
  kinds: number;
  decimal: Decimal | undefined;
  order: DateOrder | undefined;
  words: OddWords;
}

/** What the cells can be read as but for a few words, once not all of them have anything in common. */
class MajorityReadings {
  alive = true;
  private all: number;
  private odd = 0;
  private readonly words = new Map<string, { count: number; row: number }>();

  /** @param all what the `count` cells so far can be read as, and `any` of them */
  constructor(
    all: number,
    private any: number,
    private count: number,
  ) {
    this.all = count === 0 ? TYPES | LOOKS : all;
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
      !this.alive ||
      odd === 0 ||
      mixed ||
      !(asNumbers || asDates) ||
      (count < CELLS_PER_WORD * odd && (count < odd || count < MIN_CELLS))
    ) {
      return undefined;
    }
    const unsure = asNumbers
      ? this.count > 0 && (all & (PLAIN | POINT_NUMBER)) === 0 && findDecimal(all) === undefined
      : this.count > 0 && (all & DATE) === 0 && findOrder(all) === undefined;
    if (unsure) {
      return undefined;
    }
    const list = [...this.words].map(([word, seen]) => ({ word, ...seen }));
    const plain = (all & (WHOLE | POINT_NUMBER | COMMA_NUMBER)) !== 0;
    return {
      kinds: asDates && !asNumbers ? DATE : this.count === 0 ? 0 : plain ? any & NUMBERS : FRACTION,
      decimal: asNumbers && this.count > 0 ? findDecimal(all) : undefined,
      order: asNumbers || this.count === 0 ? undefined : findOrder(all),
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

/** Dates as near to the present as this are those of a diary or a plan, and may lie ahead. */
const NEAR_YEARS = 20;

const IN_NUMBERS = /^(\d\d?)([./-])\d\d?\2(\d\d)(?!\d)/;
const WITH_NAME = /^\d\d?(?:\.? |[-.])\p{L}{3,9}\.?[ -](\d\d)(?!\d)/u;

/** The years of two digits among the dates of a column. */
class ShortYears {
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

const BOTH_MARKS = READS_POINT | READS_COMMA;

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

  /** Once the cells have nothing in common. */
  private majority: MajorityReadings | undefined;

  private readonly cells = new CellClassifier();

  /** False once no more need be added: the cells have nothing in common, nor have nearly all of them. */
  get alive(): boolean {
    return this.all !== 0 || this.majority?.alive !== false;
  }

  /** True where all cells are dates, whose order is certain where they are local ones. */
  get datesOnly(): boolean {
    return (
      this.count > 0 && (this.all & TYPES & ~DATES) === 0 && (this.all & DATES) !== 0 && this.orderIsCertain
    );
  }

  private get orderIsCertain(): boolean {
    return (this.all & DATE) !== 0 || findOrder(this.all) !== undefined;
  }

  /** Fields of a text file, where empty means missing. */
  addFields(cells: readonly string[], first: number, comma: CommaUse): void {
    for (let i = 0; i < cells.length && this.alive; i++) {
      const cell = cells[i]!;
      if (cell !== '') {
        this.add(cell, first + i, comma);
      }
    }
  }

  add(cell: string, row: number, comma: CommaUse = 'none'): void {
    this.addRead(this.cells.classify(cell, comma), cell, row);
  }

  /** @param seen what the cell can be read as */
  private addRead(seen: number, cell: string, row: number): void {
    if ((seen & LOCAL_DATES) !== 0 && (seen & ABSENT) === 0) {
      this.shortYears.add(cell, row);
    }
    const isPlain = (seen & WITH_UNIT) === 0 && this.unit === undefined;
    const kinds = isPlain ? seen : this.ofOneUnit(seen, cell);
    const left = this.all & kinds;
    if (left === 0) {
      this.majority ??= new MajorityReadings(this.all, this.any, this.count);
      this.majority.add(kinds, cell, row);
    }
    if (this.all === 0) {
      return;
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

  /**
   * As `add`, but a cell that does not fit those before changes nothing: it will be refused with its row.
   * @param wanted the readings that count
   */
  addFitting(wanted: number, cell: string, row: number, comma: CommaUse): void {
    const kinds = this.cells.classify(cell, comma) & wanted;
    if ((this.all & this.ofOneUnit(kinds, cell) & ~WITH_UNIT) !== 0) {
      this.addRead(kinds, cell, row);
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
      return TEXT | (odd === undefined ? 0 : chooseFamily(this.before));
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
    return (this.all & POINT_NUMBER) === 0 ? findDecimal(this.all) : undefined;
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
    return this.majority?.settle(numbers, dates);
  }

  get look(): TextLook | undefined {
    const { all, telling, first } = this;
    const example = telling ?? first;
    if (example === undefined || (all & LOOKS) === 0) {
      return undefined;
    }
    return { like: chooseLike(all), whole: (all & WHOLE) !== 0, example };
  }

  private see(kinds: number, sight: Sight): void {
    this.first ??= sight;
    if ((kinds & PLAIN) === 0) {
      this.telling ??= sight;
    }
  }
}

function chooseFamily(readings: number): number {
  return (readings & NUMERIC) !== 0 ? WHOLE : (readings & DATES) !== 0 ? DATE : readings & BOOLEAN;
}

function chooseLike(readings: number): TextLook['like'] {
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

/** The fields of one column of a text file, and what a comma in them can be. */
export interface FieldsOfColumn {
  fields: TextReadings;
  comma: CommaUse;
}

/**
 * A column that shows its decimal mark itself is read with it. One whose numbers could be read with either is read with
 * the mark that the other columns of the file have; where they have none, or both, nothing changes, but a warning says
 * how a point was taken beside ";".
 *
 * @param others the certain marks of all columns
 */
export function settleMark(
  others: ReadonlySet<Decimal>,
  name: string,
  settled: Settled,
  column: FieldsOfColumn | undefined,
): Settled {
  if (column === undefined || (settled.type !== 'text' && settled.type !== 'number')) {
    return settled;
  }
  const { fields, comma } = column;
  const { ownMark, unit } = fields;
  if (ownMark !== undefined && canHave(ownMark, comma)) {
    if (settled.type === 'text') {
      return { type: fields.isWhole ? 'integer' : 'number', decimal: ownMark, unit };
    }
    return fields.isGrouped ? { ...settled, decimal: ownMark } : settled;
  }
  if (fields.doubtfulMark === undefined) {
    return settled;
  }
  const { mark, example } = fields.doubtfulMark;
  const [known] = others;
  if (others.size === 1 && canHave(known!, comma)) {
    return { type: known === mark ? 'number' : 'integer', decimal: known, unit };
  }
  // Beside ";" a comma is the decimal mark; but money has cents, not three digits after it.
  if (settled.type === 'number' && (isCurrency(settled.unit) || (comma === 'decimal' && mark === '.'))) {
    const types = (type: string): string => JSON.stringify({ [name]: type });
    const [own, other] = mark === '.' ? ['point', 'comma'] : ['comma', 'point'];
    return {
      ...settled,
      warning: `Column "${name}" is read with a decimal ${own}, but ${show(example.value)} (row ${example.row + 1}) can mean ${bothReadings(String(example.value))}: where ${own}s group its thousands, set Column types ${types(`number-${other}`)}; ${types(`number-${own}`)} keeps it as it is without this warning.`,
    };
  }
  return settled;
}

/** With commas between fields, one inside a number is never taken for its decimal mark unasked. */
function canHave(mark: Decimal, comma: CommaUse): boolean {
  return comma !== 'none' || mark === '.';
}
