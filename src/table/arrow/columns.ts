import { isDate } from '../../util/values';
import { invalidCell, invalidTable, nestedCell } from '../cells/types';
import { type ColumnData, MISSING_BOOLEAN } from '../columns/column-batch';
import { plainCells, type SliceColumn } from '../columns/slices';

/** Rows `from` to `to` of a column of a record batch. */
interface ArrowRows {
  /** Of the column. */
  name: string;
  from: number;
  to: number;
  /** The number of row `from` in the table. */
  first: number;
}

/** The same, where it is known which of them are missing. */
interface ArrowCells extends ArrowRows {
  isNull: (row: number) => boolean;
}

/** Some rows of one column of a record batch. Lists, structs and maps are nested values: `table.invalid`. */
export function arrowColumn(vector: ArrowVector, rows: ArrowRows): SliceColumn {
  const { name, from, to, first } = rows;
  const data = vector.data[0];
  if (vector.data.length > 1 || data === undefined) {
    return {
      kind: 'values',
      cells: eachCell(from, to, (row) => plainCell(name, vector.get(row), row, first)),
    };
  }
  const isNull = nullTest(data);
  const cells: ArrowCells = { ...rows, isNull };
  const { values } = data;
  if (vector.length < to) {
    throw damaged(name);
  }
  assertHeld(data, cells);
  switch (vector.type.typeId) {
    case TYPE.null:
      return { kind: 'values', cells: eachCell(from, to, () => null) };
    case TYPE.bool:
      return { kind: 'typed', data: booleans(data, cells) };
    case TYPE.int:
      return wholes(values, cells);
    case TYPE.float:
      return vector.type.precision === 0
        ? { kind: 'values', cells: eachCell(from, to, (row) => vector.get(row)) }
        : typedFloats('number', cells, (row) => Number(values[row]));
    case TYPE.decimal:
      assertScale(name, vector.type);
      return { kind: 'values', cells: eachCell(from, to, (row) => decimal(vector, row)) };
    case TYPE.date:
    case TYPE.timestamp:
      return typedFloats('date', cells, timeReader(data));
    case TYPE.time:
    case TYPE.duration:
      return { ...typedFloats('number', cells, timeReader(data)), ofDay: true };
    case TYPE.utf8:
    case TYPE.largeUtf8:
      return { kind: 'typed', data: texts(data, cells) };
    case TYPE.utf8View:
      return { kind: 'values', cells: eachCell(from, to, (row) => vector.get(row)) };
    case TYPE.binary:
    case TYPE.largeBinary:
    case TYPE.binaryView:
    case TYPE.fixedSizeBinary:
      return {
        kind: 'values',
        cells: eachCell(from, to, (row) => bytesAsText(name, vector.get(row), first + row - from)),
      };
    case TYPE.dictionary:
      return { kind: 'values', cells: dictionaryCells(data, cells) };
    default:
      for (let row = from; row < to; row++) {
        if (!isNull(row)) {
          throw nestedCell(name, first + row - from, vector.get(row));
        }
      }
      return { kind: 'values', cells: eachCell(from, to, () => null) };
  }
}

function eachCell(from: number, to: number, cell: (row: number) => unknown): unknown[] {
  const cells = new Array<unknown>(to - from);
  for (let row = from; row < to; row++) {
    cells[row - from] = cell(row);
  }
  return cells;
}

function plainCell(name: string, cell: unknown, row: number, first: number): unknown {
  if (typeof cell === 'object' && cell !== null && !isDate(cell)) {
    throw nestedCell(name, first + row, cell);
  }
  return cell;
}

