import type { Data, DataType } from 'apache-arrow';
import type { Table as WasmTable, WriterProperties } from 'parquet-wasm';

import type { Column } from '../cells/types';
import { bits, missingTest, wholeNumbers } from '../columns/bitmap';
import { type ColumnBatch, type ColumnData, emptyColumn, rowsOf } from '../columns/column-batch';
import { arrow, parquet } from '../packages/heavy-modules';
import type { Sink } from '../storage/sink';

/**
 * Rows and bytes of a row group at most. Small groups keep the WebAssembly heap small: 18 MB with groups of
 * 10,000 rows in a probe, 417 MB with 50,000.
 */
const GROUP_ROWS = 20_000;
const GROUP_BYTES = 16 * 1024 * 1024;

/**
 * Writes batches as one Parquet file (zstd). Must run in a worker thread. number → double, integer and
 * bigint → int64, boolean → boolean, text → utf8, date → timestamp in milliseconds, UTC; every column is
 * optional, so missing cells stay missing.
 */
export async function writeParquet(
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  sink: Sink,
): Promise<void> {
  const { transformParquetStream } = parquet();
  const encoder = new BatchEncoder(columns);
  const iterator = batches[Symbol.asyncIterator]();
  const start = await iterator.next();
  const head = start.done === true ? emptyBatch(columns) : start.value;
  let begun = false;
  let failure: unknown;
  // parquet-wasm reports a failing source as "Dyn casting error", so the reason is kept here.
  const source = new ReadableStream<unknown>(
    {
      async pull(controller) {
        try {
          await sink.settled();
          const next = begun ? await iterator.next() : { done: false, value: head };
          begun = true;
          if (next.done === true) {
            controller.close();
          } else {
            encoder.encode(next.value).forEach((batch) => controller.enqueue(batch));
          }
        } catch (error) {
          failure = error;
          controller.error(error);
        }
      },
    },
    { highWaterMark: 0 },
  );
  try {
    const output = (await transformParquetStream(
      source as never,
      writerProperties(columns, head),
    )) as unknown as AsyncIterable<Uint8Array>;
    for await (const chunk of output) {
      await sink.write(chunk);
    }
  } catch (error) {
    throw failure ?? error;
  }
  if (failure !== undefined) {
    throw failure as Error;
  }
}

/**
 * The same for rows that are all there, at once: the stream between two threads of control costs a table of few rows
 * ten times the work of writing it.
 */
export async function writeParquetAtOnce(
  columns: readonly Column[],
  batch: ColumnBatch,
  sink: Sink,
): Promise<void> {
  const table = new BatchEncoder(columns).table(batch);
  // Both belong to the writer from here on, which frees them.
  await sink.write(parquet().writeParquet(table, writerProperties(columns, batch)));
}

function writerProperties(columns: readonly Column[], head: ColumnBatch): WriterProperties {
  const { WriterPropertiesBuilder, Compression, EnabledStatistics } = parquet();
  let builder = new WriterPropertiesBuilder()
    .setCompression(Compression.ZSTD)
    .setCreatedBy('node-red-contrib-tabular-prediction')
    .setStatisticsEnabled(EnabledStatistics.Chunk)
    .setMaxRowGroupSize(GROUP_ROWS)
    .setMaxRowGroupBytes(GROUP_BYTES);
  for (const [index, { name, type }] of columns.entries()) {
    if (type === 'text') {
      // The least and the greatest text are of no use to anybody, and cost time to find.
      builder = builder.setColumnStatisticsEnabled(name, EnabledStatistics.None);
    }
    if (type === 'number' || type === 'date' || isNearlyDistinct(head.columns[index]!)) {
      // A dictionary of values that are nearly all distinct costs time and room.
      builder = builder.setColumnDictionaryEnabled(name, false);
    }
  }
  return builder.build();
}

const SAMPLE = 1000;

/** True for text that hardly repeats itself in the first rows. */
function isNearlyDistinct(column: ColumnData): boolean {
  const rows = Math.min(SAMPLE, rowsOf(column));
  if (column.type !== 'text' || rows < SAMPLE / 10) {
    return false;
  }
  const distinct = new Set<string>();
  const bytes = Buffer.from(column.bytes.buffer, column.bytes.byteOffset, column.bytes.byteLength);
  for (let row = 0; row < rows; row++) {
    distinct.add(bytes.toString('latin1', column.offsets[row], column.offsets[row + 1]));
  }
  return distinct.size > rows / 2;
}

function emptyBatch(columns: readonly Column[]): ColumnBatch {
  return { rows: 0, columns: columns.map(({ type }) => emptyColumn(type)) };
}

/** Turns batches into record batches in WebAssembly memory, through Arrow's IPC format. */
class BatchEncoder {
  private readonly schema;

  constructor(private readonly columns: readonly Column[]) {
    const { Field, Schema } = arrow();
    this.schema = new Schema(columns.map(({ name, type }) => new Field(name, arrowType(type), true)));
  }

  encode(batch: ColumnBatch): unknown[] {
    const inWasm = this.table(batch);
    try {
      return inWasm.recordBatches();
    } finally {
      // Left to the collector, tables would pile up in WebAssembly memory, which it does not see.
      inWasm.free();
    }
  }

  /** In WebAssembly memory until it is freed. */
  table(batch: ColumnBatch): WasmTable {
    const { makeData, RecordBatch, Struct, Table, tableToIPC } = arrow();
    const children = this.columns.map(({ type }, index) => arrowData(type, batch.columns[index]!));
    const data = makeData({
      type: new Struct(this.schema.fields),
      length: batch.rows,
      nullCount: 0,
      children,
    });
    const records = new RecordBatch(this.schema, data as never);
    const table = new Table(this.schema as never, [records as never]);
    return parquet().Table.fromIPCStream(tableToIPC(table, 'stream'));
  }
}

function arrowType(type: Column['type']): DataType {
  const { Bool, Float64, Int64, TimestampMillisecond, Utf8 } = arrow();
  switch (type) {
    case 'number':
      return new Float64();
    case 'integer':
    case 'bigint':
      return new Int64();
    case 'boolean':
      return new Bool();
    case 'text':
      return new Utf8();
    case 'date':
      return new TimestampMillisecond('UTC');
  }
}

function arrowData(type: Column['type'], column: ColumnData): Data {
  const { makeData } = arrow();
  const length = rowsOf(column);
  const { nullBitmap, nullCount } = validity(column, length);
  const common = { type: arrowType(type) as never, length, nullCount, nullBitmap };
  if (column.type === 'text') {
    return makeData({ ...common, valueOffsets: column.offsets, data: column.bytes } as never);
  }
  return makeData({ ...common, data: arrowValues(type, column) } as never);
}

function arrowValues(type: Column['type'], column: Exclude<ColumnData, { type: 'text' }>): ArrayBufferView {
  if (column.type === 'boolean') {
    return bits(column.values.length, (row) => column.values[row] === 1);
  }
  if (column.type === 'bigint' || type === 'number') {
    return column.values;
  }
  return wholeNumbers(column.values);
}

function validity(column: ColumnData, rows: number): { nullBitmap: Uint8Array | null; nullCount: number } {
  const isMissing = missingTest(column);
  if (isMissing === undefined) {
    return { nullBitmap: null, nullCount: 0 };
  }
  let nullCount = 0;
  for (let row = 0; row < rows; row++) {
    nullCount += isMissing(row) ? 1 : 0;
  }
  return { nullBitmap: nullCount === 0 ? null : bits(rows, (row) => !isMissing(row)), nullCount };
}
