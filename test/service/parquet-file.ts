import { tableFromArrays, tableToIPC } from 'apache-arrow';
import { Compression, Table, writeParquet, WriterPropertiesBuilder } from 'parquet-wasm';

/** Columns as a zstd Parquet file, as the clients of the hosted service send it. */
export function parquetOf(columns: Record<string, unknown[]>): Uint8Array {
  const arrow = tableFromArrays(columns as Record<string, readonly unknown[]>);
  const properties = new WriterPropertiesBuilder().setCompression(Compression.ZSTD).build();
  return writeParquet(Table.fromIPCStream(tableToIPC(arrow, 'stream')), properties);
}
