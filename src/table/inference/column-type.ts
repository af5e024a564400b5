import { isDate } from '../../util/realms';
import {
  ABSENT,
  BEYOND_INT64,
  BEYOND_SAFE,
  BOOLEAN,
  classify,
  COMMA_NUMBER,
  type CommaUse,
  DATE,
  DATES,
  FRACTION,
  isAbsent,
  LOOKS,
  NUMERIC,
  orderOf,
  PLAIN,
  POINT_NUMBER,
  READS_COMMA,
  READS_POINT,
  TYPES,
  WHOLE,
} from '../cells/classify';
import { nestedCell } from '../cells/errors';
import { decimalOf } from '../cells/parse-number';
import type { CellReading, ColumnType, DateOrder, Decimal, GivenType } from '../cells/types';
import { cellsOf, type ColumnData, rowsOf } from '../columns/column-batch';
import type { SliceColumn } from '../columns/slices';
import {
  beyond64Warning,
  mixedWarning,
  type OddWords,
  oddWordsWarning,
  type Settled,
  type Sight,
  type TextLook,
} from './findings';
import { TargetTally } from './target-profile';

/** Values that are text, and empty ones; the other bits of values are those of text that reads as such values. */
const TEXT = 8192;
const EMPTY = 16384;

const NUMBERS = WHOLE | FRACTION | BEYOND_SAFE | BEYOND_INT64;
const FAMILIES = [
  [NUMBERS, 'numbers'],
  [BOOLEAN, 'booleans'],
  [DATE, 'dates'],
  [TEXT, 'text'],
] as const;

/** Bytes that a cell other than text takes as text at most: those of a date, or of a long number. */
const OTHER_BYTES = 30;

/** Settles the type of one column over all of its rows. */
export class ColumnTypeInference {
  readonly target: TargetTally | undefined;
  /** What the fields of text files can be read as. */
  private readonly fields = new TextReadings();
  /** What the text among JavaScript values can be read as, and that of a column whose type is given. */
  private readonly strings = new TextReadings();
  private readonly values = new ValueKinds();
  private tabbed = false;
  private rows = 0;
  private textBytes = 0;

  private readonly given: ColumnType | undefined;
  private readonly givenOrder: DateOrder | undefined;

  /**
   * @param given the type that the user gives, which is then not looked for
   * @param unreadable what becomes of cells that are of another type than nearly all others
   */
  constructor(
    readonly name: string,
    given: GivenType | undefined,
    isTarget: boolean,
    private readonly unreadable?: CellReading['unreadable'],
  ) {
    this.target = isTarget ? new TargetTally() : undefined;
    this.given = given?.startsWith('date') === true ? 'date' : (given as ColumnType | undefined);
    this.givenOrder = given === 'date-dmy' ? 'dmy' : given === 'date-mdy' ? 'mdy' : undefined;
  }

  /** @param first number of the slice's first row */
  add(column: SliceColumn, first: number): void {
    this.target?.add(column, first);
    this.measure(column);
    if (this.given !== undefined) {
      this.addGiven(column, first);
    } else if (column.kind === 'fields') {
      this.tabbed ||= column.grouped === true;
      this.fields.addFields(column.cells, first, commaUse(column));
    } else if (column.kind === 'values') {
      this.addValues(column.cells, first);
    } else {
      this.addTyped(column.data, first);
    }
  }

  settle(): Settled {
    if (this.given !== undefined) {
      return {
        type: this.given,
        decimal: decimalOf(this.strings.all),
        order: this.givenOrder ?? orderOf(this.strings.all),
      };
    }
    const fields = this.fields.count === 0 ? 0 : this.fields.kinds(this.tabbed);
    const values = this.values.settle() & ~(this.datedText ? TEXT : 0);
    const settled = this.settleKinds(fields | values | (this.datedText ? DATE : 0));
    if (settled.type !== 'text') {
      return { ...settled, order: settled.type === 'date' ? this.order : undefined };
    }
    const text = this.values.first(TEXT) ?? this.fields.odd ?? this.fields.first ?? this.strings.first;
    const look = this.lookOf(fields, values);
    if (look !== undefined) {
      // What it looks like tells more than that it is mixed.
      return { type: 'text', text, look };
    }
    return this.settleMost(fields) ?? { ...settled, text };
  }

  /** The order of local dates, in fields or in text. */
  private get order(): DateOrder | undefined {
    return orderOf(this.fields.count > 0 ? this.fields.all : this.strings.all);
  }

  /** True where all text among JavaScript values is dates, in an order that is certain. */
  private get datedText(): boolean {
    return this.target === undefined && this.strings.datesOnly;
  }

