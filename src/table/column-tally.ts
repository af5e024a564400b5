import { type ColumnData, cellsOf, rowsOf } from './batch';
import { nestedCell } from './builders';
import { show } from './invalid';
import { isDate } from './realms';
import type { SliceColumn } from './source';
import { TargetTally } from './target-tally';
import * as text from './text-cells';
import { Looks, type TextLook } from './text-looks';
import type { ColumnType, Decimal } from './types';

export { TargetTally } from './target-tally';

/** Kinds of JavaScript values that a column can hold, as bits. */
const WHOLE = 1;
const FRACTION = 2;
/** A bigint beyond 2^53, and one beyond 64 bits. */
const BIG = 4;
const HUGE = 8;
const BOOLEAN = 16;
const DATE = 32;
const TEXT = 64;
/** Text that may mean "missing": NA and its like, and empty text. */
const ABSENT = 128;
const EMPTY = 256;

const NUMERIC = WHOLE | FRACTION | BIG | HUGE;
const KIND_NAMES: [number, string][] = [
  [NUMERIC, 'numbers'],
  [BOOLEAN, 'booleans'],
  [DATE, 'dates'],
  [TEXT, 'text'],
];

const ANY_READING = text.WHOLE | text.NUMBER | text.COMMA_NUMBER | text.BOOLEAN | text.DATE;

/** Bytes that a cell other than text takes as text at most: those of a date, or of a long number. */
const OTHER_BYTES = 30;

export interface Sight {
  row: number;
  value: unknown;
}

/** What a column is taken as. */
export interface Settled {
  type: ColumnType;
  decimal?: Decimal;
  warning?: string;
  /** Text that looks like something else, wholly. */
  look?: { like: TextLook; whole: boolean; example: Sight };
  /** The first cell that makes the column text. */
  text?: Sight;
}

/** Settles the type of one column over all of its rows. */
export class ColumnTally {
  readonly target: TargetTally | undefined;
  /** Kinds of values seen, and where the first of each kind was. */
  private kinds = 0;
  private readonly firsts = new Map<number, Sight>();
  /** What all fields so far can be read as, and the marks (beyond safe, fraction) of any of them. */
  private possible = ANY_READING;
  private marks = 0;
  private fields = 0;
  private oddField: Sight | undefined;
  private rows = 0;
  private textBytes = 0;
  private readonly looks = new Looks();
  private grouped = false;

  constructor(
    readonly name: string,
    private readonly given: ColumnType | undefined,
    isTarget: boolean,
  ) {
    this.target = isTarget ? new TargetTally() : undefined;
  }

  add(column: SliceColumn, first: number): void {
    this.target?.add(column, first);
    this.measure(column);
    if (this.given !== undefined) {
      this.lookGiven(column, first);
      return;
    }
    if (column.kind === 'fields') {
      this.grouped ||= column.grouped === true;
      this.addFields(column.cells, column.comma, first);
    } else if (column.kind === 'values') {
      this.addValues(column.cells, first);
    } else {
      this.addTyped(column.data, first);
    }
  }

  settle(): Settled {
    if (this.given !== undefined) {
      const { decimal } = this.looks;
      return { type: this.given, ...(decimal !== undefined && { decimal }) };
    }
    const settled = this.settleKinds();
    if (settled.type !== 'text') {
      return settled;
    }
    const text = this.firstText();
    const like = this.onlyText() ? this.looks.settle() : undefined;
    if (like === undefined) {
      return { ...settled, text };
    }
    const { example, whole } = this.looks;
    // What it looks like tells more than that it is mixed.
    return { type: 'text', text, look: { like, whole, example: example! } };
  }

  private settleKinds(): { type: ColumnType; decimal?: Decimal; warning?: string } {
    if (this.fields === 0) {
      return this.settleValues();
    }
    return this.kinds === 0 ? this.settleFields() : this.settleBoth();
  }

  /** True where no value but text, and text that may mean "missing", was seen. */
  private onlyText(): boolean {
    return (this.kinds & ~(TEXT | ABSENT | EMPTY)) === 0 && (this.kinds === 0 || this.fields === 0);
  }

  private firstText(): Sight | undefined {
    return this.firsts.get(TEXT) ?? this.oddField ?? this.looks.example;
  }

