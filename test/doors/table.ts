/** What tests reach of src/table beyond its index.ts: a file that moves there is renamed here, and nowhere else. */
export { decodeLz4, decodeZstd } from '../../dist/src/table/arrow/compression';
export { parquet } from '../../dist/src/table/arrow/heavy-modules';
export { parseDate } from '../../dist/src/table/cells/parse-date';
export { parseNumber } from '../../dist/src/table/cells/parse-number';
export { assertText } from '../../dist/src/table/columns/header';
export { CsvParser } from '../../dist/src/table/csv/parser';
export { CsvSource } from '../../dist/src/table/csv/source';
export { checkAsIs } from '../../dist/src/table/encoder/files';
export { openParquet } from '../../dist/src/table/parquet/reader';
export { ParquetSource } from '../../dist/src/table/parquet/source';
export { type ThriftFields, thriftStruct } from '../../dist/src/table/parquet/thrift';
export type { BlobLike } from '../../dist/src/table/storage/blob';
export { combineCrc32c, crc32c, crc32cToBase64 } from '../../dist/src/table/storage/crc32c';
export { fileChecksum } from '../../dist/src/table/storage/file-checksum';
export { readAhead, Sink, userFile } from '../../dist/src/table/storage/table-file';
export { stringPieces } from '../../dist/src/table/text/decode';
