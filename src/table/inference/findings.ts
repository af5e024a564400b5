import { isDate } from '../../util/values';
import {
  ABSENT,
  BEYOND_INT64,
  BEYOND_SAFE,
  BOOLEAN,
  DATE,
  FRACTION,
  isAbsent,
  WHOLE,
} from '../cells/classify';
import { bothReadings } from '../cells/parse-number';
import {
  type CellReading,
  type ColumnType,
  type DateOrder,
  type Decimal,
  isLong,
  listNames,
  show,
} from '../cells/types';
import { dateOfDigits, isLikelySerial, isSerial } from '../cells/written-date';
import { countRows } from '../columns/column-batch';
import { assertText, MAX_TEXT } from '../columns/header';
import type { SliceColumn } from '../columns/slices';

/** A cell and its row, counted from 0. */
export interface Sight {
  row: number;
  value: unknown;
}

/** What a column is taken as. */
export interface Settled {
  type: ColumnType;
  decimal?: Decimal;
  order?: DateOrder;
  years?: number;
  unit?: string;
  numbers?: CellReading['numbers'];
  /** A cell of text, all of which has white space around it. */
  padded?: string;
  warning?: string;
  /** Text that looks like something else, wholly. */
  look?: TextLook;
  /** The first cell that makes the column text. */
  text?: Sight;
  /** The words that make it text, where nearly all of it reads as something else. */
  words?: OddWords;
}

/** Words among cells that otherwise read as numbers or dates. */
export interface OddWords {
  like: 'numbers' | 'dates';
  /** Cells that hold a value, and those of them that are such words. */
  cells: number;
  odd: number;
  /** At most one cell in ten is such a word; else at most every second. */
  areFew: boolean;
  list: { word: string; count: number; row: number }[];
}

/** What all text of a column looks like; `whole`: like whole numbers. */
export interface TextLook {
  like: 'number' | 'either number' | 'date' | 'local date' | 'unit' | 'uncertain';
  whole: boolean;
  example: Sight;
}

/** @param odd the first cell that is not of the kind of those before it */
export function mixedWarning(column: string, kinds: string, odd: Sight): string {
  const isWord = kinds === 'numbers and text' && typeof odd.value === 'string';
  return `Column "${column}" holds ${kinds}, so it is taken as text; the first odd value is ${show(odd.value)} in row ${odd.row + 1}.${isWord ? ` If such words mean that a value is missing, add them to Missing words (msg.missing_words).` : ''}`;
}

const SHOWN_WORDS = 5;

/**
 * Names the words that keep a column from being numbers or dates, and what takes them.
 *
 * @param asText the others are text too, so their type has to be given as well
 */
export function oddWordsWarning(column: string, words: OddWords, asText: boolean): string {
  const { like, cells, odd, areFew, list } = words;
  const shown = list
    .slice(0, SHOWN_WORDS)
    .map(
      ({ word, count, row }) =>
        `${show(word)} (${count === 1 ? '' : `${count} times, first in `}row ${row + 1})`,
    );
  const more = list.length > SHOWN_WORDS ? ` and ${list.length - SHOWN_WORDS} others` : '';
  const type = asText ? ` and set Column types ${JSON.stringify({ [column]: 'number' })}` : '';
  return `Column "${column}" is text, since ${odd} of its ${cells} cells ${odd === 1 ? 'does' : 'do'} not read as ${like}: ${shown.join(', ')}${more}. If these mean that a value is missing, add them to Missing words (msg.missing_words)${areFew ? ', or set Unreadable cells to missing (msg.unreadable)' : ''}${type}.`;
}

/** The only word of a column, where it stands in the first row: it may be the name of the column. */
export function nameInFirstRow({ odd, list }: OddWords): string | undefined {
  const [first] = list;
  return odd === 1 && first?.row === 0 ? first.word : undefined;
}

/** Says that the first row has the names, where several columns are text for a word in it alone. */
export function namesInRowWarning(words: readonly string[]): string {
  const shown = words.slice(0, SHOWN_WORDS).map(show).join(', ');
  return `Row 1 seems to hold the names of the columns (${shown}${words.length > SHOWN_WORDS ? ', …' : ''}), so ${words.length} columns of numbers or dates are text. Read the table from that row on: what stands above it in a spreadsheet is no part of it.`;
}

/** How a row of totals begins, as reports and spreadsheets end with one. */
const TOTAL =
  /^(?:grand |sub-?)?(?:total|totals|totale|totaal|sum|summe|summen|gesamt|gesamtsumme|zwischensumme|somme|suma|soma|average|mittelwert|durchschnitt|moyenne|promedio|media|合計|総計|小計|平均)[ :.]*$/i;

