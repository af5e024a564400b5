import type { Column, ColumnType } from '../cells/types';
import { bits, missingTest, wholeNumbers } from '../columns/bitmap';
import { type ColumnBatch, type ColumnData, rowsOf } from '../columns/column-batch';
import {
  CODEC,
  COLUMN_CHUNK,
  COLUMN_METADATA,
  CONVERTED_TYPE,
  DATA_PAGE_HEADER,
  ENCODING,
  FILE_METADATA,
  LOGICAL_TYPE,
  PAGE_HEADER,
  PAGE_TYPE,
  PHYSICAL_TYPE,
  REPETITION,
  ROW_GROUP,
  SCHEMA_ELEMENT,
  TIME_UNIT,
  TIMESTAMP_TYPE,
} from './format';
import { ThriftWriter } from './thrift';

/** Rows, cells and bytes that are written here at most: a millisecond's work, and too little to be compressed. */
const MAX_ROWS = 64;
const MAX_CELLS = 2_000;
const MAX_BYTES = 16 * 1024;

/** Whether a batch is so small that handing it to the encoder thread would take longer than writing it. */
export function isSmall({ rows, columns }: ColumnBatch, bytes: number): boolean {
  return rows > 0 && rows <= MAX_ROWS && rows * columns.length <= MAX_CELLS && bytes <= MAX_BYTES;
}

const MAGIC = Buffer.from('PAR1');

const PHYSICAL: Record<ColumnType, number> = {
  number: PHYSICAL_TYPE.double,
  integer: PHYSICAL_TYPE.int64,
  bigint: PHYSICAL_TYPE.int64,
  boolean: PHYSICAL_TYPE.boolean,
  text: PHYSICAL_TYPE.byteArray,
  date: PHYSICAL_TYPE.int64,
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
function pageOf(type: ColumnType, column: ColumnData): Buffer[] {
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

function valuesOf(type: ColumnType, column: ColumnData, there: readonly number[]): Buffer {
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
  thrift.i32(PAGE_HEADER.type, PAGE_TYPE.dataPage);
  thrift.i32(PAGE_HEADER.uncompressedPageSize, size);
  thrift.i32(PAGE_HEADER.compressedPageSize, size);
  thrift.struct(PAGE_HEADER.dataPageHeader, () => {
    thrift.i32(DATA_PAGE_HEADER.numValues, rows);
    thrift.i32(DATA_PAGE_HEADER.encoding, ENCODING.plain);
    thrift.i32(DATA_PAGE_HEADER.definitionLevelEncoding, ENCODING.rle);
    thrift.i32(DATA_PAGE_HEADER.repetitionLevelEncoding, ENCODING.rle);
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
  thrift.i32(FILE_METADATA.version, 1);
  thrift.structs(FILE_METADATA.schema, [undefined, ...columns], (column) => {
    if (column === undefined) {
      thrift.text(SCHEMA_ELEMENT.name, 'schema');
      thrift.i32(SCHEMA_ELEMENT.numChildren, columns.length);
    } else {
      schemaElement(thrift, column);
    }
  });
  thrift.i64(FILE_METADATA.numRows, rows);
  thrift.structs(FILE_METADATA.rowGroups, [chunks], () => {
    thrift.structs(ROW_GROUP.columns, columns, (column, index) => {
      thrift.i64(COLUMN_CHUNK.fileOffset, 0);
      thrift.struct(COLUMN_CHUNK.metaData, () => columnMetadata(thrift, column, rows, chunks[index]!));
    });
    thrift.i64(ROW_GROUP.totalByteSize, bytes);
    thrift.i64(ROW_GROUP.numRows, rows);
  });
  thrift.text(FILE_METADATA.createdBy, 'node-red-contrib-tabular-prediction');
  return thrift.finish();
}

function columnMetadata(thrift: ThriftWriter, { name, type }: Column, rows: number, chunk: Chunk): void {
  thrift.i32(COLUMN_METADATA.type, PHYSICAL[type]);
  thrift.i32s(COLUMN_METADATA.encodings, [ENCODING.plain, ENCODING.rle]);
  thrift.texts(COLUMN_METADATA.pathInSchema, [name]);
  thrift.i32(COLUMN_METADATA.codec, CODEC.uncompressed);
  thrift.i64(COLUMN_METADATA.numValues, rows);
  thrift.i64(COLUMN_METADATA.totalUncompressedSize, chunk.bytes);
  thrift.i64(COLUMN_METADATA.totalCompressedSize, chunk.bytes);
  thrift.i64(COLUMN_METADATA.dataPageOffset, chunk.offset);
}

/** The converted type is for older readers, the logical type for newer ones. */
function schemaElement(thrift: ThriftWriter, { name, type }: Column): void {
  thrift.i32(SCHEMA_ELEMENT.type, PHYSICAL[type]);
  thrift.i32(SCHEMA_ELEMENT.repetitionType, REPETITION.optional);
  thrift.text(SCHEMA_ELEMENT.name, name);
  if (type === 'text') {
    thrift.i32(SCHEMA_ELEMENT.convertedType, CONVERTED_TYPE.utf8);
    thrift.struct(SCHEMA_ELEMENT.logicalType, () => thrift.empty(LOGICAL_TYPE.string));
  } else if (type === 'date') {
    thrift.i32(SCHEMA_ELEMENT.convertedType, CONVERTED_TYPE.timestampMillis);
    thrift.struct(SCHEMA_ELEMENT.logicalType, () =>
      thrift.struct(LOGICAL_TYPE.timestamp, () => {
        thrift.boolean(TIMESTAMP_TYPE.isAdjustedToUtc, true);
        thrift.struct(TIMESTAMP_TYPE.unit, () => thrift.empty(TIME_UNIT.millis));
      }),
    );
  }
}
