import { isDate } from '../../util/values';
import { isAbsent } from '../cells/classify';
import { DateReader, whyNotDate } from '../cells/parse-date';
import { parseBigint, readNumber, whyNotNumber } from '../cells/parse-number';
import { type Column, invalidCell, isLong, nestedProblem, show } from '../cells/types';
import { CLOCK } from '../cells/written-number';
import { type ColumnData, listCells, MISSING_BOOLEAN } from './column-batch';
import { assertText, MAX_TEXT } from './header';
import { type MissingWords, plainCells, type SliceColumn } from './slices';

/**
 * Gathers the cells of one column, slice by slice, in the type that the column has. A lossless change is
 * made (numeric text to number, ISO text to date, anything plain to text); anything else is `table.invalid`
 * with column and row, or a missing value where the column takes that.
 */
export abstract class ColumnBuilder {
  /** Cells that were made missing so far: words that mean it, and what could not be read. */
  cleaned = 0;
  /** Of what was gathered since the last `take`. */
  bytes = 0;
  protected rows = 0;

  constructor(protected readonly column: Column) {}

  /** Adds all cells of a slice; `first` is the number of its first row in the table, from 0. */
  abstract add(cells: SliceColumn, first: number): void;
  /** Adds missing cells. */
  abstract skip(rows: number): void;
  /** What was gathered since the last call. */
  abstract take(): ColumnData;

  /** The cells with these words as missing values. */
  cleared(cells: SliceColumn, words: MissingWords): SliceColumn {
    const { column, cleared } = words.clear(cells);
    this.cleaned += cleared;
    return column;
  }

  protected refuse<T>(row: number, problem: string, missing: T): T {
    if (this.column.unreadable === undefined) {
      throw invalidCell(this.column.name, row, problem);
    }
    this.cleaned++;
    return missing;
  }
}

/** Columns held as a Float64Array; each kind of column has its own reading of a cell as a number. */
abstract class FloatBuilder extends ColumnBuilder {
  protected values = new Float64Array(0);
  /** An `integer` column in which a fraction turned up is handed over as `number`: nothing is lost. */
  protected hasFractions = false;

  skip(rows: number): void {
    const from = this.rows;
    this.grow(rows).fill(NaN, from, this.rows);
  }

  /** The values, with room for as many rows more, which count as added. */
  protected grow(rows: number): Float64Array {
    this.rows += rows;
    this.bytes = this.rows * 8;
    this.values = grown(this.values, this.rows);
    return this.values;
  }

  take(): ColumnData {
    const type = this.hasFractions ? 'number' : (this.column.type as 'number' | 'integer' | 'date');
    const { values, rows } = this;
    this.values = new Float64Array(rows);
    this.hasFractions = false;
    this.rows = 0;
    this.bytes = 0;
    return { type, values: values.length === rows ? values : values.slice(0, rows) };
  }
}

type Room = Float64Array | BigInt64Array | Uint8Array | Int32Array;

/**
 * The array, or a copy of twice the size where it is too small. The first has just the room that is asked for: most
 * columns are a single row's, or of one slice.
 */
function grown<T extends Room>(array: T, length: number): T {
  if (length <= array.length) {
    return array;
  }
  const next = new (array.constructor as new (n: number) => T)(Math.max(length, array.length * 2));
  next.set(array as never);
  return next;
}

class NumberBuilder extends FloatBuilder {
  add(column: SliceColumn, first: number): void {
    const cells = column.kind === 'typed' ? typedNumbers(column.data) : column.cells;
    const comma = column.kind === 'fields' && column.comma;
    // Outside a text file nothing tells the decimal mark: text is read where only one is possible.
    const grouped = column.kind !== 'fields' || column.grouped === true;
    const integers = this.column.type === 'integer';
    // A model of text such as 9:05 learned seconds; one of Arrow, whose column has no unit, milliseconds.
    const perUnit = column.kind === 'typed' && column.ofDay === true && this.column.unit === CLOCK ? 1000 : 1;
    let at = this.rows;
    const values = this.grow(cells.length);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      const value =
        (typeof cell === 'number' ? cell : this.convert(cell, first + i, comma, grouped)) / perUnit;
      if (integers && !Number.isSafeInteger(value) && !Number.isNaN(value)) {
        this.hasFractions = true;
      }
      values[at++] = value;
    }
  }

  private convert(cell: unknown, row: number, comma: boolean, grouped: boolean): number {
    if (cell === null || cell === undefined) {
      return NaN;
    }
    if (typeof cell === 'string') {
      const value = readNumber(cell, this.column, comma, grouped);
      if (value !== undefined) {
        return value;
      }
      return this.refuse(row, whyNotNumber(cell, this.column), NaN);
    }
    if (typeof cell === 'bigint') {
      return Number(cell);
    }
    return this.refuse(row, `${show(cell)} is not a number, and this column holds numbers.`, NaN);
  }
}

