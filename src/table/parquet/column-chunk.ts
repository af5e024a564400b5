import { gzipSync } from 'node:zlib';

import type { ColumnType } from '../cells/types';
import { type ColumnData, MISSING_BOOLEAN, rowsOf } from '../columns/column-batch';
import { type Dictionary, dictionaryOf, packed, run } from './dictionary';
import { CODEC, DATA_PAGE_HEADER, DICTIONARY_PAGE_HEADER, ENCODING, PAGE_HEADER, PAGE_TYPE } from './format';
import { ThriftWriter } from './thrift';

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
export interface ChunkStatistics {
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
  const rows = parts.reduce((sum, part) => sum + rowsOf(part), 0);
  const { levels, missing } = definitionLevels(parts, rows);
  const { values, dictionary, bounds } = encoded(type, parts, rows - missing);
  const data = Buffer.concat([levels, values]);
  const isCompressed = compress && isWorthCompressing([...(dictionary ? [dictionary.values] : []), data]);
  const pages = [
    ...(dictionary === undefined ? [] : [dictionaryPage(dictionary, isCompressed)]),
    dataPage(rows, data, dictionary === undefined ? ENCODING.plain : ENCODING.plainDictionary, isCompressed),
  ];
  const sum = (size: (page: Page) => number): number => pages.reduce((total, page) => total + size(page), 0);
  return {
    parts: pages.flatMap(({ header, body }) => [header, body]),
    codec: isCompressed ? CODEC.gzip : CODEC.uncompressed,
    encodings: [
      ENCODING.plain,
      ENCODING.rle,
      ...(dictionary === undefined ? [] : [ENCODING.plainDictionary]),
    ],
    bytes: sum(({ header, body }) => header.length + body.length),
    uncompressed: sum(({ header, plain }) => header.length + plain),
    dataPage: pages.length === 1 ? 0 : pages[0]!.header.length + pages[0]!.body.length,
    statistics: { missing, ...bounds },
  };
}

/** A level per row, 1 where the cell is there, after its length in bytes. */
function definitionLevels(parts: readonly ColumnData[], rows: number): { levels: Buffer; missing: number } {
  const level = new Uint8Array(rows);
  let row = 0;
  let there = 0;
  for (const part of parts) {
    there += tellThere(part, level.subarray(row, (row += rowsOf(part))));
  }
  const isOfOneKind = there === 0 || there === rows;
  const body = isOfOneKind ? run(there === 0 ? 0 : 1, rows) : packed(level, 1);
  const levels = Buffer.allocUnsafe(4 + body.length);
  levels.writeUInt32LE(body.length);
  levels.set(body, 4);
  return { levels, missing: rows - there };
}

/** Puts 1 for each row whose cell is there, and answers how many are. */
function tellThere(column: ColumnData, level: Uint8Array): number {
  let there = 0;
  switch (column.type) {
    case 'text':
    case 'bigint': {
      const { missing } = column;
      for (let row = 0; row < level.length; row++) {
        there += level[row] = missing?.[row] === 1 ? 0 : 1;
      }
      return there;
    }
    case 'boolean':
      for (let row = 0; row < level.length; row++) {
        there += level[row] = column.values[row] === MISSING_BOOLEAN ? 0 : 1;
      }
      return there;
    default:
      for (let row = 0; row < level.length; row++) {
        there += level[row] = Number.isNaN(column.values[row]) ? 0 : 1;
      }
      return there;
  }
}

interface Encoded {
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
      const dictionary = dictionaryOf(parts as readonly Of<'text'>[], there);
      return { values: dictionary?.indices ?? texts(parts as readonly Of<'text'>[]), dictionary };
    }
    case 'bigint':
      return bigints(parts as readonly Of<'bigint'>[], there);
    default:
      return numbers(type, parts, there);
  }
}

type Of<T extends ColumnData['type']> = ColumnData & { type: T };

