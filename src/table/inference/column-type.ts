import { isDate } from '../../util/values';
import {
  BEYOND_INT64,
  BEYOND_SAFE,
  BOOLEAN,
  type CommaUse,
  DATE,
  DATES,
  findOrder,
  FRACTION,
  isAbsent,
  PLAIN,
  READS_COMMA,
  READS_POINT,
  WITH_UNIT,
} from '../cells/classify';
import { parseDate } from '../cells/parse-date';
import { findDecimal, type NumberReading, parseBigint, readNumber } from '../cells/parse-number';
import {
  type CellReading,
  type Column,
  type ColumnType,
  type DateOrder,
  type Decimal,
  type GivenType,
  isLong,
  type Label,
  nestedCell,
} from '../cells/types';
import { type ColumnData, listCells } from '../columns/column-batch';
import { plainCells, type SliceColumn } from '../columns/slices';
import {
  beyond64Warning,
  DateNumbers,
  kindOfValue,
  mixedWarning,
  NUMBERS,
  oddWordsWarning,
  Padding,
  type Settled,
  type Sight,
  StoredSize,
  TEXT,
  ValueKinds,
} from './findings';
import { type FieldsOfColumn, TextReadings } from './text-readings';

const CAP = 1000;

/** Counts the missing and the distinct values of the target, up to 1,000 of the latter. */
export class TargetTally {
  private readonly distinct = new Set<unknown>();
  private missing = 0;
  /** NA and its like, and empty text: missing or not, as the type of the column says in the end. */
  private absent = 0;
  private empty = 0;
  private comma = false;
  private fields = false;

  /** The first row of each kind of these. */
  private readonly firsts = { missing: Infinity, absent: Infinity, empty: Infinity };

  add(column: SliceColumn, first: number): void {
    const cells: ArrayLike<unknown> = column.kind === 'typed' ? listCells(column.data) : column.cells;
    if (column.kind === 'fields') {
      this.fields = true;
      this.comma = column.comma;
    }
    for (let i = 0; i < cells.length; i++) {
      this.addCell(cells[i], first + i);
    }
  }

  private addCell(cell: unknown, row: number): void {
    if (isDate(cell)) {
      cell = Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    }
    // An object is refused, or made missing, when it is read, and so is a long bigint.
    const isRefused = typeof cell === 'object' || (typeof cell === 'bigint' && isLong(cell));
    if (isRefused || cell === undefined || Number.isNaN(cell)) {
      this.missing++;
      this.firsts.missing = Math.min(this.firsts.missing, row);
      return;
    }
    if (typeof cell === 'string') {
      if (cell === '') {
        this.empty++;
        this.firsts.empty = Math.min(this.firsts.empty, row);
        if (this.fields) {
          return;
        }
      } else if (isAbsent(cell)) {
        this.absent++;
        this.firsts.absent = Math.min(this.firsts.absent, row);
      }
    }
    if (this.distinct.size <= CAP * 2) {
      this.distinct.add(cell);
    }
  }

  settle({ type, decimal, unit, trim }: Omit<Column, 'name'>): {
    missing: number;
    firstMissing?: number;
    distinct: number;
    classes?: Label[];
  } {
    const numeric = type === 'number' || type === 'integer' || type === 'bigint';
    const missingToo = {
      missing: true,
      empty: type !== 'text' || this.fields,
      absent: type !== 'text',
    };
    let missing = 0;
    let first = Infinity;
    for (const kind of ['missing', 'empty', 'absent'] as const) {
      if (missingToo[kind]) {
        missing += this[kind];
        first = Math.min(first, this.firsts[kind]);
      }
    }
    const lacks = { missing, ...(missing > 0 && { firstMissing: first }) };
    const reading = { decimal, unit };
    const labels = new Set<Label>();
    for (const value of this.distinct) {
      const own = trim === true && typeof value === 'string' ? value.trim() : value;
      const label = own === '' && trim === true ? undefined : asLabel(own, type, this.comma, reading);
      if (label !== undefined) {
        labels.add(label);
      }
    }
    if (labels.size > CAP) {
      return { ...lacks, distinct: CAP + 1 };
    }
    const classes = [...labels].sort(numeric ? byValue : byCodePoint);
    return { ...lacks, distinct: labels.size, classes };
  }
}

function asLabel(
  value: unknown,
  type: ColumnType,
  comma: boolean,
  reading: NumberReading,
): Label | undefined {
  switch (type) {
    case 'number':
    case 'integer': {
      const number = typeof value !== 'string' ? Number(value) : readNumber(value, reading, comma, false);
      return number === undefined || Number.isNaN(number) ? undefined : number;
    }
    case 'bigint': {
      const whole = parseBigint(String(value));
      return whole === null || whole === undefined ? undefined : String(whole);
    }
    case 'boolean':
      return typeof value === 'boolean' ? value : parseBoolean(String(value));
    case 'date': {
      const time = parseDate(String(value));
      return Number.isNaN(time) ? undefined : new Date(time).toISOString();
    }
    case 'text':
      return String(value);
  }
}

function parseBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase();
  return lower === 'true' ? true : lower === 'false' ? false : undefined;
}

function byValue(a: Label, b: Label): number {
  if (typeof a === 'string' && typeof b === 'string') {
    const difference = BigInt(a) - BigInt(b);
    return difference < 0n ? -1 : difference > 0n ? 1 : 0;
  }
  return Number(a) - Number(b);
}

/** Order by code points, which differs from the order of UTF-16 units beyond the basic plane. */
function byCodePoint(a: Label, b: Label): number {
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

/** Beside fields no values are counted. */
const NO_VALUES = { numbers: 0, dates: 0 };

const FAMILIES = [
  [NUMBERS, 'numbers'],
  [BOOLEAN, 'booleans'],
  [DATE, 'dates'],
  [TEXT, 'text'],
] as const;

/** Settles the type of one column over all of its rows. */
export class ColumnTypeInference {
  readonly target: TargetTally | undefined;
  /** What the fields of text files can be read as. */
  private readonly fields = new TextReadings();
  /** What the text among JavaScript values can be read as, and that of a column whose type is given. */
  private readonly strings = new TextReadings();
  private readonly values = new ValueKinds();
  /** Whether these values are dates in digits, as numbers or text: as the csv node has them. */
  private readonly digits = new DateNumbers();
  private tabbed = false;
  private comma: CommaUse = 'none';
  readonly size = new StoredSize();
  private readonly padding = new Padding();

  private readonly given: ColumnType | undefined;
  private readonly givenOrder: DateOrder | undefined;
  private readonly givenDecimal: Decimal | undefined;
  /** Where dates are given. */
  private readonly dateNumbers: DateNumbers | undefined;

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
    // Such as date-dmy: the type, and how it is written.
    this.given = given?.split('-')[0] as ColumnType | undefined;
    this.givenOrder = given === 'date-dmy' ? 'dmy' : given === 'date-mdy' ? 'mdy' : undefined;
    this.dateNumbers = this.given === 'date' ? new DateNumbers() : undefined;
    this.givenDecimal = given === 'number-comma' ? ',' : given === 'number-point' ? '.' : undefined;
  }

  /** @param first number of the slice's first row */
  add(column: SliceColumn, first: number): void {
    this.size.add(this.name, column, first);
    this.target?.add(column, first);
    if (this.padding.found !== undefined || first === 0) {
      this.padding.add(
        column.kind !== 'typed' ? column.cells : column.data.type === 'text' ? listCells(column.data) : [],
      );
    }
    if (this.given !== undefined) {
      this.addGiven(column, first);
    } else if (column.kind === 'fields') {
      this.tabbed ||= column.grouped === true;
      this.comma = commaUse(column);
      this.fields.addFields(column.cells, first, commaUse(column));
    } else if (column.kind === 'values') {
      this.addValues(column.cells, first);
    } else {
      this.addTyped(column.data, first);
    }
  }

  /** The first value, where the column holds numbers and its type is not given. */
  get firstNumber(): number | undefined {
    const first = this.given !== undefined ? undefined : (this.values.first(NUMBERS) ?? this.fields.first);
    const value = Number(first?.value ?? NaN);
    return Number.isNaN(value) ? undefined : value;
  }

  /** The fields of a text file, for what they say of its decimal mark; undefined for other columns. */
  get ofFile(): FieldsOfColumn | undefined {
    if (this.given !== undefined || this.fields.count === 0 || !this.values.isEmpty) {
      return undefined;
    }
    return { fields: this.fields, comma: this.comma };
  }

  settle(): Settled {
    const settled = this.settleType();
    if (settled.type === 'text') {
      return { ...settled, padded: this.padding.found };
    }
    if (settled.type !== 'date' || settled.numbers !== undefined) {
      return settled;
    }
    const { years, warning } = this.text.shortYears.settle(this.name, settled.order);
    return { ...settled, years, warning: settled.warning ?? warning };
  }

  private settleType(): Settled {
    if (this.given !== undefined) {
      return {
        type: this.given,
        decimal: this.givenDecimal ?? findDecimal(this.strings.all),
        order: this.givenOrder ?? findOrder(this.strings.all),
        unit: this.strings.unit,
        numbers: this.dateNumbers?.settle(),
      };
    }
    const inDigits = this.values.isEmpty
      ? this.fields.inDigits
      : this.fields.count === 0 && this.digits.onlyDigits;
    if (inDigits && this.target === undefined) {
      return { type: 'date', numbers: 'digits' };
    }
    const fields = this.fields.count === 0 ? 0 : this.fields.kinds(this.tabbed);
    const values = this.values.settle() & ~(this.datedText ? TEXT : 0);
    const settled = this.settleKinds(fields | values | (this.datedText ? DATE : 0));
    if (settled.type !== 'text') {
      const order = settled.type === 'date' ? findOrder(this.text.all) : undefined;
      return { ...settled, order, unit: this.fields.unit };
    }
    const text = this.values.first(TEXT) ?? this.fields.odd ?? this.fields.first ?? this.strings.first;
    // What it looks like tells more than that it is mixed, where all of it is text, fields or values.
    const isText = this.values.onlyText && (fields === 0 || values === 0);
    const look = isText ? (fields === 0 ? this.strings : this.fields).look : undefined;
    if (look !== undefined) {
      return { type: 'text', text, look };
    }
    return this.settleMost(fields) ?? { ...settled, text };
  }

  /** The cells that are text: fields, or those among JavaScript values. */
  private get text(): TextReadings {
    return this.fields.count > 0 ? this.fields : this.strings;
  }

  /** True where all text among JavaScript values is dates, in an order that is certain. */
  private get datedText(): boolean {
    return this.target === undefined && this.strings.datesOnly;
  }

  /** A column of one kind but for a few words: as that kind where these may be missing, else as text that says so. */
  private settleMost(fields: number): Settled | undefined {
    const readings = fields === 0 ? this.strings : this.fields;
    const { numbers, dates } = fields === 0 ? this.values : NO_VALUES;
    const most = readings.most(numbers, dates);
    if (most === undefined || this.values.has(BOOLEAN) || (fields !== 0 && !this.values.isEmpty)) {
      return undefined;
    }
    const { words, kinds, decimal } = most;
    const [first] = words.list;
    const text = { row: first!.row, value: first!.word };
    // Numbers that are text in the message stay text, unless a type is given.
    const asText = words.like === 'numbers' && fields === 0 && !this.values.has(NUMBERS);
    if (!words.areFew && asText) {
      return undefined;
    }
    if (this.unreadable === undefined || asText || !words.areFew) {
      return { type: 'text', text, words, warning: oddWordsWarning(this.name, words, asText) };
    }
    const settled = this.settleKinds(kinds | (this.values.settle() & (NUMBERS | DATE)));
    return {
      ...settled,
      words,
      decimal: settled.decimal ?? decimal,
      order: most.order,
      unit: readings.unit,
    };
  }

  private settleKinds(kinds: number): Settled {
    const names: string[] = [];
    const families: number[] = [];
    for (const [bits, name] of FAMILIES) {
      if ((kinds & bits) !== 0) {
        families.push(bits);
        names.push(name);
      }
    }
    if (families.length > 1) {
      return { type: 'text', warning: mixedWarning(this.name, names.join(' and '), this.odd(families)) };
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

  private addValues(cells: ArrayLike<unknown>, first: number): void {
    const { strings, values } = this;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      const kind = kindOfValue(cell) ?? this.kindOfNested(cell, first + i);
      values.add(kind, cell, first + i);
      if ((kind & (NUMBERS | BOOLEAN | DATE | TEXT)) !== 0) {
        this.digits.addValue(cell);
      }
      if (kind === TEXT && strings.alive) {
        strings.add(cell as string, first + i);
      }
    }
  }

  /** A cell that is an object or the like: missing, or an error. */
  private kindOfNested(cell: unknown, row: number): number {
    if (this.unreadable === undefined) {
      throw nestedCell(this.name, row, cell);
    }
    return 0;
  }

  private addTyped(data: ColumnData, first: number): void {
    switch (data.type) {
      case 'text':
        if (!this.values.has(TEXT) || this.strings.alive) {
          this.addText(listCells(data), first);
        }
        break;
      case 'integer':
        this.addValues(data.values, first);
        break;
      case 'bigint':
      case 'boolean':
        // All cells of these are of one kind, but that a bigint may be small.
        if (!this.values.has(data.type === 'bigint' ? BEYOND_SAFE : BOOLEAN)) {
          this.addValues(listCells(data), first);
        }
        break;
      default: {
        // A column that was stored as floating point stays so, even where all of its values are whole.
        const at = data.values.findIndex((value) => !Number.isNaN(value));
        if (at >= 0) {
          this.digits.addValue(undefined);
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
        if (!isAbsent(cell) && cell !== '') {
          this.digits.addValue(cell);
        }
        if (cell !== '' && this.strings.alive && !isAbsent(cell)) {
          this.strings.add(cell, first + i);
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
          ? PLAIN | READS_COMMA | READS_POINT | WITH_UNIT
          : 0;
    if (wanted === 0) {
      return;
    }
    this.dateNumbers?.add(plainCells(column));
    const cells =
      column.kind !== 'typed' ? column.cells : column.data.type === 'text' ? listCells(column.data) : [];
    const comma = column.kind === 'fields' ? commaUse(column) : 'none';
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell !== '' && !isAbsent(cell)) {
        this.strings.addFitting(wanted, cell, first + i, comma);
      }
    }
  }
}

function commaUse({ comma, grouped }: { comma: boolean; grouped?: boolean }): CommaUse {
  return grouped === true ? 'either' : comma ? 'decimal' : 'none';
}
