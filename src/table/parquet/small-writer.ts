import type { Column } from '../cells/types';
import { bits, missingTest, wholeNumbers } from '../columns/bitmap';
import { type ColumnBatch, type ColumnData, rowsOf } from '../columns/column-batch';
import { ThriftWriter } from './thrift';

/** Rows, cells and bytes that are written here at most: a millisecond's work, and too little to be compressed. */
const MOST_ROWS = 64;
const MOST_CELLS = 2_000;
const MOST_BYTES = 16 * 1024;

/** Whether a batch is so small that handing it to the encoder thread would take longer than writing it. */
export function isSmall({ rows, columns }: ColumnBatch, bytes: number): boolean {
  return rows > 0 && rows <= MOST_ROWS && rows * columns.length <= MOST_CELLS && bytes <= MOST_BYTES;
}

const MAGIC = Buffer.from('PAR1');
const OPTIONAL = 1;
const DATA_PAGE = 0;
const PLAIN = 0;
const RLE = 3;

/** Parquet's physical types. */
const BOOLEAN = 0;
const INT64 = 2;
const DOUBLE = 5;
const BYTE_ARRAY = 6;

const PHYSICAL: Record<Column['type'], number> = {
  number: DOUBLE,
  integer: INT64,
  bigint: INT64,
  boolean: BOOLEAN,
  text: BYTE_ARRAY,
  date: INT64,
};

interface Chunk {
  offset: number;
  bytes: number;
}

/**
 * A batch as a Parquet file of one row group, with a plain, uncompressed page per column: the columns' types are
 * those of the encoder thread's files, and so is what a reader gets. Format: apache/parquet-format.
 */
export function smallParquet(columns: readonly Column[], batch: ColumnBatch): Uint8Array<ArrayBuffer> {
  const thrift = new ThriftWriter();
  const parts: Buffer[] = [MAGIC];
  let offset = MAGIC.length;
  const chunks = columns.map(({ type }, index): Chunk => {
    const page = pageOf(type, batch.columns[index]!);
    const size = page.reduce((sum, part) => sum + part.length, 0);
    const header = pageHeader(thrift, batch.rows, size);
    parts.push(header, ...page);
    const chunk = { offset, bytes: header.length + size };
    offset += chunk.bytes;
    return chunk;
  });
  const footer = fileMetadata(thrift, columns, batch.rows, chunks);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([...parts, footer, length, MAGIC]);
}

/** Definition levels (is the cell there?) and the values of those that are. */
function pageOf(type: Column['type'], column: ColumnData): Buffer[] {
  const rows = rowsOf(column);
  const isMissing = missingTest(column);
  const there: number[] = [];
  for (let row = 0; row < rows; row++) {
    if (isMissing?.(row) !== true) {
      there.push(row);
    }
  }
  return [levels(rows, there.length, isMissing), valuesOf(type, column, there)];
}

/** Levels in the hybrid of run lengths and packed bits, after their length in bytes. */
function levels(rows: number, there: number, isMissing: ((row: number) => boolean) | undefined): Buffer {
  const head = Buffer.alloc(4);
  if (there === rows || isMissing === undefined) {
    const run = [...varint(rows << 1), 1];
    head.writeUInt32LE(run.length);
    return Buffer.concat([head, Buffer.from(run)]);
  }
  const groups = (rows + 7) >> 3;
  const packed = Buffer.concat([
    Buffer.from(varint((groups << 1) | 1)),
    bits(rows, (row) => !isMissing(row)),
  ]);
  head.writeUInt32LE(packed.length);
  return Buffer.concat([head, packed]);
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}

function valuesOf(type: Column['type'], column: ColumnData, there: readonly number[]): Buffer {
  if (column.type === 'text') {
    return texts(column, there);
  }
  if (column.type === 'boolean') {
    return Buffer.from(bits(there.length, (index) => column.values[there[index]!] === 1));
  }
  if (column.type === 'bigint' || type === 'number') {
    return picked(column.values, there);
  }
  return picked(wholeNumbers(column.values), there);
}

/** Eight bytes each, as this machine and Parquet have them: the lowest first. */
function picked(values: Float64Array | BigInt64Array, there: readonly number[]): Buffer {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength);
  if (there.length === values.length) {
    return bytes;
  }
  return Buffer.concat(there.map((row) => bytes.subarray(8 * row, 8 * row + 8)));
}

function texts(column: ColumnData & { type: 'text' }, there: readonly number[]): Buffer {
  const { bytes, offsets } = column;
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const size = there.reduce((sum, row) => sum + 4 + offsets[row + 1]! - offsets[row]!, 0);
  const result = Buffer.allocUnsafe(size);
  let at = 0;
  for (const row of there) {
    at = result.writeUInt32LE(offsets[row + 1]! - offsets[row]!, at);
    at += source.copy(result, at, offsets[row], offsets[row + 1]);
  }
  return result;
}

function pageHeader(thrift: ThriftWriter, rows: number, size: number): Buffer {
  thrift.i32(1, DATA_PAGE);
  thrift.i32(2, size);
  thrift.i32(3, size);
  thrift.struct(5, () => {
    thrift.i32(1, rows);
    thrift.i32(2, PLAIN);
    thrift.i32(3, RLE);
    thrift.i32(4, RLE);
  });
  return thrift.finish();
}

function fileMetadata(
  thrift: ThriftWriter,
  columns: readonly Column[],
  rows: number,
  chunks: readonly Chunk[],
): Buffer {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.bytes, 0);
  thrift.i32(1, 1);
  thrift.structs(2, [undefined, ...columns], (column) => {
    if (column === undefined) {
      thrift.text(4, 'schema');
      thrift.i32(5, columns.length);
    } else {
      schemaElement(thrift, column);
    }
  });
  thrift.i64(3, rows);
  thrift.structs(4, [chunks], () => {
    thrift.structs(1, columns, ({ name, type }, index) => {
      const chunk = chunks[index]!;
      thrift.i64(2, 0);
      thrift.struct(3, () => {
        thrift.i32(1, PHYSICAL[type]);
        thrift.i32s(2, [PLAIN, RLE]);
        thrift.texts(3, [name]);
        thrift.i32(4, 0);
        thrift.i64(5, rows);
        thrift.i64(6, chunk.bytes);
        thrift.i64(7, chunk.bytes);
        thrift.i64(9, chunk.offset);
      });
    });
    thrift.i64(2, bytes);
    thrift.i64(3, rows);
  });
  thrift.text(6, 'node-red-contrib-tabular-prediction');
  return thrift.finish();
}

/** Converted types 0 (UTF8) and 9 (milliseconds) are for older readers, the logical types for newer ones. */
function schemaElement(thrift: ThriftWriter, { name, type }: Column): void {
  thrift.i32(1, PHYSICAL[type]);
  thrift.i32(3, OPTIONAL);
  thrift.text(4, name);
  if (type === 'text') {
    thrift.i32(6, 0);
    thrift.struct(10, () => thrift.struct(1, () => undefined));
  } else if (type === 'date') {
    thrift.i32(6, 9);
    thrift.struct(10, () =>
      thrift.struct(8, () => {
        thrift.boolean(1, true);
        thrift.struct(2, () => thrift.struct(1, () => undefined));
      }),
    );
  }
}
