import type { Column, ColumnType } from '../cells/types';
import { batchBytes, type ColumnBatch, type ColumnData, sliceBatch } from '../columns/column-batch';
import type { Sink } from '../storage/table-file';
import { type ColumnChunk, columnChunk } from './column-chunk';
import {
  COLUMN_CHUNK,
  COLUMN_METADATA,
  COLUMN_ORDER,
  CONVERTED_TYPE,
  FILE_METADATA,
  LOGICAL_TYPE,
  PHYSICAL_TYPE,
  REPETITION,
  ROW_GROUP,
  SCHEMA_ELEMENT,
  STATISTICS,
  THRIFT,
  type ThriftFields,
  thriftStruct,
  TIME_UNIT,
  TIMESTAMP_TYPE,
} from './thrift';

/** Rows and bytes of a row group at most: what a reader must hold at once, and what this thread does. */
const GROUP_ROWS = 20_000;
const GROUP_BYTES = 16 * 1024 * 1024;

const MAGIC = Buffer.from('PAR1');

/** How columns are stored: number as double, integer and bigint as int64, text as UTF-8, date as milliseconds, UTC. */
const PHYSICAL: Record<ColumnType, number> = {
  number: PHYSICAL_TYPE.double,
  integer: PHYSICAL_TYPE.int64,
  bigint: PHYSICAL_TYPE.int64,
  boolean: PHYSICAL_TYPE.boolean,
  text: PHYSICAL_TYPE.byteArray,
  date: PHYSICAL_TYPE.int64,
};

const TEXT: ThriftFields = [
  [SCHEMA_ELEMENT.convertedType, THRIFT.i32, CONVERTED_TYPE.utf8],
  [SCHEMA_ELEMENT.logicalType, THRIFT.struct, [[LOGICAL_TYPE.string, THRIFT.struct, []]]],
];
const MILLISECONDS_UTC: ThriftFields = [
  [TIMESTAMP_TYPE.isAdjustedToUtc, THRIFT.true],
  [TIMESTAMP_TYPE.unit, THRIFT.struct, [[TIME_UNIT.millis, THRIFT.struct, []]]],
];
const DATE: ThriftFields = [
  [SCHEMA_ELEMENT.convertedType, THRIFT.i32, CONVERTED_TYPE.timestampMillis],
  [SCHEMA_ELEMENT.logicalType, THRIFT.struct, [[LOGICAL_TYPE.timestamp, THRIFT.struct, MILLISECONDS_UTC]]],
];
const BY_TYPE: ThriftFields = [[COLUMN_ORDER.typeOrder, THRIFT.struct, []]];

/**
 * Writes batches as one Parquet file (apache/parquet-format): every column is optional, so missing cells stay missing.
 *
 * @param compress for files that leave this machine; to a service on it, writing and reading plain pages is quicker
 */
export async function writeParquet(
  columns: readonly Column[],
  batches: readonly ColumnBatch[] | AsyncIterable<ColumnBatch>,
  sink: Sink,
  compress: boolean,
): Promise<void> {
  const file = new ParquetFile(columns, compress);
  await sink.write(MAGIC);
  for await (const group of rowGroups(batches)) {
    file.beginGroup(group.reduce((sum, batch) => sum + batch.rows, 0));
    for (let index = 0; index < columns.length; index++) {
      await sink.write(...file.nextChunk(group.map((batch) => batch.columns[index]!)));
    }
  }
  await sink.write(file.end());
}

/** The same of one batch, at once: for few rows, which are not worth compressing. */
export function encodeParquet(columns: readonly Column[], batch: ColumnBatch): Uint8Array<ArrayBuffer> {
  const file = new ParquetFile(columns, false);
  const parts: Uint8Array[] = [MAGIC];
  if (batch.rows > 0) {
    file.beginGroup(batch.rows);
    for (const cells of batch.columns) {
      parts.push(...file.nextChunk([cells]));
    }
  }
  parts.push(file.end());
  return Buffer.concat(parts);
}

/** The batches of each row group: small ones are collected, large ones cut. */
async function* rowGroups(
  batches: readonly ColumnBatch[] | AsyncIterable<ColumnBatch>,
): AsyncIterable<ColumnBatch[]> {
  let group: ColumnBatch[] = [];
  let rows = 0;
  let bytes = 0;
  for await (const batch of batches) {
    for (const part of bounded(batch)) {
      const size = batchBytes(part);
      if (group.length > 0 && (rows + part.rows > GROUP_ROWS || bytes + size > GROUP_BYTES)) {
        yield group;
        group = [];
        rows = bytes = 0;
      }
      group.push(part);
      rows += part.rows;
      bytes += size;
    }
  }
  if (group.length > 0) {
    yield group;
  }
}

/** A batch in parts that fit in a row group each; a row that is larger by itself is a part of its own. */
function* bounded(batch: ColumnBatch): Iterable<ColumnBatch> {
  const share = Math.floor((batch.rows * GROUP_BYTES) / Math.max(1, batchBytes(batch)));
  const most = Math.max(1, Math.min(GROUP_ROWS, share));
  if (batch.rows <= most) {
    yield* batch.rows === 0 ? [] : [batch];
    return;
  }
  for (let from = 0; from < batch.rows; from += most) {
    yield sliceBatch(batch, from, from + most);
  }
}