  /** A column of one kind but for a few words: as that kind where these may be missing, else as text that says so. */
  private settleMost(fields: number): Settled | undefined {
    const readings = fields === 0 ? this.strings : this.fields;
    const of = (bits: number): number => (fields === 0 ? this.values.count(bits) : 0);
    const most = readings.most(of(NUMBERS), of(DATE));
    if (most === undefined || this.values.has(BOOLEAN) || (fields !== 0 && !this.values.isEmpty)) {
      return undefined;
    }
    const { words, kinds, decimal } = most;
    const [first] = words.list;
    const text = { row: first!.row, value: first!.word };
    // Numbers that are text in the message stay text, unless a type is given.
    const asText = words.like === 'numbers' && fields === 0 && !this.values.has(NUMBERS);
    if (this.unreadable === undefined || asText) {
      return { type: 'text', text, words, warning: oddWordsWarning(this.name, words, asText) };
    }
    const settled = this.settleKinds(kinds | (this.values.settle() & (NUMBERS | DATE)));
    return { ...settled, words, decimal: settled.decimal ?? decimal, order: most.order };
  }

  /** Bytes of the column as it is stored, without compression, at most. */
  bytesAs(type: ColumnType): number {
    return type === 'text' ? 4 * this.rows + this.textBytes : 9 * this.rows;
  }

  private settleKinds(kinds: number): Settled {
    const families = FAMILIES.filter(([bits]) => (kinds & bits) !== 0);
    if (families.length > 1) {
      const names = families.map(([, name]) => name).join(' and ');
      return {
        type: 'text',
        warning: mixedWarning(this.name, names, this.odd(families.map(([bits]) => bits))),
      };
    }
    if ((kinds & NUMBERS) === 0) {
      return { type: (kinds & BOOLEAN) !== 0 ? 'boolean' : (kinds & DATE) !== 0 ? 'date' : 'text' };
    }
    if ((kinds & FRACTION) !== 0) {
      return { type: 'number', decimal: this.tabbed ? this.fields.tabbedDecimal : undefined };
    }
    if ((kinds & BEYOND_INT64) !== 0) {
      return { type: 'text', warning: beyond64Warning(this.name) };
    }
    return { type: (kinds & BEYOND_SAFE) !== 0 ? 'bigint' : 'integer' };
  }

  /** The first cell that is of another family than those before it. */
  private odd(families: readonly number[]): Sight {
    const { odd, first } = this.fields;
    const ofField = (bits: number): Sight | undefined => ((bits & TEXT) !== 0 ? (odd ?? first) : first);
    const sights = families.map((bits) => this.values.first(bits) ?? ofField(bits)!);
    return sights.sort((a, b) => a.row - b.row)[1]!;
  }

  /** What text looks like where nothing but text was seen, all of it fields or all of it values. */
  private lookOf(fields: number, values: number): TextLook | undefined {
    if (this.values.onlyText && (fields === 0 || values === 0)) {
      return (fields === 0 ? this.strings : this.fields).look;
    }
    return undefined;
  }

  private addValues(cells: ArrayLike<unknown>, first: number): void {
    const { strings, values } = this;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      const kind =
        typeof cell === 'number'
          ? kindOfNumber(cell)
          : typeof cell === 'string'
            ? kindOfText(cell)
            : this.kindOf(cell, first + i);
      values.add(kind, cell, first + i);
      if (kind === TEXT && strings.alive) {
        strings.add(classify(cell as string), cell as string, first + i);
      }
    }
  }

  private kindOf(cell: unknown, row: number): number {
    if (cell === null || cell === undefined) {
      return 0;
    }
    if (typeof cell === 'boolean') {
      return BOOLEAN;
    }
    if (typeof cell === 'bigint') {
      return BigInt.asIntN(64, cell) !== cell
        ? BEYOND_INT64
        : Number.isSafeInteger(Number(cell))
          ? WHOLE
          : BEYOND_SAFE;
    }
    if (isDate(cell)) {
      return Number.isNaN(cell.getTime()) ? 0 : DATE;
    }
    if (this.unreadable !== undefined) {
      return 0;
    }
    throw nestedCell(this.name, row, cell);
  }

  private addTyped(data: ColumnData, first: number): void {
    switch (data.type) {
      case 'text':
        if (!this.values.has(TEXT) || this.strings.alive) {
          this.addText(cellsOf(data), first);
        }
        break;
      case 'integer':
        this.addValues(data.values, first);
        break;
      case 'bigint':
      case 'boolean':
        // All cells of these are of one kind, but that a bigint may be small.
        if (!this.values.has(data.type === 'bigint' ? BEYOND_SAFE : BOOLEAN)) {
          this.addValues(cellsOf(data), first);
        }
        break;
      default: {
        // A column that was stored as floating point stays so, even where all of its values are whole.
        const at = data.values.findIndex((value) => !Number.isNaN(value));
        if (at >= 0) {
          this.values.add(data.type === 'date' ? DATE : FRACTION, data.values[at], first + at);
        }
      }
    }
  }

  /** Text that was stored as such: NA and empty text are text too. */
  private addText(cells: ArrayLike<unknown>, first: number): void {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell === 'string') {
        this.values.add(TEXT, cell, first + i);
        if (cell !== '' && this.strings.alive && !isAbsent(cell)) {
          this.strings.add(classify(cell), cell, first + i);
        }
      }
    }
  }

  /** Finds out what decimal mark the text of given numbers has, and in which order given dates are written. */
  private addGiven(column: SliceColumn, first: number): void {
    const wanted =
      this.given === 'date'
        ? DATES & ~DATE
        : this.given === 'number' || this.given === 'integer'
          ? PLAIN | READS_COMMA | READS_POINT
          : 0;
    if (wanted === 0) {
      return;
    }
    const cells =
      column.kind !== 'typed' ? column.cells : column.data.type === 'text' ? cellsOf(column.data) : [];
    const comma = column.kind === 'fields' ? commaUse(column) : 'none';
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell !== '' && !isAbsent(cell)) {
        this.strings.addFitting(classify(cell, comma) & wanted, cell, first + i);
      }
    }
  }

  private measure(column: SliceColumn): void {
    if (column.kind === 'typed') {
      const { data } = column;
      this.rows += rowsOf(data);
      this.textBytes += data.type === 'text' ? data.bytes.length : OTHER_BYTES * rowsOf(data);
      return;
    }
    const { cells } = column;
    let characters = 0;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      characters += typeof cell === 'string' ? cell.length : OTHER_BYTES / 3;
    }
    this.rows += cells.length;
    this.textBytes += 3 * characters;
  }
}

