import type { Column, ColumnType } from '../cells/types';
import { sliceBatch } from '../columns/batch-rows';
import { batchBytes, type ColumnBatch } from '../columns/column-batch';
import type { Sink } from '../storage/sink';
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
  TIME_UNIT,
  TIMESTAMP_TYPE,
} from './format';
import { ThriftWriter } from './thrift';

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

/**
 * Writes batches as one Parquet file (apache/parquet-format): every column is optional, so missing cells stay missing.
 *
 * @param compress for files that leave this machine; to a service on it, writing and reading plain pages is quicker
 */
export async function writeParquet(
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  sink: Sink,
  compress: boolean,
): Promise<void> {
  const file = new ParquetFile(columns, compress);
  await sink.write(MAGIC);
  for await (const group of rowGroups(batches)) {
    for (const parts of file.rowGroup(group)) {
      await sink.write(...parts);
    }
  }
  await sink.write(file.end());
}

/** The same of one batch, at once: for few rows, which are not worth compressing. */
export function parquetOf(columns: readonly Column[], batch: ColumnBatch): Uint8Array<ArrayBuffer> {
  const file = new ParquetFile(columns, false);
  return Buffer.concat([MAGIC, ...(batch.rows === 0 ? [] : [...file.rowGroup([batch])].flat()), file.end()]);
}

/** The batches of each row group: small ones are collected, large ones cut. */
async function* rowGroups(batches: AsyncIterable<ColumnBatch>): AsyncIterable<ColumnBatch[]> {
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

/** The parts of a file in their order: the magic number, row groups, the end. */
class ParquetFile {
  private readonly groups: RowGroup[] = [];
  private offset = MAGIC.length;

  constructor(
    private readonly columns: readonly Column[],
    private readonly compress: boolean,
  ) {}

  /** Column by column. */
  *rowGroup(batches: readonly ColumnBatch[]): Iterable<Uint8Array[]> {
    const group: RowGroup = { rows: batches.reduce((sum, { rows }) => sum + rows, 0), chunks: [] };
    this.groups.push(group);
    for (const [index, { type }] of this.columns.entries()) {
      const cells = batches.map(({ columns }) => columns[index]!);
      const { parts, ...chunk } = columnChunk(type, cells, this.compress);
      group.chunks.push({ ...chunk, offset: this.offset });
      this.offset += chunk.bytes;
      yield parts;
    }
  }

  /** The footer, its length and the magic number. */
  end(): Uint8Array {
    const footer = this.fileMetadata();
    const length = Buffer.alloc(4);
    length.writeUInt32LE(footer.length);
    return Buffer.concat([footer, length, MAGIC]);
  }

  private fileMetadata(): Buffer {
    const { columns, groups } = this;
    const thrift = new ThriftWriter();
    thrift.i32(FILE_METADATA.version, 1);
    thrift.structs(FILE_METADATA.schema, [undefined, ...columns], (column) => {
      if (column === undefined) {
        thrift.text(SCHEMA_ELEMENT.name, 'schema');
        thrift.i32(SCHEMA_ELEMENT.numChildren, columns.length);
      } else {
        schemaElement(thrift, column);
      }
    });
    thrift.i64(
      FILE_METADATA.numRows,
      groups.reduce((sum, { rows }) => sum + rows, 0),
    );
    thrift.structs(FILE_METADATA.rowGroups, groups, ({ rows, chunks }) => {
      thrift.structs(ROW_GROUP.columns, columns, (column, index) => {
        thrift.i64(COLUMN_CHUNK.fileOffset, 0);
        thrift.struct(COLUMN_CHUNK.metaData, () => columnMetadata(thrift, column, rows, chunks[index]!));
      });
      thrift.i64(
        ROW_GROUP.totalByteSize,
        chunks.reduce((sum, { uncompressed }) => sum + uncompressed, 0),
      );
      thrift.i64(ROW_GROUP.numRows, rows);
    });
    thrift.text(FILE_METADATA.createdBy, 'node-red-contrib-tabular-prediction');
    // Without it, readers do not use the bounds.
    thrift.structs(FILE_METADATA.columnOrders, columns, () => thrift.empty(COLUMN_ORDER.typeOrder));
    return thrift.finish();
  }
}

function columnMetadata(
  thrift: ThriftWriter,
  { name, type }: Column,
  rows: number,
  chunk: RowGroup['chunks'][number],
): void {
  const { missing, least, greatest } = chunk.statistics;
  thrift.i32(COLUMN_METADATA.type, PHYSICAL[type]);
  thrift.i32s(COLUMN_METADATA.encodings, chunk.encodings);
  thrift.texts(COLUMN_METADATA.pathInSchema, [name]);
  thrift.i32(COLUMN_METADATA.codec, chunk.codec);
  thrift.i64(COLUMN_METADATA.numValues, rows);
  thrift.i64(COLUMN_METADATA.totalUncompressedSize, chunk.uncompressed);
  thrift.i64(COLUMN_METADATA.totalCompressedSize, chunk.bytes);
  thrift.i64(COLUMN_METADATA.dataPageOffset, chunk.offset + chunk.dataPage);
  if (chunk.dataPage > 0) {
    thrift.i64(COLUMN_METADATA.dictionaryPageOffset, chunk.offset);
  }
  thrift.struct(COLUMN_METADATA.statistics, () => {
    thrift.i64(STATISTICS.nullCount, missing);
    if (least !== undefined && greatest !== undefined) {
      thrift.binary(STATISTICS.maxValue, greatest);
      thrift.binary(STATISTICS.minValue, least);
    }
  });
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
