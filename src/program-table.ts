import {
  closeEncoder,
  type Column,
  COLUMN_TYPES,
  type ColumnBatch,
  type ColumnType,
  crc32c,
  crc32cToBase64,
  encodeBatches,
  type EncodeOptions,
  type Label,
  type OpenOptions,
  openTable,
  openTableFile,
  type ProfileOptions,
  type ReadOptions,
  type Row,
  type TableFile,
  type TableProfile,
  type TableSource,
  type TargetProfile,
  type TrainSetFiles,
  type TrainSetFilesOptions,
} from './table';
import { isObject } from './util/values';
import {
  ANY_TEXT,
  ANY_TEXTS,
  anyAmong,
  BYTES,
  checkGiven,
  checkValue,
  FLAG,
  type Form,
  FUNCTION,
  LIST,
  numberFrom,
  OBJECT,
  optional,
  SIGNAL,
  withMethods,
} from './wire/given';

export {
  closeEncoder,
  type Column,
  type ColumnBatch,
  type ColumnType,
  crc32cChecked as crc32c,
  base64Checked as crc32cToBase64,
  encodeChecked as encodeBatches,
  type EncodeOptions,
  type Label,
  type OpenOptions,
  openChecked as openTable,
  openFileChecked as openTableFile,
  type ProfileOptions,
  type ReadOptions,
  type TableFile,
  type TableProfile,
  type TableSource,
  type TargetProfile,
  type TrainSetFiles,
};

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

const BATCHES: Form = {
  must: 'batches, as readBatches answers them',
  fits: (value) =>
    typeof value === 'object' &&
    value !== null &&
    (Symbol.iterator in value || Symbol.asyncIterator in value),
};

const ENCODING = {
  format: optional(anyAmong(['csv', 'parquet'])),
  compress: optional(FLAG),
  signal: optional(SIGNAL),
  onProgress: optional(FUNCTION),
};

const OPENING = { signal: optional(SIGNAL) };
const CHECKSUM = numberFrom(-(2 ** 31), { max: 2 ** 32 - 1 });

/**
 * A table in memory: rows as objects, columns, a matrix with its header, CSV or JSON as text or bytes, Parquet or Arrow.
 * The value is not copied: it must not change while it is read.
 *
 * @throws ServiceError `table.empty`, `table.invalid` with what was wrong and where
 */
async function openChecked(value: unknown, options: OpenOptions = {}): Promise<TableSource> {
  checkGiven('openTable', options, OPENING);
  return openTable(value, options);
}

/**
 * A table on disk: CSV, TSV, Parquet or Arrow, recognised by content and read as a stream in a thread, never whole.
 *
 * @throws ServiceError `file.unreadable`, `table.invalid`, `table.empty`
 */
async function openFileChecked(path: string, options: OpenOptions = {}): Promise<TableSource> {
  checkValue('openTableFile: path', path, ANY_TEXT);
  checkGiven('openTableFile', options, OPENING);
  return openTableFile(path, options);
}

/** The columns of a file on disk; only its beginning or its footer is read. Errors as `openTableFile`. */
export async function fileColumns(path: string): Promise<string[]> {
  return [...(await openFileChecked(path)).names];
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

/**
 * Writes batches to a file, in a thread where they are more than a few rows. Batches of an array are copied; those of an
 * asynchronous sequence are transferred and cannot be used afterwards. An `integer` column that holds fractions is
 * written as `number`.
 *
 * @throws ServiceError `storage.failed`; `internal` where the thread ended under it, twice
 */
async function encodeChecked(
  columns: readonly Column[],
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  options: EncodeOptions = {},
): Promise<TableFile> {
  checkValue('encodeBatches: columns', columns, LIST);
  checkValue('encodeBatches: batches', batches, BATCHES);
  checkGiven('encodeBatches', options, ENCODING);
  return encodeBatches(columns, batches, options);
}

/**
 * CRC32C (Castagnoli), by which the service tells files apart: the checksum of `data`, or of all bytes so far when
 * `previous` is the value of what came before. The value is signed.
 */
function crc32cChecked(data: Uint8Array, previous = 0): number {
  checkValue('crc32c: data', data, BYTES);
  return crc32c(data, previous);
}

/** A checksum as the service takes it: 4 bytes big-endian, standard base64. */
function base64Checked(checksum: number): string {
  checkValue('crc32cToBase64: checksum', checksum, CHECKSUM);
  return crc32cToBase64(checksum);
}