function commaUse({ comma, grouped }: { comma: boolean; grouped?: boolean }): CommaUse {
  return grouped === true ? 'either' : comma ? 'decimal' : 'none';
}

function kindOfNumber(cell: number): number {
  return Number.isSafeInteger(cell) ? WHOLE : Number.isNaN(cell) ? 0 : FRACTION;
}

function kindOfText(cell: string): number {
  return cell === '' ? EMPTY : isAbsent(cell) ? ABSENT : TEXT;
}

/** What text can be read as, over many cells. */
class TextReadings {
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

  add(kinds: number, cell: string, row: number): void {
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
    if ((this.all & kinds) !== 0) {
      this.add(kinds, cell, row);
    }
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

  /**
   * What nearly all cells are, where a few others are words.
   *
   * @param numbers how many numbers the column has beside its text, and how many dates
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
      return (readings & DATE) !== 0 ? 'date' : 'local date';
    case READS_POINT | READS_COMMA:
      return 'either number';
    default:
      return 'number';
  }
}

/** Of nearly all: at most one cell in ten is a word that reads as nothing else. */
const CELLS_PER_WORD = 9;
/** A column with more such words than these is text. */
const MAX_WORDS = 20;
/** So many words may come before the numbers do. */
const MAX_LEADING = 1000;

interface Majority {
  kinds: number;
  decimal: Decimal | undefined;
  order: DateOrder | undefined;
  words: OddWords;
}

/** What the cells can be read as but for a few words, once not all of them have anything in common. */
class MajorityReadings {
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
      count < CELLS_PER_WORD * odd
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
      words: { like: asNumbers ? 'numbers' : 'dates', cells: count + odd, odd, list },
    };
  }
}

/** The kinds of values in a column of JavaScript values, or of a file that has types. */
class ValueKinds {
  private any = 0;
  private readonly firsts = new Map<number, Sight>();
  private numbers = 0;
  private dates = 0;

  get isEmpty(): boolean {
    return this.any === 0;
  }

  /** How many values are numbers, or dates. */
  count(bits: number): number {
    return bits === DATE ? this.dates : this.numbers;
  }

  add(kind: number, value: unknown, row: number): void {
    if ((kind & NUMBERS) !== 0) {
      this.numbers++;
    } else if (kind === DATE) {
      this.dates++;
    }
    if ((this.any | kind) !== this.any) {
      this.any |= kind;
      this.firsts.set(kind, { row, value });
    }
  }

  has(kind: number): boolean {
    return (this.any & kind) !== 0;
  }

  /** True where no value but text, and text that may mean "missing", was seen. */
  get onlyText(): boolean {
    return (this.any & ~(TEXT | ABSENT | EMPTY)) === 0;
  }

  first(bits: number): Sight | undefined {
    const sights = [...this.firsts].filter(([kind]) => (kind & bits) !== 0).map(([, sight]) => sight);
    return sights.sort((a, b) => a.row - b.row)[0];
  }

  /** The kinds seen; NA and its like are text where the column is nothing else, or has other text. */
  settle(): number {
    if (this.has(ABSENT) && (!this.has(NUMBERS | BOOLEAN | DATE) || this.has(TEXT))) {
      const text = this.first(ABSENT | TEXT)!;
      this.any |= TEXT;
      this.firsts.set(TEXT, text);
    }
    return this.any & (NUMBERS | BOOLEAN | DATE | TEXT);
  }
}
