import { isObject } from '../util/values';
import {
  ANY_TEXT,
  ANY_TEXTS,
  anyAmong,
  checkGiven,
  checkValue,
  type Form,
  OBJECT,
  optional,
  SIGNAL,
  withMethods,
} from '../wire/given';
import { type Column, COLUMN_TYPES, type Row } from './cells/types';
import type { ColumnBatch } from './columns/column-batch';
import type { ReadOptions } from './columns/read-batches';
import type { TrainSetFiles, TrainSetFilesOptions } from './encoder/encode';
import type { ProfileOptions, TableProfile } from './inference/profile';
import { openTableFile, type TableSource } from './open';

export { asBytes } from '../util/values';
export { isArrowTable } from './arrow/source';
export { isAbsent, isMissingWord } from './cells/classify';
export { DateReader, knownZone, localZone, TimeZone, whyNotDate } from './cells/parse-date';
export { parseNumber, parseWithAnyDecimal } from './cells/parse-number';
export { show } from './cells/types';
export {
  type CellReading,
  type Column,
  COLUMN_TYPES,
  type ColumnType,
  type FileFormat,
  GIVEN_TYPES,
  type GivenType,
  type Label,
  setCell,
} from './cells/types';
export { writtenNumber } from './cells/written-number';
export {
  addCounts,
  batchBytes,
  type Cell,
  cellAt,
  type ColumnBatch,
  type ColumnData,
  countRows,
  isMissing,
  joinBatches,
  labelAt,
  listCells,
  MISSING_BOOLEAN,
  mixRows,
  numberAt,
  pickRows,
  sliceBatch,
} from './columns/column-batch';
export {
  assertWidth,
  datesAmong,
  datesInHeader,
  isSparse,
  isTooWide,
  MAX_COLUMNS,
  maybeEndless,
  ownNames,
  plainNames,
} from './columns/header';
export { areFew, batchOfRows, type ReadOptions } from './columns/read-batches';
export { MissingWords, type TableForm } from './columns/slices';
export type {
  CategorySample,
  ColumnSample,
  NumberSample,
  SampleChoice,
  TableSample,
} from './columns/table-sample';
export {
  encodeBatches,
  encodeJsonRows,
  type EncodeOptions,
  encodeTrainColumns,
  type JsonRows,
  type TrainSetFiles,
} from './encoder/encode';
export { readTableFile, type TableContent } from './encoder/files';
export { closeEncoder, warmEncoder } from './encoder/host';
export { ROW_SEPARATOR } from './encoder/protocol';
export type { ProfileOptions, TableProfile, TargetProfile } from './inference/profile';
export { fileAsIs, fitsAsIs, type OpenOptions, openTable, openTableFile, type TableSource } from './open';
export { TableSpool } from './spool';
export { crc32c, crc32cToBase64 } from './storage/crc32c';
export { sha256, type TableFile } from './storage/table-file';
export { OwnCopy } from './values/own-copy';
export type { AddedColumn, AddedColumns } from './values/tables';

const TABLE = withMethods('a table that openTable or openTableFile opened', 'profile', 'batches', 'readRows');

const COLUMNS: Form = {
  must: 'an array of columns with name and type, as profileTable answers them',
  fits: (value) =>
    Array.isArray(value) &&
    value.every((column) => isObject(column) && ANY_TEXT.fits(column.name) && KNOWN_TYPE.fits(column.type)),
};
const KNOWN_TYPE = anyAmong(COLUMN_TYPES);

const PROFILING = {
  target: optional(ANY_TEXT),
  ignore: optional(ANY_TEXTS),
  types: optional(OBJECT),
  signal: optional(SIGNAL),
};

/** The columns of a file on disk; only its beginning or its footer is read. Errors as `openTableFile`. */
export async function fileColumns(path: string): Promise<string[]> {
  return [...(await openTableFile(path)).names];
}

/**
 * The first pass over a table: settles the type of every column over all rows. Errors: `target.missing`,
 * `table.empty`, `table.invalid`.
 */
export async function profileTable(source: TableSource, options: ProfileOptions = {}): Promise<TableProfile> {
  checkValue('profileTable: table', source, TABLE);
  checkGiven('profileTable', options, PROFILING);
  return source.profile(options);
}

/**
 * The rows of a table in batches of these columns, in this order: a lossless change of type is made, other
 * columns are left out. Errors: `columns.missing`, `table.invalid` with column and row.
 */
export function readBatches(
  source: TableSource,
  columns: readonly Column[],
  options: ReadOptions = {},
): AsyncIterable<ColumnBatch> {
  checkValue('readBatches: table', source, TABLE);
  checkValue('readBatches: columns', columns, COLUMNS);
  checkGiven('readBatches', options, { signal: optional(SIGNAL) });
  return source.batches(columns, options);
}

/**
 * The rows of a table as objects, to join predictions to. Rows that came as objects are those very objects;
 * values of columns and arrays stay as they are; CSV, Parquet and Arrow give numbers, booleans, text, Date,
 * bigint and null, typed over the whole column. Errors: `table.invalid`.
 */
export async function readRows(source: TableSource, options: { signal?: AbortSignal } = {}): Promise<Row[]> {
  checkValue('readRows: table', source, TABLE);
  checkGiven('readRows', options, { signal: optional(SIGNAL) });
  return source.readRows(options.signal);
}

/**
 * Encodes a train set in one pass: the features (X) and the target (y), a file each. Errors: those of
 * readBatches and encodeBatches.
 */
export async function encodeTrainSet(
  source: TableSource,
  profile: TableProfile,
  options: TrainSetFilesOptions,
): Promise<TrainSetFiles> {
  checkValue('encodeTrainSet: table', source, TABLE);
  checkGiven('encodeTrainSet: profile', profile, { columns: COLUMNS });
  checkGiven('encodeTrainSet', options, { target: ANY_TEXT, signal: optional(SIGNAL) });
  return source.encodeTrainSet(profile, options);
}

/** Bytes of a Parquet file on disk; undefined for any other table. */
export function parquetBytes(source: TableSource): number | undefined {
  return source.parquet?.bytes;
}
