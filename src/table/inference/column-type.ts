import { isDate } from '../../util/realms';
import {
  ABSENT,
  BEYOND_INT64,
  BEYOND_SAFE,
  BOOLEAN,
  classify,
  type CommaUse,
  DATE,
  FRACTION,
  isAbsent,
  LOOKS,
  NUMERIC,
  PLAIN,
  POINT_NUMBER,
  READS_COMMA,
  READS_POINT,
  TYPES,
  WHOLE,
} from '../cells/classify';
import { nestedCell } from '../cells/errors';
import { decimalOf } from '../cells/parse-number';
import type { ColumnType, Decimal } from '../cells/types';
import { cellsOf, type ColumnData, rowsOf } from '../columns/column-batch';
import type { SliceColumn } from '../columns/slices';
import { beyond64Warning, mixedWarning, type Settled, type Sight, type TextLook } from './findings';
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

  constructor(
    readonly name: string,
    private readonly given: ColumnType | undefined,
    isTarget: boolean,
  ) {
    this.target = isTarget ? new TargetTally() : undefined;
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
      return { type: this.given, decimal: decimalOf(this.strings.all) };
    }
    const fields = this.fields.count === 0 ? 0 : this.fields.kinds(this.tabbed);
    const values = this.values.settle();
    const settled = this.settleKinds(fields | values);
    if (settled.type !== 'text') {
      return settled;
    }
    const text = this.values.first(TEXT) ?? this.fields.odd ?? this.fields.first ?? this.strings.first;
    const look = this.lookOf(fields, values);
    // What it looks like tells more than that it is mixed.
    return look === undefined ? { ...settled, text } : { type: 'text', text, look };
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

  /** Finds out what decimal mark the text of a column has that is given as numbers. */
  private addGiven(column: SliceColumn, first: number): void {
    if (this.given !== 'number' && this.given !== 'integer') {
      return;
    }
    const cells =
      column.kind !== 'typed' ? column.cells : column.data.type === 'text' ? cellsOf(column.data) : [];
    const comma = column.kind === 'fields' ? commaUse(column) : 'none';
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell !== '' && !isAbsent(cell)) {
        this.strings.addFitting(classify(cell, comma) & (PLAIN | READS_COMMA | READS_POINT), cell, first + i);
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

  /** False once the cells can be read as nothing in common: no more need be added. */
  get alive(): boolean {
    return this.all !== 0;
  }

  /** Fields of a text file, where empty means missing. */
  addFields(cells: readonly string[], first: number, comma: CommaUse): void {
    for (let i = 0; i < cells.length && this.all !== 0; i++) {
      const cell = cells[i]!;
      if (cell !== '') {
        this.add(classify(cell, comma), cell, first + i);
      }
    }
  }

  add(kinds: number, cell: string, row: number): void {
    const left = this.all & kinds;
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
    if ((all & (BOOLEAN | DATE)) !== 0) {
      return all & (BOOLEAN | DATE);
    }
    const unsure = tabbed && (all & (WHOLE | POINT_NUMBER)) === 0 && this.tabbedDecimal === undefined;
    return unsure ? TEXT : any & NUMBERS;
  }

  /** The decimal mark of cells copied from a spreadsheet: undefined where it is a point, or could be either. */
  get tabbedDecimal(): Decimal | undefined {
    return (this.all & POINT_NUMBER) === 0 ? decimalOf(this.all) : undefined;
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
  return (readings & NUMERIC) !== 0 ? WHOLE : readings & (DATE | BOOLEAN);
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

/** The kinds of values in a column of JavaScript values, or of a file that has types. */
class ValueKinds {
  private any = 0;
  private readonly firsts = new Map<number, Sight>();

  add(kind: number, value: unknown, row: number): void {
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

  /** The kinds seen; text that may mean "missing" is text where the column is not numbers otherwise. */
  settle(): number {
    if (this.has(ABSENT) && (!this.has(NUMBERS) || this.has(BOOLEAN | DATE | TEXT))) {
      const text = this.first(ABSENT | TEXT)!;
      this.any |= TEXT;
      this.firsts.set(TEXT, text);
    }
    return this.any & (NUMBERS | BOOLEAN | DATE | TEXT);
  }
}
