import type { Column } from '../cells/types';
import { storedAs } from '../parquet/arrow-types';
import { ParquetSource } from '../parquet/source';
import { type FileChecksum, fileChecksum } from '../storage/file-checksum';
import { demandSame } from '../storage/table-file';
import { openPath } from '../encoder/files';
import type { AsIsBounds, PathOrigin } from './origin';

/** What is known of a file that goes up byte for byte. */
export interface AsIs extends FileChecksum {
  rows: number;
}

/**
 * Checks whether a file is Parquet whose columns are these, in this order, and takes its CRC32C;
 * undefined where the file must be encoded again, or is beyond the bounds. Must run in a worker thread.
 */
export async function checkAsIs(
  { path, version }: PathOrigin,
  columns: readonly Column[],
  most: AsIsBounds = {},
  { signal, onRead }: { signal?: AbortSignal; onRead?: (part: number) => void } = {},
): Promise<AsIs | undefined> {
  const { source, version: opened, close } = await openPath(path, version);
  try {
    if (!(source instanceof ParquetSource) || !fits(source, columns)) {
      return undefined;
    }
    if (source.rowCount > (most.rows ?? Infinity) || source.bytes > (most.bytes ?? Infinity)) {
      return undefined;
    }
    const sum = await fileChecksum(path, signal, onRead);
    // The columns were looked at through one handle, the bytes by their name.
    demandSame(path, opened, sum.version);
    return { ...sum, rows: source.rowCount };
  } finally {
    await close();
  }
}

function fits({ names, fields }: ParquetSource, columns: readonly Column[]): boolean {
  return storedAs(
    columns,
    names,
    fields.map(({ type }) => type.typeId),
  );
}
