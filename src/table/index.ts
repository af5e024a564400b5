import type { Column } from './cells/types';
import type { ColumnBatch } from './columns/column-batch';
import { batchesOf, type BatchOptions } from './columns/read-batches';
import type { SliceSource, TableSource } from './columns/slices';
import { retried, startJob } from './encoder/host';
import { isRemote, openRemote } from './encoder/remote-source';
import type { AsIs } from './files/file-as-is';
import type { AsIsBounds, Origin } from './files/origin';
import { type ProfileOptions, profileSource, type TableProfile } from './inference/profile';
import { storedAs } from './parquet/arrow-types';
import { type TableFile, userFile } from './storage/table-file';

export { isArrowTable } from './arrow/source';
export { show } from './cells/errors';
export { setCell } from './cells/set-cell';
export { type Column, COLUMN_TYPES, type ColumnType, type FileFormat, type Label } from './cells/types';
export { joinBatches, pickRows, sliceBatch } from './columns/batch-rows';
export {
  batchBytes,
  type Cell,
  cellAt,
  cellsOf,
  type ColumnBatch,
  type ColumnData,
  labelAt,
  MISSING_BOOLEAN,
  rowsOf,
} from './columns/column-batch';
export type { BatchOptions } from './columns/read-batches';
export type { TableForm, TableSource } from './columns/slices';
export { encodeBatches, type EncodeOptions, encodeTrainBatches, encodeTrainSet } from './encoder/encode';
export { closeEncoder, warmEncoder } from './encoder/host';
export { readTableFile, type TableContent } from './files/read-table-file';
export type { ProfileOptions, TableProfile, TargetProfile } from './inference/profile';
export { type OpenOptions, openTable } from './open';
export { readRows } from './read-rows';
export { TableSpool } from './spool';
export { crc32c, crc32cToBase64 } from './storage/crc32c';
export type { TableFile } from './storage/table-file';

/**
 * A table on disk: CSV, TSV, Parquet or Arrow, told apart by content and read as a stream in the encoder
 * thread, never whole. Errors: `file.unreadable`, `table.invalid`, `table.empty`.
 */
export function openTableFile(path: string, options: { signal?: AbortSignal } = {}): Promise<TableSource> {
  return openRemote({ kind: 'path', path }, options.signal);
}

/** The columns of a file on disk; only its beginning or its footer is read. Errors as `openTableFile`. */
export async function fileColumns(path: string): Promise<string[]> {
  return [...(await openRemote({ kind: 'path', path })).names];
}

/**
 * The first pass over a table: settles the type of every column over all rows. Errors: `target.missing`,
 * `table.empty`, `table.invalid`.
 */
export function profileTable(source: TableSource, options: ProfileOptions = {}): Promise<TableProfile> {
  return isRemote(source) ? source.profile(options) : profileSource(source as SliceSource, options);
}

/**
 * The rows of a table in batches of these columns, in this order: a lossless change of type is made, other
 * columns are left out. Errors: `columns.missing`, `table.invalid` with column and row.
 */
export function readBatches(
  source: TableSource,
  columns: readonly Column[],
  options: BatchOptions = {},
): AsyncIterable<ColumnBatch> {
  return isRemote(source)
    ? source.batches(columns, options)
    : batchesOf(source as SliceSource, columns, options);
}

/** A Parquet file on disk whose columns already are these: `fileAsIs` may send it as it is. Nothing is read. */
export function fitsAsIs(source: TableSource, columns: readonly Column[]): boolean {
  return (
    isRemote(source) &&
    source.origin.kind === 'path' &&
    source.parquet !== undefined &&
    storedAs(columns, source.names, source.parquet.stored)
  );
}

/** Bytes of a Parquet file on disk; undefined for any other table. */
export function parquetBytes(source: TableSource): number | undefined {
  return isRemote(source) && source.origin.kind === 'path' ? source.parquet?.bytes : undefined;
}

/**
 * A Parquet file on disk whose columns already are these, to be sent byte for byte; undefined where it has
 * to be encoded anew, or has more rows or bytes than `most`. Given as the table that was opened from it, it
 * must not have changed since. Errors: `file.unreadable`, `table.invalid`.
 */
export async function fileAsIs(
  file: string | TableSource,
  columns: readonly Column[],
  options: { signal?: AbortSignal; most?: AsIsBounds; onRead?: (part: number) => void } = {},
): Promise<TableFile | undefined> {
  const { signal, most = {}, onRead } = options;
  const origin = typeof file === 'string' ? { kind: 'path' as const, path: file } : originOf(file);
  if (origin?.kind !== 'path') {
    return undefined;
  }
  const known = await retried(() =>
    startJob({ name: 'asIs', origin, columns: [...columns], most }, signal).result<AsIs | undefined>(
      (answer) => {
        if (answer.kind === 'read') {
          onRead?.(answer.part);
        }
      },
    ),
  );
  return known === undefined ? undefined : userFile(origin.path, 'parquet', known);
}

function originOf(source: TableSource): Origin | undefined {
  return isRemote(source) ? source.origin : undefined;
}