function typedNumbers(data: ColumnData): ArrayLike<unknown> {
  return data.type === 'number' || data.type === 'integer' ? data.values : listCells(data);
}

/** The builder of a column's type. */
export function builderFor(column: Column): ColumnBuilder {
  switch (column.type) {
    case 'number':
    case 'integer':
      return new NumberBuilder(column);
    case 'date':
      return new DateBuilder(column);
    case 'bigint':
      return new BigintBuilder(column);
    case 'boolean':
      return new BooleanBuilder(column);
    case 'text':
      return new TextBuilder(column);
  }
}

class DateBuilder extends FloatBuilder {
  private readonly reader = new DateReader(this.column);

  add(column: SliceColumn, first: number): void {
    const from = this.rows;
    if (column.kind === 'typed' && column.data.type === 'date') {
      const instants = column.data.values;
      const values = this.grow(instants.length);
      for (let i = 0; i < instants.length; i++) {
        values[from + i] = this.reader.fromInstant(instants[i]!);
      }
      return;
    }
    const cells = plainCells(column);
    const values = this.grow(cells.length);
    for (let i = 0; i < cells.length; i++) {
      values[from + i] = this.convert(cells[i], first + i);
    }
  }

  private convert(cell: unknown, row: number): number {
    if (cell === null || cell === undefined || cell === '' || Number.isNaN(cell)) {
      return NaN;
    }
    const value = this.reader.read(cell);
    if (!Number.isNaN(value) || (isDate(cell) && Number.isNaN(cell.getTime()))) {
      return value;
    }
    if (typeof cell === 'string' && isAbsent(cell)) {
      return NaN;
    }
    return this.refuse(row, whyNotDate(show(cell), cell, this.column.order), NaN);
  }
}

/**
 * Text as UTF-8 bytes and offsets. The cells of a slice are joined and encoded in one call, which is
 * many times quicker than a call per cell; in ASCII the offsets follow from the lengths.
 */
class TextBuilder extends ColumnBuilder {
  private data = Buffer.alloc(0);
  private used = 0;
  private offsets = new Int32Array(1);
  private missing: Uint8Array | undefined;

  skip(rows: number): void {
    this.encode(new Array<null>(rows).fill(null));
  }

  add(column: SliceColumn, first: number): void {
    const { trim } = this.column;
    if (column.kind === 'fields') {
      this.encode(trim === true ? column.cells.map((cell) => cell.trim()) : column.cells, true);
      return;
    }
    const cells = plainCells(column);
    const texts = new Array<string | null>(cells.length);
    let all = 0;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      const text = typeof cell === 'string' ? cell : this.convert(cell, first + i);
      texts[i] = trim === true ? (text?.trim() ?? null) : text;
      const length = texts[i]?.length ?? 0;
      all += length;
      if (all > MAX_TEXT && column.kind === 'values') {
        assertText(this.column.name, first + i, length, all);
      }
    }
    this.encode(texts, trim);
  }

  private convert(cell: unknown, row: number): string | null {
    if (cell === null || cell === undefined || Number.isNaN(cell)) {
      return null;
    }
    if (
      typeof cell === 'number' ||
      typeof cell === 'boolean' ||
      (typeof cell === 'bigint' && !isLong(cell))
    ) {
      return String(cell);
    }
    if (isDate(cell)) {
      return Number.isNaN(cell.getTime()) ? null : cell.toISOString();
    }
    return this.refuse(row, nestedProblem(cell), null);
  }

  /** Adds cells; null is missing, and so is empty text where `emptyIsMissing`. */
  private encode(cells: readonly (string | null)[], emptyIsMissing = false): void {
    this.offsets = grown(this.offsets, this.rows + cells.length + 1);
    const joined = cells.join('');
    // A UTF-16 unit takes at least one byte, so equal counts mean that all of it is ASCII.
    if (Buffer.byteLength(joined, 'utf8') === joined.length) {
      this.reserve(joined.length);
      let at = this.used;
      this.used += this.data.write(joined, at, 'latin1');
      for (let i = 0; i < cells.length; i++) {
        at += cells[i]?.length ?? 0;
        this.offsets[this.rows + i + 1] = at;
      }
    } else {
      this.encodeUnicode(cells);
    }
    for (let i = 0; i < cells.length; i++) {
      if (cells[i] === null || (emptyIsMissing && cells[i] === '')) {
        this.missing = grown(this.missing ?? new Uint8Array(0), this.rows + cells.length);
        this.missing[this.rows + i] = 1;
      }
    }
    this.rows += cells.length;
    this.bytes = this.used + this.rows * 4;
  }

  /** Cell by cell, since neighbours could join to one character where text is cut inside a surrogate pair. */
  private encodeUnicode(cells: readonly (string | null)[]): void {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (cell !== null && cell !== undefined && cell !== '') {
        this.reserve(cell.length * 3);
        this.used += this.data.write(cell, this.used, 'utf8');
      }
      this.offsets[this.rows + i + 1] = this.used;
    }
  }

  private reserve(bytes: number): void {
    const needed = this.used + bytes;
    if (needed > this.data.length) {
      const data = Buffer.allocUnsafeSlow(Math.max(needed, this.data.length * 2));
      this.data.copy(data, 0, 0, this.used);
      this.data = data;
    }
  }

  take(): ColumnData {
    const { rows, used } = this;
    const bytes = new Uint8Array(this.data.subarray(0, used));
    const offsets = this.offsets.slice(0, rows + 1);
    const missing = this.missing && grown(this.missing, rows).slice(0, rows);
    this.used = 0;
    this.rows = 0;
    this.bytes = 0;
    this.missing = undefined;
    return missing === undefined
      ? { type: 'text', bytes, offsets }
      : { type: 'text', bytes, offsets, missing };
  }
}