/** Says that a row is none of the others' kind: what it sums up would be learned as a value. */
export function totalWarning(column: string, words: OddWords): string | undefined {
  const total = words.list.find(({ word }) => TOTAL.test(word.trim()));
  return total === undefined
    ? undefined
    : `Row ${total.row + 1} looks like a total of the others (column "${column}" has ${show(total.word)}): remove it, or its numbers count as values like any other.`;
}

export function beyond64Warning(column: string): string {
  return `Column "${column}" holds whole numbers beyond 64 bits, so it is taken as text.`;
}

/** A text column that looks like something else. */
export type NamedLook = TextLook & { name: string };

/** Says of columns that look alike how they look, where, and what to do; and how to keep them as they are. */
export interface LookWarning {
  problem: string;
  keep: string;
}

/** One warning for all columns that look alike. */
export function lookWarnings(list: readonly NamedLook[]): LookWarning[] {
  return (['number', 'either number', 'date', 'local date', 'unit', 'uncertain'] as const).flatMap((like) => {
    const alike = list.filter((look) => look.like === like);
    return alike.length === 0 ? [] : [lookWarning(like, alike)];
  });
}

const NAMED = 5;

function lookWarning(like: TextLook['like'], list: readonly NamedLook[]): LookWarning {
  const names = list.slice(0, NAMED).map(({ name }) => name);
  const shown = names.map((name) => `"${name}"`).join(', ');
  const more = list.length > NAMED ? ` and ${list.length - NAMED} more` : '';
  const are = list.length === 1 ? `Column ${shown} is text` : `Columns ${shown}${more} are text`;
  const { name, example } = list[0]!;
  const where = `${show(example.value)}, ${list.length === 1 ? '' : `column "${name}", `}row ${example.row + 1}`;
  const types = (type: string): string => JSON.stringify(Object.fromEntries(names.map((key) => [key, type])));
  const keep = `Column types ${types('text')} keeps ${list.length === 1 ? 'it' : 'them'} as text without this warning.`;
  return { problem: problem(), keep };

  function problem(): string {
    switch (like) {
      case 'number':
      case 'date':
        return `${are} that reads as ${like}s (${where}): set Column types ${types(like)}.`;
      case 'either number':
        return `${are} that reads as numbers (${where}), but this can mean ${bothReadings(String(example.value))}: set Column types ${types('number-comma')} or ${types('number-point')}.`;
      case 'unit':
        return `${are} that holds numbers with several units (${where}), so that each of them is a category of its own: give all of them in one unit.`;
      case 'local date':
        return `${are} that looks like dates (${where}), but ${/^\d\d-\d\d-\d\d(?!\d)/.test(String(example.value)) ? 'the day, the month or the year may come first: write years with four digits, or' : 'the day may come first or the month:'} set Column types ${types('date-dmy')} or ${types('date-mdy')}.`;
      case 'uncertain':
        return `${are} that looks like numbers or dates (${where}), but is not read as such, so that each value is a category of its own: write plain numbers (1500, 0.05), dates with their year (2024-02-28), or seconds for a duration.`;
    }
  }
}

/** Bits of values that are text, and empty text; the other bits of values are those of text that reads as such values. */
export const TEXT = 8192;
const EMPTY = 16384;

export const NUMBERS = WHOLE | FRACTION | BEYOND_SAFE | BEYOND_INT64;

/** The kind of a JavaScript value: 0 where it is missing, undefined where it is nested, or too long, and no cell. */
export function kindOfValue(cell: unknown): number | undefined {
  if (typeof cell === 'number') {
    return Number.isSafeInteger(cell) ? WHOLE : Number.isNaN(cell) ? 0 : FRACTION;
  }
  if (typeof cell === 'string') {
    return cell === '' ? EMPTY : isAbsent(cell) ? ABSENT : TEXT;
  }
  if (cell === null || cell === undefined) {
    return 0;
  }
  if (typeof cell === 'boolean') {
    return BOOLEAN;
  }
  if (typeof cell === 'bigint') {
    if (isLong(cell)) {
      return undefined;
    }
    return BigInt.asIntN(64, cell) !== cell
      ? BEYOND_INT64
      : Number.isSafeInteger(Number(cell))
        ? WHOLE
        : BEYOND_SAFE;
  }
  if (isDate(cell)) {
    return Number.isNaN(cell.getTime()) ? 0 : DATE;
  }
  return undefined;
}

/** The kinds of values in a column of JavaScript values, or of a file that has types. */
export class ValueKinds {
  private any = 0;
  private readonly firsts = new Map<number, Sight>();
  /** How many values are numbers, and dates. */
  numbers = 0;
  dates = 0;