/** What the footer tells of a row group. */
interface RowGroup {
  rows: number;
  chunks: (Omit<ColumnChunk, 'parts'> & { offset: number })[];
}

/** The parts of a file in their order: the magic number, row groups, each column by column, and the end. */
class ParquetFile {
  private readonly groups: RowGroup[] = [];
  private offset = MAGIC.length;

  constructor(
    private readonly columns: readonly Column[],
    private readonly compress: boolean,
  ) {}

  beginGroup(rows: number): void {
    this.groups.push({ rows, chunks: [] });
  }

  /** The next column of the group. */
  nextChunk(cells: readonly ColumnData[]): Uint8Array[] {
    const { chunks } = this.groups.at(-1)!;
    const { parts, ...chunk } = columnChunk(this.columns[chunks.length]!.type, cells, this.compress);
    chunks.push({ ...chunk, offset: this.offset });
    this.offset += chunk.bytes;
    return parts;
  }

  /** The footer, its length and the magic number. */
  end(): Uint8Array {
    const { columns, groups } = this;
    let rows = 0;
    const written: ThriftFields[] = [];
    for (const group of groups) {
      rows += group.rows;
      written.push(groupFields(columns, group));
    }
    const footer = thriftStruct([
      [FILE_METADATA.version, THRIFT.i32, 1],
      [FILE_METADATA.schema, THRIFT.list, [THRIFT.struct, schemaFields(columns)]],
      [FILE_METADATA.numRows, THRIFT.i64, rows],
      [FILE_METADATA.rowGroups, THRIFT.list, [THRIFT.struct, written]],
      [FILE_METADATA.createdBy, THRIFT.binary, 'node-red-contrib-tabular-prediction'],
      // Without it, readers do not use the bounds.
      [
        FILE_METADATA.columnOrders,
        THRIFT.list,
        [THRIFT.struct, new Array<ThriftFields>(columns.length).fill(BY_TYPE)],
      ],
    ]);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    return Buffer.concat([footer, length, MAGIC]);
  }
}

function groupFields(columns: readonly Column[], { rows, chunks }: RowGroup): ThriftFields {
  let uncompressed = 0;
  const written: ThriftFields[] = [];
  for (const [index, chunk] of chunks.entries()) {
    uncompressed += chunk.uncompressed;
    written.push([
      [COLUMN_CHUNK.fileOffset, THRIFT.i64, 0],
      [COLUMN_CHUNK.metaData, THRIFT.struct, chunkFields(columns[index]!, rows, chunk)],
    ]);
  }
  return [
    [ROW_GROUP.columns, THRIFT.list, [THRIFT.struct, written]],
    [ROW_GROUP.totalByteSize, THRIFT.i64, uncompressed],
    [ROW_GROUP.numRows, THRIFT.i64, rows],
  ];
}

function chunkFields({ name, type }: Column, rows: number, chunk: RowGroup['chunks'][number]): ThriftFields {
  const { missing, least, greatest } = chunk.statistics;
  const statistics: ThriftFields[number][] = [[STATISTICS.nullCount, THRIFT.i64, missing]];
  if (least !== undefined && greatest !== undefined) {
    statistics.push(
      [STATISTICS.maxValue, THRIFT.binary, greatest],
      [STATISTICS.minValue, THRIFT.binary, least],
    );
  }
  const fields: ThriftFields[number][] = [
    [COLUMN_METADATA.type, THRIFT.i32, PHYSICAL[type]],
    [COLUMN_METADATA.encodings, THRIFT.list, [THRIFT.i32, chunk.encodings]],
    [COLUMN_METADATA.pathInSchema, THRIFT.list, [THRIFT.binary, [name]]],
    [COLUMN_METADATA.codec, THRIFT.i32, chunk.codec],
    [COLUMN_METADATA.numValues, THRIFT.i64, rows],
    [COLUMN_METADATA.totalUncompressedSize, THRIFT.i64, chunk.uncompressed],
    [COLUMN_METADATA.totalCompressedSize, THRIFT.i64, chunk.bytes],
    [COLUMN_METADATA.dataPageOffset, THRIFT.i64, chunk.offset + chunk.dataPage],
  ];
  if (chunk.dataPage > 0) {
    fields.push([COLUMN_METADATA.dictionaryPageOffset, THRIFT.i64, chunk.offset]);
  }
  fields.push([COLUMN_METADATA.statistics, THRIFT.struct, statistics]);
  return fields;
}

/** The root and its columns. The converted type is for older readers, the logical type for newer ones. */
function schemaFields(columns: readonly Column[]): ThriftFields[] {
  const elements: ThriftFields[] = [
    [
      [SCHEMA_ELEMENT.name, THRIFT.binary, 'schema'],
      [SCHEMA_ELEMENT.numChildren, THRIFT.i32, columns.length],
    ],
  ];
  for (const { name, type } of columns) {
    elements.push([
      [SCHEMA_ELEMENT.type, THRIFT.i32, PHYSICAL[type]],
      [SCHEMA_ELEMENT.repetitionType, THRIFT.i32, REPETITION.optional],
      [SCHEMA_ELEMENT.name, THRIFT.binary, name],
      ...(type === 'text' ? TEXT : type === 'date' ? DATE : []),
    ]);
  }
  return elements;
}