  /** Finds out what decimal mark the text of a column has that is given as numbers. */
  private lookGiven(column: SliceColumn, first: number): void {
    if (this.given !== 'number' && this.given !== 'integer') {
      return;
    }
    const cells: ArrayLike<unknown> =
      column.kind !== 'typed' ? column.cells : column.data.type === 'text' ? cellsOf(column.data) : [];
    // Numbers of a tab-separated file may be grouped by commas, so each is looked at.
    const comma = column.kind === 'fields' && column.comma && column.grouped !== true;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell !== '' && !text.isAbsent(cell)) {
        this.looks.addFitting(cell, first + i, comma);
      }
    }
  }

  /** Bytes of the column as it is stored, without compression, at most. */
  bytesAs(type: ColumnType): number {
    return type === 'text' ? 4 * this.rows + this.textBytes : 9 * this.rows;
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

  /** A sequence of messages can hold text files and objects. */
  private settleBoth(): { type: ColumnType; warning?: string } {
    const fields = this.settleFields();
    const values = this.settleValues();
    if (fields.type === values.type) {
      return values;
    }
    const types = [fields.type, values.type];
    if (types.every((type) => type === 'integer' || type === 'number')) {
      return { type: 'number' };
    }
    const text = `Column "${this.name}" holds ${types.join(' and ')}, so it is taken as text.`;
    return { type: 'text', warning: fields.warning ?? values.warning ?? text };
  }

  private addValues(cells: ArrayLike<unknown>, first: number): void {
    let kinds = this.kinds;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      let kind: number;
      if (typeof cell === 'number') {
        kind = Number.isSafeInteger(cell) ? WHOLE : Number.isNaN(cell) ? 0 : FRACTION;
      } else if (typeof cell === 'string') {
        kind = cell === '' ? EMPTY : text.isAbsent(cell) ? ABSENT : TEXT;
        if (kind === TEXT && this.looks.alive) {
          this.looks.add(cell, first + i);
        }
      } else {
        kind = this.otherKind(cell, first + i);
      }
      if ((kinds | kind) !== kinds) {
        kinds |= kind;
        this.firsts.set(kind, { row: first + i, value: cell });
      }
    }
    this.kinds = kinds;
  }

  private otherKind(cell: unknown, row: number): number {
    if (cell === null || cell === undefined) {
      return 0;
    }
    if (typeof cell === 'boolean') {
      return BOOLEAN;
    }
    if (typeof cell === 'bigint') {
      return BigInt.asIntN(64, cell) !== cell ? HUGE : Number.isSafeInteger(Number(cell)) ? WHOLE : BIG;
    }
    if (isDate(cell)) {
      return Number.isNaN(cell.getTime()) ? 0 : DATE;
    }
    throw nestedCell(this.name, row, cell);
  }

  private addTyped(data: ColumnData, first: number): void {
    if (data.type === 'text' || data.type === 'bigint' || data.type === 'boolean') {
      // All cells of these are of one kind (a bigint may still be small), so the quick way out is common.
      const known = data.type === 'text' ? TEXT : data.type === 'boolean' ? BOOLEAN : BIG;
      if (data.type === 'text') {
        this.addText(data, first);
      } else if ((this.kinds & known) === 0) {
        this.addValues(cellsOf(data), first);
      }
    } else if (data.type === 'integer') {
      this.addValues(data.values, first);
    } else {
      // A column that was stored as floating point stays so, even where all of its values are whole.
      const at = data.values.findIndex((value) => !Number.isNaN(value));
      if (at >= 0) {
        this.addValues([data.type === 'date' ? new Date(data.values[at]!) : 0.5], first + at);
      }
    }
  }

  private addText(data: ColumnData, first: number): void {
    if ((this.kinds & TEXT) !== 0 && !this.looks.alive) {
      return;
    }
    const cells = cellsOf(data);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell !== 'string') {
        continue;
      }
      if ((this.kinds & TEXT) === 0) {
        this.kinds |= TEXT;
        this.firsts.set(TEXT, { row: first + i, value: cell });
      }
      if (!this.looks.alive) {
        return;
      }
      if (cell !== '' && !text.isAbsent(cell)) {
        this.looks.add(cell, first + i);
      }
    }
  }

  private addFields(cells: readonly string[], comma: boolean, first: number): void {
    for (let i = 0; i < cells.length; i++) {
      if (this.possible === 0) {
        this.lookAtFields(cells, i, first);
        return;
      }
      const cell = cells[i]!;
      if (cell === '') {
        continue;
      }
      const reading = text.readings(cell, comma);
      const left = this.possible & reading;
      if (left === 0) {
        if (this.fields > 0) {
          this.oddField = { row: first + i, value: cell };
          this.looks.others((this.possible & (text.NUMBER | text.COMMA_NUMBER)) !== 0);
        }
        this.possible = 0;
        this.fields++;
        this.lookAtFields(cells, i, first);
        return;
      }
      this.possible = left;
      if ((reading & text.FRACTION) !== 0) {
        this.looks.addFraction(cell, first + i, (reading & text.NUMBER) !== 0);
      }
      if ((reading & text.ABSENT) === 0) {
        this.marks |= reading;
        this.fields++;
      }
    }
  }

  /** Fields of a column that is text in this file may still be numbers or dates to those who wrote it. */
  private lookAtFields(cells: readonly string[], from: number, first: number): void {
    for (let i = from; i < cells.length && this.looks.alive; i++) {
      const cell = cells[i]!;
      if (cell !== '' && !text.isAbsent(cell)) {
        this.looks.add(cell, first + i);
      }
    }
  }

  private settleFields(): { type: ColumnType; decimal?: Decimal; warning?: string } {
    const { possible, marks } = this;
    if (possible === 0) {
      return this.oddField === undefined
        ? { type: 'text' }
        : { type: 'text', warning: this.mixed(`${fieldKind(marks)} and text`, this.oddField) };
    }
    if ((possible & text.BOOLEAN) !== 0) {
      return { type: 'boolean' };
    }
    if ((possible & text.DATE) !== 0) {
      return { type: 'date' };
    }
    if ((possible & text.WHOLE) !== 0) {
      return { type: (marks & text.BEYOND_SAFE) !== 0 ? 'bigint' : 'integer' };
    }
    if ((marks & text.FRACTION) !== 0) {
      if (!this.grouped || (possible & text.NUMBER) !== 0) {
        return { type: 'number' };
      }
      const { decimal } = this.looks;
      return decimal === ',' ? { type: 'number', decimal } : { type: 'text' };
    }
    return { type: 'text', warning: this.beyond64() };
  }

  private settleValues(): { type: ColumnType; warning?: string } {
    let { kinds } = this;
    if ((kinds & ABSENT) !== 0 && ((kinds & NUMERIC) === 0 || (kinds & (BOOLEAN | DATE | TEXT)) !== 0)) {
      kinds |= TEXT;
      const absent = this.firsts.get(ABSENT)!;
      const known = this.firsts.get(TEXT);
      this.firsts.set(TEXT, known !== undefined && known.row < absent.row ? known : absent);
    }
    const present = KIND_NAMES.filter(([bits]) => (kinds & bits) !== 0);
    if (present.length > 1) {
      const sights = present.map(([bits]) => this.firstOf(bits)).sort((a, b) => a.row - b.row);
      const names = present.map(([, name]) => name);
      return { type: 'text', warning: this.mixed(names.join(' and '), sights[1]!) };
    }
    if ((kinds & NUMERIC) !== 0) {
      return this.settleNumbers(kinds);
    }
    return { type: (kinds & BOOLEAN) !== 0 ? 'boolean' : (kinds & DATE) !== 0 ? 'date' : 'text' };
  }

  private settleNumbers(kinds: number): { type: ColumnType; warning?: string } {
    if ((kinds & FRACTION) !== 0) {
      return { type: 'number' };
    }
    if ((kinds & HUGE) !== 0) {
      return { type: 'text', warning: this.beyond64() };
    }
    return { type: (kinds & BIG) !== 0 ? 'bigint' : 'integer' };
  }

  private firstOf(bits: number): Sight {
    let first: Sight | undefined;
    for (const [kind, sight] of this.firsts) {
      if ((kind & bits) !== 0 && (first === undefined || sight.row < first.row)) {
        first = sight;
      }
    }
    return first!;
  }

  private mixed(kinds: string, odd: Sight): string {
    return `Column "${this.name}" holds ${kinds}, so it is taken as text; the first odd value is ${show(odd.value)} in row ${odd.row + 1}.`;
  }

  private beyond64(): string {
    return `Column "${this.name}" holds whole numbers beyond 64 bits, so it is taken as text.`;
  }
}

function fieldKind(marks: number): string {
  if ((marks & (text.NUMBER | text.COMMA_NUMBER)) !== 0) {
    return 'numbers';
  }
  return (marks & text.DATE) !== 0 ? 'dates' : 'booleans';
}