class BooleanBuilder extends ColumnBuilder {
  private values = new Uint8Array(0);

  skip(rows: number): void {
    this.values = grown(this.values, this.rows + rows);
    this.values.fill(MISSING_BOOLEAN, this.rows, this.rows + rows);
    this.rows += rows;
    this.bytes = this.rows;
  }

  add(column: SliceColumn, first: number): void {
    const cells = plainCells(column);
    this.values = grown(this.values, this.rows + cells.length);
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      this.values[this.rows + i] = typeof cell === 'boolean' ? Number(cell) : this.convert(cell, first + i);
    }
    this.rows += cells.length;
    this.bytes = this.rows;
  }

  private convert(cell: unknown, row: number): number {
    if (cell === null || cell === undefined || cell === '' || Number.isNaN(cell)) {
      return MISSING_BOOLEAN;
    }
    if (typeof cell === 'string') {
      const lower = cell.toLowerCase();
      if (lower === 'true' || lower === 'false') {
        return lower === 'true' ? 1 : 0;
      }
      if (isAbsent(cell)) {
        return MISSING_BOOLEAN;
      }
    }
    return this.refuse(row, `${show(cell)} is neither true nor false.`, MISSING_BOOLEAN);
  }

  take(): ColumnData {
    const values = this.values.slice(0, this.rows);
    this.rows = 0;
    this.bytes = 0;
    return { type: 'boolean', values };
  }
}

/** 64-bit integers, kept exact. */
class BigintBuilder extends ColumnBuilder {
  private values = new BigInt64Array(0);
  private missing = new Uint8Array(0);

  skip(rows: number): void {
    const from = this.rows;
    this.grow(rows);
    this.values.fill(0n, from, this.rows);
    this.missing.fill(1, from, this.rows);
  }

  /** Makes room for as many rows more, which count as added. */
  private grow(rows: number): void {
    this.rows += rows;
    this.bytes = this.rows * 9;
    this.values = grown(this.values, this.rows);
    this.missing = grown(this.missing, this.rows);
  }

  add(column: SliceColumn, first: number): void {
    const cells = plainCells(column);
    const from = this.rows;
    this.grow(cells.length);
    for (let i = 0; i < cells.length; i++) {
      const value = this.convert(cells[i], first + i);
      this.values[from + i] = value ?? 0n;
      this.missing[from + i] = value === null ? 1 : 0;
    }
  }

  private convert(cell: unknown, row: number): bigint | null {
    if (cell === null || cell === undefined || Number.isNaN(cell)) {
      return null;
    }
    if (typeof cell === 'bigint' && BigInt.asIntN(64, cell) === cell) {
      return cell;
    }
    if (typeof cell === 'number' && Number.isSafeInteger(cell)) {
      return BigInt(cell);
    }
    if (typeof cell === 'string') {
      const value = parseBigint(cell);
      if (value !== undefined) {
        return value;
      }
    }
    return this.refuse(row, `${show(cell)} is not a 64-bit integer.`, null);
  }

  take(): ColumnData {
    const values = this.values.slice(0, this.rows);
    const missing = this.missing.slice(0, this.rows);
    this.rows = 0;
    this.bytes = 0;
    return missing.includes(1) ? { type: 'bigint', values, missing } : { type: 'bigint', values };
  }
}