/** Eight bytes each, as this machine and Parquet have them: the lowest first. NaN is missing. */
function numbers(type: ColumnType, parts: readonly ColumnData[], there: number): Encoded {
  const there64 = new Float64Array(there);
  let at = 0;
  let least = Infinity;
  let greatest = -Infinity;
  for (const { values } of parts as readonly { values: Float64Array }[]) {
    for (let row = 0; row < values.length; row++) {
      const value = values[row]!;
      if (!Number.isNaN(value)) {
        there64[at++] = value;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
      }
    }
  }
  const stored = (list: Float64Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
    bytesOf(type === 'number' ? list : wholeNumbers(list));
  // A zero stands for both of its signs (parquet.thrift, ColumnOrder).
  const bounds = {
    least: stored(Float64Array.of(least === 0 ? -0 : least)),
    greatest: stored(Float64Array.of(greatest === 0 ? 0 : greatest)),
  };
  return { values: stored(there64), bounds: there === 0 || type === 'date' ? undefined : bounds };
}

/** Doubles as 64-bit whole numbers, by their halves: a BigInt for each would be ten times slower. */
function wholeNumbers(values: Float64Array): BigInt64Array<ArrayBuffer> {
  const result = new BigInt64Array(values.length);
  const halves = new Int32Array(result.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = Math.floor(values[i]!);
    if (!Number.isNaN(value)) {
      const high = Math.floor(value / 2 ** 32);
      halves[i * 2] = value - high * 2 ** 32;
      halves[i * 2 + 1] = high;
    }
  }
  return result;
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
    bytesOf(BigInt64Array.of(result.reduce((best, value) => (isBetter(value, best) ? value : best))));
  const bounds =
    there === 0 ? undefined : { least: bound((a, b) => a < b), greatest: bound((a, b) => a > b) };
  return { values: bytesOf(result), bounds };
}

function bytesOf(values: Float64Array<ArrayBuffer> | BigInt64Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
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
      size += missing?.[row] === 1 ? 0 : 4 + offsets[row + 1]! - offsets[row]!;
    }
  }
  const result = Buffer.allocUnsafe(size);
  let at = 0;
  for (const { bytes, offsets, missing } of parts) {
    for (let row = 0; row + 1 < offsets.length; row++) {
      if (missing?.[row] !== 1) {
        const [start, end] = [offsets[row]!, offsets[row + 1]!];
        at = result.writeUInt32LE(end - start, at);
        copy(bytes, start, end, result, at);
        at += end - start;
      }
    }
  }
  return result;
}

/** Of few bytes a loop is quicker than a call. */
const FEW_BYTES = 32;

function copy(from: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  if (end - start > FEW_BYTES) {
    to.set(from.subarray(start, end), at);
    return;
  }
  for (let i = start; i < end; i++) {
    to[at + i - start] = from[i]!;
  }
}

/** The first bytes of a page speak for all of it. */
const TRIAL_BYTES = 8 * 1024;
const WORTH_COMPRESSING = 0.9;

function isWorthCompressing(pages: readonly Uint8Array[]): boolean {
  const trial = Buffer.concat(pages.map((bytes) => bytes.subarray(0, TRIAL_BYTES)));
  return gzipped(trial).length < WORTH_COMPRESSING * trial.length;
}

/** The quickest level: higher ones save little on columns, and take three times as long. */
function gzipped(bytes: Uint8Array): Uint8Array {
  return gzipSync(bytes, { level: 1 });
}

interface Page {
  header: Uint8Array;
  body: Uint8Array;
  /** Bytes of the body before compression. */
  plain: number;
}

function dictionaryPage({ values, length }: Dictionary, compress: boolean): Page {
  return page(PAGE_TYPE.dictionaryPage, values, compress, (thrift) =>
    thrift.struct(PAGE_HEADER.dictionaryPageHeader, () => {
      thrift.i32(DICTIONARY_PAGE_HEADER.numValues, length);
      thrift.i32(DICTIONARY_PAGE_HEADER.encoding, ENCODING.plainDictionary);
    }),
  );
}

function dataPage(rows: number, data: Uint8Array, encoding: number, compress: boolean): Page {
  return page(PAGE_TYPE.dataPage, data, compress, (thrift) =>
    thrift.struct(PAGE_HEADER.dataPageHeader, () => {
      thrift.i32(DATA_PAGE_HEADER.numValues, rows);
      thrift.i32(DATA_PAGE_HEADER.encoding, encoding);
      thrift.i32(DATA_PAGE_HEADER.definitionLevelEncoding, ENCODING.rle);
      thrift.i32(DATA_PAGE_HEADER.repetitionLevelEncoding, ENCODING.rle);
    }),
  );
}

function page(
  type: number,
  plain: Uint8Array,
  compress: boolean,
  tellKind: (thrift: ThriftWriter) => void,
): Page {
  const body = compress ? gzipped(plain) : plain;
  const thrift = new ThriftWriter();
  thrift.i32(PAGE_HEADER.type, type);
  thrift.i32(PAGE_HEADER.uncompressedPageSize, plain.length);
  thrift.i32(PAGE_HEADER.compressedPageSize, body.length);
  tellKind(thrift);
  return { header: thrift.finish(), body, plain: plain.length };
}
