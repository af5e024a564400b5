import type { Readable } from 'node:stream';
import { ServiceError } from '../wire/service-error';
import type { ColumnBatch } from './batch';
import type { TableSource } from './source';
import type { Column, ColumnType, FileFormat, Label } from './types';

export {
  batchBytes,
  type Cell,
  cellAt,
  cellsOf,
  type ColumnBatch,
  type ColumnData,
  joinBatches,
  labelAt,
  MISSING_BOOLEAN,
  rowsOf,
  sliceBatch,
} from './batch';
export { crc32c, crc32cToBase64 } from './crc32c';
export type { TableForm, TableSource } from './source';
export { type Column, COLUMN_TYPES, type ColumnType, type FileFormat, type Label } from './types';

export interface TableProfile {
  rows: number;
  /** All columns but the ignored ones, the target among them, in the order of the table. */
  columns: Column[];
  /** Sentences for the user, such as a column of mixed kinds that is taken as text. */
  warnings: string[];
  target?: {
    name: string;
    type: ColumnType;
    missing: number;
    /** Distinct values, counted up to 1,000. */
    distinct: number;
    /** All distinct values, sorted (numbers by value, text by code point), where there are at most 1,000. */
    classes?: Label[];
  };
}

/** An encoded file: in memory up to 32 MiB, beyond that in a temporary file until `dispose`. */
export interface TableFile {
  readonly format: FileFormat;
  readonly rows: number;
  readonly bytes: number;
  /** CRC32C as the service takes it. */
  readonly hash: string;
  /** A stream of bytes `start` to `end` (exclusive); may be called again and again. */
  open(start?: number, end?: number): Readable;
  dispose(): Promise<void>;
}

export interface ReadOptions {
  signal?: AbortSignal;
}

export interface ProfileOptions extends ReadOptions {
  target?: string;
  ignore?: readonly string[];
  types?: Readonly<Record<string, ColumnType>>;
}

export interface BatchOptions extends ReadOptions {
  /** A column that the table lacks: refuse the table (default), or take it as missing values. */
  missingColumns?: 'error' | 'fill';
  /** Rows per batch at most. */
  maxRows?: number;
}

export interface EncodeOptions extends ReadOptions {
  format?: FileFormat;
  onProgress?: (rows: number) => void;
}

export interface TableContent {
  columns: Column[];
  rows: number;
  batches(): AsyncIterable<ColumnBatch>;
}

export const openTable: (value: unknown, options?: ReadOptions) => Promise<TableSource> = notBuilt;
export const openTableFile: (path: string, options?: ReadOptions) => Promise<TableSource> = notBuilt;
export const profileTable: (source: TableSource, options?: ProfileOptions) => Promise<TableProfile> =
  notBuilt;
export const readBatches: (
  source: TableSource,
  columns: readonly Column[],
  options?: BatchOptions,
) => AsyncIterable<ColumnBatch> = notBuilt;
export const encodeBatches: (
  columns: readonly Column[],
  batches: Iterable<ColumnBatch> | AsyncIterable<ColumnBatch>,
  options?: EncodeOptions,
) => Promise<TableFile> = notBuilt;
export const encodeTrainSet: (
  source: TableSource,
  profile: TableProfile,
  options: EncodeOptions & { target: string },
) => Promise<{ x: TableFile; y: TableFile }> = notBuilt;
export const readRows: (source: TableSource, options?: ReadOptions) => Promise<Record<string, unknown>[]> =
  notBuilt;
export const readTableFile: (
  path: string,
  format: FileFormat,
  options?: ReadOptions,
) => Promise<TableContent> = notBuilt;
/** A file on disk whose columns already fit, sent byte for byte; undefined where they do not fit. */
export const fileAsIs: (
  path: string,
  columns: readonly Column[],
  options?: ReadOptions,
) => Promise<TableFile | undefined> = notBuilt;
export const warmEncoder: () => void = notBuilt;
export const closeEncoder: () => Promise<void> = notBuilt;

function notBuilt(): never {
  throw new ServiceError('internal', 'Tables are not read yet in this version.');
}
