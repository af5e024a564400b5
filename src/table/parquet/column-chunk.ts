import { gzipSync } from 'node:zlib';

import type { ColumnType } from '../cells/types';
import { type ColumnData, countRows, isMissing } from '../columns/column-batch';
import { bytesIn, type Dictionary, makeDictionary, makeView, packed, putText, run } from './dictionary';
import {
  CODEC,
  DATA_PAGE_HEADER,
  DICTIONARY_PAGE_HEADER,
  ENCODING,
  PAGE_HEADER,
  PAGE_TYPE,
  THRIFT,
  type ThriftFields,
  thriftStruct,
} from './thrift';

/** A column of a row group as it stands in the file: a dictionary page, where there is one, and one data page. */
export interface ColumnChunk {
  /** The pages, each after its header. */
  parts: Uint8Array[];
  codec: number;
  encodings: number[];
  /** Bytes of the pages with their headers, in the file and before compression. */
  bytes: number;
  uncompressed: number;
  /** Where the data page begins within the chunk: after the dictionary. */
  dataPage: number;
  statistics: ChunkStatistics;
}

/**
 * By what a reader may skip a row group. Numbers have bounds, 8 bytes each as PLAIN has them. Dates have none: parquetjs-lite
 * cannot open a file that tells them.
 */
interface ChunkStatistics {
  missing: number;
  least?: Uint8Array;
  greatest?: Uint8Array;
}

/**
 * Encodes the cells of one column, from one batch or several. Every column is optional: levels say which cells are there,
 * the values of those follow. Texts that repeat are numbered by a dictionary. Numbers are not: parquetjs-lite would
 * read them as texts.
 *
 * @param compress pages are compressed (gzip, which every reader of Parquet knows) where that makes them smaller
 */
export function columnChunk(type: ColumnType, parts: readonly ColumnData[], compress: boolean): ColumnChunk {
  let rows = 0;
  let there = 0;
  for (const part of parts) {
    const own = countRows(part);
    rows += own;
    there += thereIn(part, own);
  }
  const { values, dictionary, bounds } = encoded(type, parts, there);
  const data = [definitionLevels(parts, rows, there), values];
  const isCompressed =
    compress && isWorthCompressing(dictionary === undefined ? [data] : [[dictionary.values], data]);
  const encodings = [ENCODING.plain, ENCODING.rle];
  const pages: Page[] = [];
  if (dictionary !== undefined) {
    encodings.push(ENCODING.plainDictionary);
    pages.push(
      page(PAGE_TYPE.dictionaryPage, [dictionary.values], isCompressed, [
        PAGE_HEADER.dictionaryPageHeader,
        THRIFT.struct,
        [
          [DICTIONARY_PAGE_HEADER.numValues, THRIFT.i32, dictionary.length],
          [DICTIONARY_PAGE_HEADER.encoding, THRIFT.i32, ENCODING.plainDictionary],
        ],
      ]),
    );
  }
  pages.push(
    page(PAGE_TYPE.dataPage, data, isCompressed, [
      PAGE_HEADER.dataPageHeader,
      THRIFT.struct,
      [
        [DATA_PAGE_HEADER.numValues, THRIFT.i32, rows],
        [
          DATA_PAGE_HEADER.encoding,
          THRIFT.i32,
          dictionary === undefined ? ENCODING.plain : ENCODING.plainDictionary,
        ],
        [DATA_PAGE_HEADER.definitionLevelEncoding, THRIFT.i32, ENCODING.rle],
        [DATA_PAGE_HEADER.repetitionLevelEncoding, THRIFT.i32, ENCODING.rle],
      ],
    ]),
  );
  const chunk: ColumnChunk = {
    parts: [],
    codec: isCompressed ? CODEC.gzip : CODEC.uncompressed,
    encodings,
    bytes: 0,
    uncompressed: 0,
    dataPage: 0,
    statistics: { missing: rows - there, ...bounds },
  };
  for (const { header, body, plain } of pages) {
    chunk.dataPage = chunk.bytes;
    chunk.parts.push(header, ...body);
    chunk.bytes += header.length + countBytes(body);
    chunk.uncompressed += header.length + plain;
  }
  return chunk;
}