  get isEmpty(): boolean {
    return this.any === 0;
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
    let first: Sight | undefined;
    for (const [kind, sight] of this.firsts) {
      if ((kind & bits) !== 0 && (first === undefined || sight.row < first.row)) {
        first = sight;
      }
    }
    return first;
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

/** Whether the text of a column begins, or ends, with white space in every cell. */
export class Padding {
  private begins = true;
  private ends = true;
  private example: string | undefined;

  /** A cell of it that has white space around it, where all of them have on one side. */
  get found(): string | undefined {
    return this.begins || this.ends ? this.example : undefined;
  }

  add(cells: ArrayLike<unknown>): void {
    for (let i = 0; i < cells.length && (this.begins || this.ends); i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell.trim() !== '') {
        this.begins &&= isWhite(cell.charCodeAt(0));
        this.ends &&= isWhite(cell.charCodeAt(cell.length - 1));
        this.example ??= cell;
      }
    }
  }
}

/** One warning for all columns whose text is read without the white space around it. */
export function paddingWarning(padded: readonly { name: string; cell: string }[]): string {
  const { cell } = padded[0]!;
  return `Every cell of ${padded.length === 1 ? 'column' : 'columns'} ${listNames(padded.map(({ name }) => name))} begins or ends with white space, which is left off: ${show(cell)} is ${show(cell.trim())}, and so it is when the model predicts.`;
}

const SPACE = 32;
const NO_BREAK_SPACE = 160;

/** A space of any kind that files have around their fields. */
function isWhite(code: number): boolean {
  return code <= SPACE || code === NO_BREAK_SPACE;
}

/** Fewer whole numbers than these may read as dates by chance. */
export const MIN_IN_DIGITS = 3;

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

  /** True where no cell is anything but a date in digits, and there are enough to tell: fewer may be by chance. */
  get onlyDigits(): boolean {
    return this.areDigits && this.count >= MIN_IN_DIGITS;
  }

  /** A value that is not missing. */
  addValue(value: unknown): void {
    if (this.areDigits) {
      this.see(typeof value === 'string' ? value.trim() : String(value));
    }
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

/**
 * Says of a column of numbers that they may be dates, where its name and its first number let one think so.
 *
 * @param first its first number, where it has one and its type is not given
 */
export function dateNumbersWarning(name: string, first: number | undefined): string | undefined {
  if (first === undefined || !NAMES.test(name.replace(/([a-z])([A-Z])/g, '$1 $2'))) {
    return undefined;
  }
  const seconds =
    [1, 1e3, 1e6, 1e9].map((unit) => first / unit).findLast((value) => value >= SECONDS[0]) ?? 0;
  const isTime = seconds >= SECONDS[0] && seconds <= SECONDS[1];
  // 45,000 of a time may be milliseconds of anything.
  const isDuration = /time|ts$|zeit/i.test(name) && !/date|datum|stamp|stempel|punkt/i.test(name);
  const isDay = isLikelySerial(first) ? !isDuration : !Number.isNaN(dateOfDigits(String(first)));
  if (!isTime && !isDay) {
    return undefined;
  }
  const types = (type: string): string => JSON.stringify({ [name]: type });
  return `Column "${name}" holds numbers such as ${first} that may be dates: set Column types ${types('date')} if they are; ${types('number')} keeps them as they are without this warning.`;
}

/** Bytes that a cell other than text takes as text at most: those of a date, or of a long number. */
const OTHER_BYTES = 30;

/** How much the cells of a column take as they are stored, without compression. */
export class StoredSize {
  private rows = 0;
  private textBytes = 0;

  /** Bytes of the column as this type, at most. */
  bytesAs(type: ColumnType): number {
    return type === 'text' ? 4 * this.rows + this.textBytes : 9 * this.rows;
  }

  /**
   * @param name that of the column, for an error
   * @param first number of the slice's first row
   * @throws ServiceError `limit.exceeded` for more text than is read at once
   */
  add(name: string, column: SliceColumn, first: number): void {
    if (column.kind === 'typed') {
      const { data } = column;
      this.rows += countRows(data);
      this.textBytes += data.type === 'text' ? data.bytes.length : OTHER_BYTES * countRows(data);
      return;
    }
    const { cells } = column;
    let characters = 0;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      characters += typeof cell === 'string' ? cell.length : OTHER_BYTES / 3;
      if (characters > MAX_TEXT && column.kind === 'values') {
        assertText(name, first + i, typeof cell === 'string' ? cell.length : 0, characters);
      }
    }
    this.rows += cells.length;
    this.textBytes += 3 * characters;
  }
}
