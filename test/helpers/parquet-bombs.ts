/** Parquet files of a few KB that hold gigabytes: what a decompression bomb looks like in this format. */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { type ThriftFields, thriftStruct } from '../doors/table';

/** Numbers of the format that are used here (parquet.thrift). */
const GZIP = 2;
const BROTLI = 4;
const PLAIN = 0;
const RLE = 3;
const RLE_DICTIONARY = 8;
const INT64 = 2;
const BYTE_ARRAY = 6;
const DICTIONARY_PAGE = 2;
/** Types of Thrift's compact protocol. */
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

interface Page {
  dictionary?: boolean;
  values: number;
  /** Bytes that the page says it has once it is decompressed; those of `content` unless told. */
  claims?: number;
  content: Buffer;
}

interface BombColumn {
  type: number;
  text?: boolean;
  pages: Page[];
}

export interface BombOptions {
  codec?: 'gzip' | 'brotli';
  /** Rows that the footer tells of; those of the pages unless told. */
  rows?: number;
  /** Bytes that the footer says each column has once it is decompressed; the truth unless told. */
  uncompressed?: number;
}

/** A file of required columns in one row group, with the pages as they are given. */
export function parquetFile(columns: readonly BombColumn[], options: BombOptions = {}): Buffer {
  const { codec = 'brotli' } = options;
  const parts: Buffer[] = [Buffer.from('PAR1')];
  let offset = 4;
  const rows =
    options.rows ??
    columns[0]!.pages.reduce((sum, { dictionary, values }) => sum + (dictionary === true ? 0 : values), 0);
  const chunks = columns.map(({ pages }) => {
    const chunk = { start: offset, data: offset, compressed: 0, uncompressed: 0, dictionary: false };
    for (const { dictionary = false, values, content, claims = content.length } of pages) {
      const packed = codec === 'gzip' ? gzipSync(content, { level: 9 }) : brotli(content);
      const own: ThriftFields = [
        [1, I32, values],
        [2, I32, dictionary || !chunk.dictionary ? PLAIN : RLE_DICTIONARY],
      ];
      const levels: ThriftFields = [
        [3, I32, RLE],
        [4, I32, RLE],
      ];
      const header = thriftStruct([
        [1, I32, dictionary ? DICTIONARY_PAGE : 0],
        [2, I32, claims],
        [3, I32, packed.length],
        [dictionary ? 7 : 5, STRUCT, dictionary ? own : [...own, ...levels]],
      ]);
      parts.push(header, packed);
      const bytes = header.length + packed.length;
      if (dictionary) {
        chunk.dictionary = true;
        chunk.data = offset + bytes;
      }
      offset += bytes;
      chunk.compressed += bytes;
      chunk.uncompressed += header.length + claims;
    }
    return chunk;
  });
  const schema = columns.map(({ type, text }, index): ThriftFields => [
    [1, I32, type],
    [3, I32, 0],
    [4, BINARY, `c${index + 1}`],
    ...(text === true ? ([[6, I32, 0]] as const) : []),
  ]);
  const chunkFields = columns.map(({ type }, index): ThriftFields => {
    const chunk = chunks[index]!;
    const metadata: ThriftFields = [
      [1, I32, type],
      [2, LIST, [I32, [PLAIN, RLE, RLE_DICTIONARY]]],
      [3, LIST, [BINARY, [`c${index + 1}`]]],
      [4, I32, codec === 'gzip' ? GZIP : BROTLI],
      [5, I64, rows],
      [6, I64, options.uncompressed ?? chunk.uncompressed],
      [7, I64, chunk.compressed],
      [9, I64, chunk.data],
      ...(chunk.dictionary ? ([[11, I64, chunk.start]] as const) : []),
    ];
    return [
      [2, I64, 0],
      [3, STRUCT, metadata],
    ];
  });
  const uncompressed = options.uncompressed ?? chunks.reduce((sum, chunk) => sum + chunk.uncompressed, 0);
  const root: ThriftFields = [
    [4, BINARY, 'schema'],
    [5, I32, columns.length],
  ];
  const group: ThriftFields = [
    [1, LIST, [STRUCT, chunkFields]],
    [2, I64, uncompressed],
    [3, I64, rows],
  ];
  const footer = thriftStruct([
    [1, I32, 1],
    [2, LIST, [STRUCT, [root, ...schema]]],
    [3, I64, rows],
    [4, LIST, [STRUCT, [group]]],
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, Buffer.from('PAR1')]);
}

function brotli(content: Buffer): Buffer {
  return brotliCompressSync(content, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  });
}

/** Text as a plain page has it: its length in four bytes, then its bytes. */
function plainTexts(texts: readonly Buffer[]): Buffer {
  return Buffer.concat(
    texts.flatMap((text) => {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(text.length);
      return [length, text];
    }),
  );
}

/** All rows have the first value of the dictionary: a bit width and one run. */
function allFirst(rows: number): Buffer {
  const run: number[] = [1];
  let rest = rows * 2;
  while (rest >= 128) {
    run.push((rest % 128) | 128);
    rest = Math.floor(rest / 128);
  }
  run.push(rest, 0);
  return Buffer.from(run);
}

const A = 'a'.charCodeAt(0);
const MIB = 2 ** 20;

/** One page of zeros. */
export const zeros = (bytes: number, options?: BombOptions & { claims?: number }): Buffer =>
  parquetFile(
    [{ type: INT64, pages: [{ values: bytes / 8, content: Buffer.alloc(bytes), claims: options?.claims }] }],
    options,
  );

/** So many rows of one and the same number. */
export const equalRows = (rows: number, options?: BombOptions): Buffer =>
  parquetFile(
    [
      {
        type: INT64,
        pages: [
          { dictionary: true, values: 1, content: Buffer.alloc(8) },
          { values: rows, content: allFirst(rows) },
        ],
      },
    ],
    options,
  );

/** So many rows of one and the same long text, kept once. */
export const equalTexts = (rows: number, bytes: number, options?: BombOptions): Buffer =>
  parquetFile(
    [
      {
        type: BYTE_ARRAY,
        text: true,
        pages: [
          { dictionary: true, values: 1, content: plainTexts([Buffer.alloc(bytes, A)]) },
          { values: rows, content: allFirst(rows) },
        ],
      },
    ],
    options,
  );

/** So many long texts, a page each. */
export const longTexts = (rows: number, mib: number, options?: BombOptions): Buffer =>
  parquetFile(
    [
      {
        type: BYTE_ARRAY,
        text: true,
        pages: Array.from({ length: rows }, () => ({
          values: 1,
          content: plainTexts([Buffer.alloc(mib * MIB, A)]),
        })),
      },
    ],
    options,
  );