/** Cells of a column that are there. */
function thereIn(column: ColumnData, rows: number): number {
  if ((column.type === 'text' || column.type === 'bigint') && column.missing === undefined) {
    return rows;
  }
  let there = 0;
  for (let row = 0; row < rows; row++) {
    there += isMissing(column, row) ? 0 : 1;
  }
  return there;
}

/** A level per row, 1 where the cell is there, after its length in bytes. */
function definitionLevels(parts: readonly ColumnData[], rows: number, there: number): Uint8Array {
  const body =
    there === 0 || there === rows ? run(there === 0 ? 0 : 1, rows) : packed(readLevels(parts, rows), 1);
  const levels = Buffer.allocUnsafe(4 + body.length);
  levels.writeUInt32LE(body.length);
  levels.set(body, 4);
  return levels;
}

function readLevels(parts: readonly ColumnData[], rows: number): Uint8Array {
  const levels = new Uint8Array(rows);
  let at = 0;
  for (const part of parts) {
    for (let row = 0; row < countRows(part); row++) {
      levels[at++] = isMissing(part, row) ? 0 : 1;
    }
  }
  return levels;
}

interface Encoded {
  /** Those that are there, one after the other. */
  values: Uint8Array;
  dictionary?: Dictionary;
  bounds?: Omit<ChunkStatistics, 'missing'>;
}

/** @param there cells that are not missing */
function encoded(type: ColumnType, parts: readonly ColumnData[], there: number): Encoded {
  switch (type) {
    case 'boolean':
      return { values: booleans(parts as readonly Of<'boolean'>[], there) };
    case 'text': {
      const dictionary = makeDictionary(parts as readonly Of<'text'>[], there);
      return { values: dictionary?.indices ?? texts(parts as readonly Of<'text'>[]), dictionary };
    }
    case 'bigint':
      return bigints(parts as readonly Of<'bigint'>[], there);
    case 'date':
      return { values: wholeNumbers(parts as readonly Floats[], there) };
    case 'integer': {
      const numbers = parts as readonly Floats[];
      return { values: wholeNumbers(numbers, there), bounds: findBounds(numbers, there, wholeNumbers) };
    }
    case 'number': {
      const numbers = parts as readonly Floats[];
      return { values: doubles(numbers, there), bounds: findBounds(numbers, there, doubles) };
    }
  }
}

type Of<T extends ColumnData['type']> = ColumnData & { type: T };

interface Floats {
  values: Float64Array;
}

/**
 * Eight bytes each, as this machine and Parquet have them: the lowest first. NaN is missing. One part without any is
 * taken as it is.
 */
function doubles(parts: readonly Floats[], there: number): Uint8Array {
  if (parts.length === 1 && parts[0]!.values.length === there) {
    return bytesIn(parts[0]!.values);
  }
  const result = new Float64Array(there);
  let at = 0;
  for (const { values } of parts) {
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (!Number.isNaN(value)) {
        result[at++] = value;
      }
    }
  }
  return bytesIn(result);
}

/** Doubles as 64-bit whole numbers, by their halves: a BigInt for each would be ten times slower. */
function wholeNumbers(parts: readonly Floats[], there: number): Uint8Array {
  const halves = new Int32Array(2 * there);
  let at = 0;
  for (const { values } of parts) {
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      const low = value | 0;
      if (low === value) {
        halves[at++] = low;
        halves[at++] = low >> 31;
      } else if (!Number.isNaN(value)) {
        const whole = Math.floor(value);
        const high = Math.floor(whole / 2 ** 32);
        halves[at++] = whole - high * 2 ** 32;
        halves[at++] = high;
      }
    }
  }
  return bytesIn(halves);
}