function nullTest({ nullBitmap, nullCount, offset }: ArrowData): (row: number) => boolean {
  if (nullCount === 0 || nullBitmap === undefined || nullBitmap.length === 0) {
    return () => false;
  }
  return (row) => ((nullBitmap[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1) === 0;
}

function booleans(data: ArrowData, { isNull, from, to }: ArrowCells): ColumnData {
  const bits = data.values as Uint8Array;
  const values = new Uint8Array(to - from);
  for (let row = from; row < to; row++) {
    const bit = data.offset + row;
    values[row - from] = isNull(row) ? MISSING_BOOLEAN : (bits[bit >> 3]! >> (bit & 7)) & 1;
  }
  return { type: 'boolean', values };
}

function typedFloats(
  type: 'number' | 'integer' | 'date',
  { isNull, from, to }: ArrowCells,
  read: (row: number) => number,
): Extract<SliceColumn, { kind: 'typed' }> {
  const values = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    values[row - from] = isNull(row) ? NaN : read(row);
  }
  return { kind: 'typed', data: { type, values } };
}

/** Whole numbers: as `integer` where all of them are safe, else as `bigint`. */
function wholes(values: ArrowData['values'], rows: ArrowCells): SliceColumn {
  const { isNull, from, to } = rows;
  if (!(values instanceof BigInt64Array || values instanceof BigUint64Array)) {
    return typedFloats('integer', rows, (row) => Number(values[row]));
  }
  const safe = safeWholes(values, rows);
  if (safe !== undefined) {
    return { kind: 'typed', data: { type: 'integer', values: safe } };
  }
  // A uint64 may be beyond the 64 signed bits of a `bigint` column, so the cells stay values here.
  return { kind: 'values', cells: eachCell(from, to, (row) => (isNull(row) ? null : values[row])) };
}

/** 64-bit numbers as doubles, by their halves (a BigInt for each would be slow); undefined if one is not safe. */
function safeWholes(
  values: BigInt64Array | BigUint64Array,
  { isNull, from, to }: ArrowCells,
): Float64Array | undefined {
  const halves = new Int32Array(values.buffer, values.byteOffset, values.length * 2);
  const signed = values instanceof BigInt64Array;
  const safe = new Float64Array(to - from);
  for (let row = from; row < to; row++) {
    const high = signed ? halves[row * 2 + 1]! : halves[row * 2 + 1]! >>> 0;
    const value = high * 2 ** 32 + (halves[row * 2]! >>> 0);
    if (isNull(row)) {
      safe[row - from] = NaN;
    } else if (Number.isSafeInteger(value)) {
      safe[row - from] = value;
    } else {
      return undefined;
    }
  }
  return safe;
}

/** Digits that a decimal of 256 bits may have. */
const MAX_DIGITS = 76;

function assertScale(name: string, { scale = 0 }: ArrowVector['type']): void {
  if (Math.abs(scale) > MAX_DIGITS) {
    throw invalidTable(
      `The Arrow table is damaged: column "${name}" has decimals with ${scale} digits behind the point.`,
    );
  }
}

function decimal(vector: ArrowVector, row: number): number | bigint | null {
  const words = vector.get(row) as Uint32Array | Int32Array | null;
  if (words === null) {
    return null;
  }
  let whole = 0n;
  for (let i = words.length - 1; i >= 0; i--) {
    whole = (whole << 32n) | BigInt(words[i]! >>> 0);
  }
  whole = BigInt.asIntN(words.length * 32, whole);
  const scale = vector.type.scale ?? 0;
  return scale <= 0 ? whole * 10n ** BigInt(-scale) : Number(`${whole}e-${scale}`);
}

function texts(data: ArrowData, { name, isNull, from, to }: ArrowCells): ColumnData {
  const source = data.valueOffsets;
  const start = Number(source[from] ?? 0);
  const end = Number(source[to] ?? start);
  if (end - start > 2 ** 31 - 1) {
    throw invalidTable('A column holds more than 2 GB of text in one record batch.');
  }
  const offsets = new Int32Array(to - from + 1);
  let missing: Uint8Array | undefined;
  let last = start;
  for (let row = from; row < to; row++) {
    const at = Number(source[row + 1] ?? last);
    if (at < last || at > data.values.length) {
      throw invalidTable(
        `The Arrow table is damaged: the text of column "${name}", row ${row + 1} of its batch, does not follow the text before it.`,
      );
    }
    last = at;
    offsets[row - from + 1] = at - start;
    if (isNull(row)) {
      missing ??= new Uint8Array(to - from);
      missing[row - from] = 1;
    }
  }
  const bytes = (data.values as Uint8Array).subarray(start, end);
  return missing === undefined ? { type: 'text', bytes, offsets } : { type: 'text', bytes, offsets, missing };
}

const strict = new TextDecoder('utf-8', { fatal: true });

/** Text that a writer did not mark as such. */
function bytesAsText(name: string, cell: unknown, row: number): string | null {
  if (cell === null || cell === undefined) {
    return null;
  }
  try {
    return strict.decode(cell as Uint8Array);
  } catch {
    throw invalidCell(name, row, 'the cell holds bytes that are no text. Leave the column out.');
  }
}

const dictionaries = new WeakMap<object, ArrayLike<unknown>>();

function dictionaryCells(data: ArrowData, { name, isNull, from, to }: ArrowCells): unknown[] {
  const { dictionary } = data;
  if (dictionary === undefined) {
    throw invalidTable(`Column "${name}" is dictionary-encoded, but its dictionary is missing.`);
  }
  const { length } = dictionary;
  const codes = data.values;
  const read = wordReader(name, dictionary);
  return eachCell(from, to, (row) => {
    const code = isNull(row) ? -1 : Number(codes[row]);
    if (code >= length || (code < 0 && !isNull(row))) {
      throw invalidTable(
        `The Arrow table is damaged: column "${name}" refers to value ${code} of a dictionary of ${length}.`,
      );
    }
    return code < 0 ? null : read(code);
  });
}

/** Words of a dictionary that are decoded at once; those of a longer one are decoded where they stand. */
const AT_ONCE = 16_384;

function wordReader(name: string, dictionary: ArrowVector): (code: number) => unknown {
  const { typeId } = dictionary.type;
  if (dictionary.length > AT_ONCE && (typeId === TYPE.utf8 || typeId === TYPE.largeUtf8)) {
    return (code) => dictionary.get(code);
  }
  let words = dictionaries.get(dictionary);
  if (words === undefined) {
    words = plainCells(arrowColumn(dictionary, { name, from: 0, to: dictionary.length, first: 0 }));
    dictionaries.set(dictionary, words);
  }
  const known = words;
  return (code) => known[code];
}

/** The parts of Apache Arrow's classes that are read here. Any version of the library gives them. */
interface ArrowType {
  typeId: number;
  bitWidth?: number;
  byteWidth?: number;
  precision?: number;
  scale?: number;
  unit?: number;
}

interface ArrowData {
  type: ArrowType;
  offset: number;
  length: number;
  nullCount: number;
  nullBitmap?: Uint8Array;
  values: ArrayLike<number> | BigInt64Array | BigUint64Array | Uint8Array;
  valueOffsets: Int32Array | BigInt64Array;
  dictionary?: ArrowVector;
  /** Of all buffers, those of its children too. */
  byteLength?: number;
}

export interface ArrowVector {
  type: ArrowType;
  length: number;
  data: readonly ArrowData[];
  get(index: number): unknown;
}

/** Numbers of Arrow's type enumeration (Schema.fbs). */
export const TYPE = {
  dictionary: -1,
  null: 1,
  int: 2,
  float: 3,
  binary: 4,
  utf8: 5,
  bool: 6,
  decimal: 7,
  date: 8,
  time: 9,
  timestamp: 10,
  fixedSizeBinary: 15,
  duration: 18,
  largeBinary: 19,
  largeUtf8: 20,
  binaryView: 23,
  utf8View: 24,
};

const DAY = 86_400_000;
/** Milliseconds per unit: seconds, milliseconds, microseconds, nanoseconds. */
const UNIT_MS = [1000, 1, 1e-3, 1e-6];
/** The last moment that a Date can hold; the first one is as far before 1970. */
const LAST_MOMENT = 8.64e15;

/**
 * Reads a date as whole milliseconds (what is finer is dropped, as of a date in text), a time of day or duration as
 * milliseconds with their fraction. A moment that no Date can hold, such as the infinity of some databases, is missing.
 */
function timeReader(data: ArrowData): (row: number) => number {
  const read = unitReader(data);
  const { typeId } = data.type;
  if (typeId !== TYPE.date && typeId !== TYPE.timestamp) {
    return read;
  }
  return (row) => {
    const value = read(row);
    return Math.abs(value) <= LAST_MOMENT ? value : NaN;
  };
}

function unitReader({ type, values }: ArrowData): (row: number) => number {
  const isDate = type.typeId === TYPE.date;
  const perUnit = isDate ? [DAY, 1][type.unit ?? 0]! : UNIT_MS[type.unit ?? 1]!;
  const whole = isDate || type.typeId === TYPE.timestamp;
  if (values instanceof BigInt64Array) {
    const divisor = BigInt(Math.round(1 / Math.min(1, perUnit)));
    return whole && perUnit < 1
      ? (row) => Number(floorDivide(values[row]!, divisor))
      : (row) => Number(values[row]!) * perUnit;
  }
  const numbers = values as Int32Array;
  if (!isPairs(type)) {
    return (row) => numbers[row]! * perUnit;
  }
  return (row) => {
    const value = (numbers[row * 2 + 1]! * 2 ** 32 + (numbers[row * 2]! >>> 0)) * perUnit;
    return whole ? Math.floor(value) : value;
  };
}

/** Times of 64 bits that come as two halves each, as older versions of the library give them. */
function isPairs({ typeId, bitWidth, unit }: ArrowType): boolean {
  return bitWidth === 64 || typeId === TYPE.timestamp || (typeId === TYPE.date && unit === 1);
}

/** BigInt's own division rounds towards zero, which before 1970 is the wrong way. */
function floorDivide(value: bigint, divisor: bigint): bigint {
  return (value < 0n ? value - divisor + 1n : value) / divisor;
}

/** Of a text or bytes of any length: its length and its first bytes, or where it is. */
const VIEW_BYTES = 16;

/**
 * Refuses buffers that are shorter than the rows that they are said to have: what is read beyond their end would be
 * missing values, or zeros, without a word.
 */
function assertHeld(data: ArrowData, { name, isNull, from, to }: ArrowCells): void {
  const { nullBitmap, nullCount, offset, values, valueOffsets, type } = data;
  if (nullCount !== 0 && nullBitmap !== undefined && nullBitmap.length > 0) {
    if (nullBitmap.length * 8 < offset + to) {
      throw damaged(name);
    }
  }
  const held = rowsHeld(type, values, valueOffsets, offset);
  for (let row = Math.max(from, held); row < to; row++) {
    // Some writers leave out the values of a column that has none.
    if (!isNull(row)) {
      throw damaged(name);
    }
  }
}

/** Rows whose values are in the buffers. */
function rowsHeld(
  { typeId, bitWidth = 128, byteWidth = 1, unit }: ArrowType,
  values: ArrowData['values'],
  offsets: ArrowData['valueOffsets'],
  offset: number,
): number {
  const { length } = values ?? '';
  switch (typeId) {
    case TYPE.bool:
      return length * 8 - offset;
    case TYPE.int:
    case TYPE.float:
    case TYPE.dictionary:
      return length;
    case TYPE.decimal:
      return Math.floor(length / (bitWidth / 32));
    case TYPE.fixedSizeBinary:
      return Math.floor(length / byteWidth);
    case TYPE.date:
    case TYPE.timestamp:
    case TYPE.time:
    case TYPE.duration:
      return values instanceof Int32Array && isPairs({ typeId, bitWidth, unit })
        ? Math.floor(length / 2)
        : length;
    case TYPE.utf8View:
    case TYPE.binaryView:
      return Math.floor(length / VIEW_BYTES);
    case TYPE.utf8:
    case TYPE.largeUtf8:
    case TYPE.binary:
    case TYPE.largeBinary:
      return (offsets?.length ?? 0) - 1;
    default:
      return Infinity;
  }
}

function damaged(name: string): Error {
  return invalidTable(`The Arrow table is damaged: column "${name}" has fewer values than rows.`);
}