function findBounds(
  parts: readonly Floats[],
  there: number,
  stored: (bound: readonly Floats[], there: number) => Uint8Array,
): Encoded['bounds'] {
  let least = Infinity;
  let greatest = -Infinity;
  for (const { values } of parts) {
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (value < least) {
        least = value;
      }
      if (value > greatest) {
        greatest = value;
      }
    }
  }
  // A zero stands for both of its signs (parquet.thrift, ColumnOrder).
  return there === 0
    ? undefined
    : {
        least: stored([{ values: Float64Array.of(least === 0 ? -0 : least) }], 1),
        greatest: stored([{ values: Float64Array.of(greatest === 0 ? 0 : greatest) }], 1),
      };
}

function bigints(parts: readonly Of<'bigint'>[], there: number): Encoded {
  const result = new BigInt64Array(there);
  let at = 0;
  for (const { values, missing } of parts) {
    for (let row = 0; row < values.length; row++) {
      if (missing?.[row] !== 1) {
        result[at++] = values[row]!;
      }
    }
  }
  const bound = (isBetter: (value: bigint, than: bigint) => boolean): Uint8Array =>
    bytesIn(BigInt64Array.of(result.reduce((best, value) => (isBetter(value, best) ? value : best))));
  const bounds =
    there === 0 ? undefined : { least: bound((a, b) => a < b), greatest: bound((a, b) => a > b) };
  return { values: bytesIn(result), bounds };
}

/** A bit each. */
function booleans(parts: readonly Of<'boolean'>[], there: number): Uint8Array {
  const result = new Uint8Array((there + 7) >> 3);
  let at = 0;
  for (const { values } of parts) {
    for (const value of values) {
      if (value <= 1) {
        result[at >> 3]! |= value << (at & 7);
        at++;
      }
    }
  }
  return result;
}

/** Each after its length in four bytes. */
function texts(parts: readonly Of<'text'>[]): Uint8Array {
  let size = 0;
  for (const { offsets, missing } of parts) {
    for (let row = 0; row + 1 < offsets.length; row++) {
      size += missing !== undefined && missing[row] === 1 ? 0 : 4 + offsets[row + 1]! - offsets[row]!;
    }
  }
  const result = new Uint8Array(size);
  const to = { view: makeView(result), size: 0 };
  for (const { bytes, offsets, missing } of parts) {
    const from = makeView(bytes);
    for (let row = 0; row + 1 < offsets.length; row++) {
      if (missing === undefined || missing[row] !== 1) {
        putText(from, offsets[row]!, offsets[row + 1]!, to);
      }
    }
  }
  return result;
}

/** The first bytes of a page speak for all of it. */
const TRIAL_BYTES = 8 * 1024;
const WORTH_COMPRESSING = 0.9;

function isWorthCompressing(pages: readonly (readonly Uint8Array[])[]): boolean {
  const trial = Buffer.concat(
    pages.map((parts) => Buffer.concat(parts, Math.min(TRIAL_BYTES, countBytes(parts)))),
  );
  return gzipped(trial).length < WORTH_COMPRESSING * trial.length;
}

/** The quickest level: higher ones save little on columns, and take three times as long. */
function gzipped(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 1 });
}

interface Page {
  header: Uint8Array;
  body: readonly Uint8Array[];
  /** Bytes of the body before compression. */
  plain: number;
}

/** @param own the header of its kind */
function page(
  type: number,
  plain: readonly Uint8Array[],
  compress: boolean,
  own: ThriftFields[number],
): Page {
  const body = compress ? [gzipped(Buffer.concat(plain))] : plain;
  const size = countBytes(plain);
  const header = thriftStruct([
    [PAGE_HEADER.type, THRIFT.i32, type],
    [PAGE_HEADER.uncompressedPageSize, THRIFT.i32, size],
    [PAGE_HEADER.compressedPageSize, THRIFT.i32, countBytes(body)],
    own,
  ]);
  return { header, body, plain: size };
}

function countBytes(parts: readonly Uint8Array[]): number {
  let size = 0;
  for (const { length } of parts) {
    size += length;
  }
  return size;
}
